import t from 'tap'
import { Semaphore } from '../../../lib/semaphore.js'
import { Supervisor, type Supervised, type SupervisorOptions } from '../../../upstreams/supervision/supervisor.js'
import { until } from '../../support/wait.js'

class FakeConnection implements Supervised {
  closed = false
  onClose (): () => void { return () => {} }
  async close (): Promise<void> { this.closed = true }
}

function supervise (options: Partial<SupervisorOptions<FakeConnection>>) {
  const logged: Array<{ context: { lines?: readonly string[] }, message: string }> = []
  const supervisor = new Supervisor<FakeConnection>({
    alias: 'fake',
    connect: async () => new FakeConnection(),
    starts: new Semaphore(4),
    backOff: { first: 1, longest: 1, maxFailures: 4, period: 60_000 },
    startTimeout: 60_000,
    idle: undefined,
    keep: true,
    refuse: why => new Error(why),
    refuseUnsigned: why => new Error(why),
    log: { info: () => {}, warn: (context, message) => { logged.push({ context, message }) } },
    ...options
  })
  return { supervisor, logged }
}

t.test('whenever it is closed, a connection that was just opened is closed, too', async t => {
  for (let turns = 0; turns < 20; turns++) {
    const connection = new FakeConnection()
    let open = (): void => {}
    const { supervisor } = supervise({
      connect: async () =>
        await new Promise(resolve => {
          open = () => resolve(connection)
        })
    })
    const opening = supervisor.get().catch(() => {})
    await until(() => open.length === 0 && supervisor.state === 'starting')
    await new Promise(resolve => setImmediate(resolve))
    open()
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    await supervisor.close()
    t.ok(connection.closed, `after ${turns} microtasks`)
    await opening
  }
})

t.test('tries that failed count as restarts, and the last lines are logged once while they stay the same', async t => {
  let lines = ['first', 'second']
  const { supervisor, logged } = supervise({
    connect: async () => {
      throw new Error('it exited')
    },
    lastLines: () => lines
  })
  supervisor.start()
  await until(() => logged.length >= 2)
  lines = ['other']
  await until(() => supervisor.state === 'crash loop')
  t.equal(supervisor.restarts, 3)
  const all = logged.map(({ context }) => context.lines?.join()).filter(text => text !== undefined)
  t.strictSame(all.filter((text, index) => all.indexOf(text) === index), all, 'no lines twice')
  t.equal(all[0], 'first,second')
  await supervisor.close()
})
