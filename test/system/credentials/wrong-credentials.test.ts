import t from 'tap'
import { WrongCredentials } from '../../../system/credentials/wrong-credentials.js'

t.test('wrong credentials are counted by address, in minutes that begin with the first', async t => {
  let now = 1_000
  const wrong = new WrongCredentials(2, () => now)
  t.strictSame(wrong.add('a'), { beyond: 0, ms: 60_000 })
  now += 10_000
  t.strictSame(wrong.add('a'), { beyond: 0, ms: 50_000 })
  t.strictSame(wrong.add('a'), { beyond: 1, ms: 50_000 })
  t.strictSame(wrong.add('a'), { beyond: 2, ms: 50_000 })
  t.strictSame(wrong.add('b'), { beyond: 0, ms: 60_000 }, 'another address has a count of its own')
  now += 50_000
  t.strictSame(wrong.add('a'), { beyond: 0, ms: 60_000 }, 'after the minute there is a new one')
})

t.test('the number of remembered addresses is limited, and they are forgotten after a minute', async t => {
  let now = 0
  const wrong = new WrongCredentials(1, () => now)
  for (let index = 0; index < 25_000; index++) wrong.add(`address ${index}`)
  t.equal(wrong.size, 10_000)
  t.equal(wrong.add('address 24999').beyond, 1, 'the latest are remembered')
  now = 60_000
  wrong.add('another')
  t.equal(wrong.size, 1)
})
