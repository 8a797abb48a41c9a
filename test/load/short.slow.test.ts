import { fileURLToPath } from 'node:url'
import t from 'tap'
import { disconnects } from './disconnects.js'
import { killAll } from './gateway.js'
import { idleStreams } from './idle-streams.js'
import { idleWebsockets } from './idle-websockets.js'
import { mixedCalls } from './mixed-calls.js'
import { nodes } from './nodes/calls.js'
import { observed } from './observed.js'
import { sigtermUnderLoad } from './sigterm-under-load.js'
import { slowReaders } from './slow-readers.js'
import { soak } from './soak.js'
import { isMeasurable } from './vitals.js'
import { withNginx } from '../support/environment/nginx.js'
import { withRedis } from '../support/environment/redis-server.js'

const SABOTAGE = fileURLToPath(new URL('sabotage.js', import.meta.url))
const MISCOUNTING = fileURLToPath(new URL('observed/sabotage.js', import.meta.url))

const skip = isMeasurable ? false : 'there is no /proc here'

// `npm run load` and `npm run soak` run the same at full size.
const short = {
  'hundreds of idle WebSockets are held, and all are notified of a change once': async () =>
    await idleWebsockets.run({ sockets: 200, hold: 0.2 }),
  'hundreds of idle event streams are held, and all are notified of a change once': async () =>
    await idleStreams.run({ sockets: 200, hold: 0.2 }),
  'thousands of mixed calls over all transports are answered once, each to its client': async () =>
    await mixedCalls.run({ ...mixedCalls.defaults, calls: 2_000, clients: 4 }),
  'calls that end in every way are counted alike by clients, audit log and metrics, and invented names add no series':
    async () => await observed.run({ ...observed.defaults, calls: 300, names: 200, clients: 1 }),
  'a signal with hundreds of calls in flight on all transports loses none': async () =>
    await sigtermUnderLoad.run({ runs: 1, calls: 300, shortest: 100, longest: 600 }),
  'clients that do not read are cut, and cost the others nothing': async () =>
    await slowReaders.run({ readers: 4, requests: 4, rounds: 1, base: 500, beat: 10, deadline: 500, factor: 20 }),
  'hundreds of resets of every kind leave nothing behind': async () =>
    await disconnects.run({ ...disconnects.defaults, count: 50 }),
  'visitors and faults leave nothing behind': async () =>
    await soak.run({ minutes: 0.04, rate: 200, visits: 20, faults: 10 })
}

for (const [sentence, run] of Object.entries(short)) {
  t.test(sentence, { skip }, async t => {
    t.teardown(killAll)
    const report = await run()
    t.strictSame(report.broken, [], String(report))
    t.ok(report.rows.length > 0)
  })
}

t.test(
  'thousands of mixed calls over three nodes are answered once, each to its client',
  { skip: skip || withRedis.skip || withNginx.skip },
  async t => {
    t.teardown(killAll)
    const report = await nodes.run({ ...nodes.defaults, calls: 2_000, clients: 4 })
    t.strictSame(report.broken, [], String(report))
    t.ok(report.rows.length > 0)
  }
)

t.test('a gateway that loses, doubles and misroutes answers is found out', { skip }, async t => {
  t.teardown(killAll)
  const { broken } = await mixedCalls.run(
    { calls: 1_400, clients: 2, timeout: 500 },
    { plugins: [SABOTAGE], env: { LOAD_SABOTAGE: 'answers' } }
  )
  for (const words of [/are lost/, /are doubled/, /are misrouted/]) t.match(broken.join('\n'), words)
})

t.test('a gateway that counts calls twice, and by names that clients made up, is found out', { skip }, async t => {
  t.teardown(killAll)
  const { broken } = await observed.run(
    { ...observed.defaults, calls: 100, names: 100, clients: 1 },
    { plugins: [MISCOUNTING] }
  )
  for (const words of [
    /the program and the audit log have the same counts, not/,
    /the program and \/metrics have the same counts, not/,
    /calls are timed, not/,
    /invented names add no series/,
    /no label has an invented name/
  ]) {
    t.match(broken.join('\n'), words)
  }
})

t.test('a gateway that keeps disconnected clients in memory is found out', { skip }, async t => {
  t.teardown(killAll)
  const { broken } = await disconnects.run(
    { count: 50, timeout: 1_000 },
    { plugins: [SABOTAGE], env: { LOAD_SABOTAGE: 'memory' } }
  )
  t.match(broken.join('\n'), /everything is back to where it was: alive/)
})

t.test('a gateway that gives up what is in flight is found out', { skip }, async t => {
  t.teardown(killAll)
  const { broken } = await sigtermUnderLoad.run(
    { runs: 1, calls: 100, shortest: 1_000, longest: 1_001 },
    { env: { PATCHBAY_GRACE: '1' } }
  )
  t.match(broken.join('\n'), /calls that had begun are answered/)
})
