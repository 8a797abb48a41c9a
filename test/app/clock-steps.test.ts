import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { listening } from '../support/gateway.js'
import { settable, turnable } from '../support/clocks.js'
import { until } from '../support/wait.js'
import { dataFolder, opened } from '../support/environment/on-disk.js'
import { RECORD } from '../support/stream-log.js'
import { HttpSession, openSession } from '../support/http-session.js'

const HOUR = 3_600_000

const ping = async (session: HttpSession): Promise<number> => (await session.post({ id: 1, method: 'ping' })).status

/** When a session expires according to the store, counted from the time of day. */
function expiries (folder: string): number[] {
  const db = new DatabaseSync(`${folder}/patchbay.db`)
  try {
    return (db.prepare('SELECT expires FROM sessions').all() as unknown as Array<{ expires: number }>).map(
      ({ expires }) => expires - Date.now()
    )
  } finally {
    db.close()
  }
}

for (const [direction, step] of Object.entries({ forwards: HOUR, backwards: -HOUR })) {
  t.test(`a clock step ${direction} ends no session, nor at another gateway on the same data`, async t => {
    const data = await dataFolder(t)
    const options = { data, sessionIdle: 20_000 }
    const [one, two] = [await listening(t, options), await listening(t, options)]
    const sessions = [await openSession(one.url), await openSession(one.url)]
    const day = settable(t)
    day.later = step
    // Each gateway notices by itself, and until then the other must not remove what it serves.
    await until(() => expiries(data).every(left => left > 0 && left <= 25_000))
    t.strictSame([one.app.mcp.sessions.size, two.app.mcp.sessions.size], [2, 0])
    t.equal(await ping(sessions[0] as HttpSession), 200)
    t.equal(await ping(new HttpSession(two.url, sessions[1]?.id ?? '')), 200, 'and it can move')
  })

  t.test(`a session that is idle ends at its time after a step of the time of day ${direction}`, async t => {
    const { app, url } = await listening(t, { data: await dataFolder(t), sessionIdle: 3_000 })
    const clock = turnable(t)
    const session = await openSession(url)
    settable(t).later = step
    clock.later = 4_000
    await until(() => app.mcp.sessions.size === 0)
    t.equal(await ping(session), 404)
  })

  t.test(`a rate window ends at its time after a step of the time of day ${direction}`, async t => {
    const { limiter } = await import('../../system/rate/limiter.js')
    const ask = limiter({ name: 'steps', rate: 2, burst: 4 })
    const clock = turnable(t)
    const take = async (): Promise<number> => await ask('ada', 1)
    t.strictSame([await take(), await take(), await take(), await take()], [0, 0, 0, 0])
    settable(t).later = step
    const wait = await take()
    t.ok(wait > 0 && wait <= 10_000, `${wait} ms: neither over nor an hour`)
    clock.later = 1_000
    t.equal(await take(), 0, 'and there is more after a second')
  })

  t.test(`a ticket is good for its time after a step of the time of day ${direction}`, async t => {
    const { Tickets } = await import('../../system/credentials/tickets.js')
    const tickets = new Tickets<string>(1_000)
    const [clock, day] = [turnable(t), settable(t)]
    const [early, late] = [tickets.issue('ada', 'ada')?.ticket ?? '', tickets.issue('ada', 'ada')?.ticket ?? '']
    day.later = step
    t.equal(tickets.redeem(early), 'ada')
    clock.later = 1_000
    t.equal(tickets.redeem(late), undefined)
  })
}

t.test('what was kept while the time of day was far ahead is removed when it is right again', async t => {
  const store = opened(t, await dataFolder(t))
  await store.sessions.save('of another year', RECORD, Date.now() + 365 * 24 * HOUR)
  await store.sessions.save('of today', RECORD, Date.now() + HOUR)
  await store.sessions.sweep()
  t.equal(await store.sessions.load('of another year'), undefined)
  t.ok(await store.sessions.load('of today'))
})

t.test('after a step the store removes nothing until every node could touch its sessions', async t => {
  const data = await dataFolder(t)
  const { app, url } = await listening(t, { data, sessionIdle: 4_000 })
  const clock = turnable(t)
  const another = opened(t, data)
  await another.sessions.save('of another', RECORD, Date.now() + 60_000)
  const stream = await (await openSession(url)).listen()
  const { sessions } = app.mcp.store
  const done = { touch: 0, sweep: 0 }
  const [touch, sweep] = [sessions.touch.bind(sessions), sessions.sweep.bind(sessions)]
  sessions.touch = async (...args) => { done.touch++; await touch(...args) }
  sessions.sweep = async () => { done.sweep++; await sweep() }
  const day = settable(t)
  day.later = HOUR
  // A session whose client is connected is touched each time.
  await until(() => done.touch > 3)
  t.equal(done.sweep, 0)
  clock.later = 11 * 60_000
  day.later = HOUR + clock.later
  await until(() => done.sweep > 0)
  t.equal(await another.sessions.load('of another'), undefined, 'then what was not said to be served is removed')
  stream.drop()
})
