import t from 'tap'
import { Tickets } from '../../../system/credentials/tickets.js'

t.test('a ticket is good once', async t => {
  const tickets = new Tickets<string>(1_000)
  const { ticket = '', expiresIn } = tickets.issue('ada', 'ada') ?? {}
  t.match(ticket, /^[\w-]{43}$/)
  t.equal(expiresIn, 1_000)
  t.equal(tickets.redeem(`${ticket}x`), undefined)
  t.equal(tickets.redeem(ticket), 'ada')
  t.equal(tickets.redeem(ticket), undefined)
  t.equal(tickets.size, 0)
})

t.test('a ticket is good for its time, and never longer than what it was given for', async t => {
  let now = 0
  const tickets = new Tickets<string>(1_000, () => now, () => now)
  const [late, early] = [tickets.issue('ada', 'ada')?.ticket ?? '', tickets.issue('alan', 'alan', 400)?.ticket ?? '']
  const last = tickets.issue('ada', 'ada')?.ticket ?? ''
  now = 400
  t.equal(tickets.redeem(early), undefined)
  now = 999
  t.equal(tickets.redeem(last), 'ada')
  now = 1_000
  t.equal(tickets.redeem(late), undefined)
  t.equal(tickets.issue('ada', 'ada', 500)?.expiresIn, 0, 'nobody gets one for a time that is over')
})

t.test('unused tickets are forgotten, and there are never too many', async t => {
  let now = 0
  const tickets = new Tickets<number>(1_000, () => now)
  for (let index = 0; index < 100; index++) tickets.issue(index, 'ada')
  t.equal(tickets.size, 100)
  t.equal(tickets.issue(0, 'ada'), undefined, 'one caller cannot have more')
  for (let owner = 0; owner < 100; owner++) {
    for (let index = 0; index < 100; index++) tickets.issue(index, `owner ${owner}`)
  }
  t.equal(tickets.size, 10_000)
  t.equal(tickets.issue(0, 'another caller'), undefined, 'nor can all together')
  now = 1_000
  t.ok(tickets.issue(0, 'ada'))
  t.equal(tickets.size, 1)
})
