import t, { type Test } from 'tap'
import { Semaphore } from '../../lib/semaphore.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { Peer } from '../../protocol/peer/peer.js'
import { modern, newestStateful } from '../../protocol/revisions/table.js'
import { memoryStore } from '../../stores/memory/store.js'
import { connect } from '../../upstreams/connection/connection.js'
import { EraMemory } from '../../upstreams/connection/era-memory.js'
import { ParkedCalls } from '../../upstreams/relay/parking/parked-calls.js'
import type { ServerEntry } from '../../upstreams/server-entry.js'
import type { Connection } from '../../upstreams/ports.js'
import { ConfiguredUpstream } from '../../upstreams/upstream.js'
import type { UpstreamLimits } from '../../upstreams/upstream-options.js'
import { createEntry, FakeCall, FakeUpstream } from '../support/fake-upstream.js'
import { Recorder } from '../support/recorder.js'
import { inTime, until } from '../support/wait.js'

const LIMITS: UpstreamLimits = {
  startTimeout: 60_000,
  backOff: { first: 1, longest: 1, maxFailures: 5, period: 60_000 },
  maxConnections: 64,
  isolatedIdle: 60_000,
  maxRounds: 10,
  grace: 60_000
}

function createUpstream (
  t: Test,
  fake: FakeUpstream,
  given: Partial<ServerEntry> = {},
  limits: Partial<UpstreamLimits> = {}
): ConfiguredUpstream {
  const entry = createEntry({ start: 'lazy', ...given })
  const log = { debug: () => {}, info: () => {}, warn: () => {} }
  const eras = new EraMemory(memoryStore().values, entry)
  const upstream = new ConfiguredUpstream({
    entry,
    connect: async (signal, onReopen) =>
      await connect(
        {
          entry,
          dial: fake.dial,
          clientInfo: { name: 'gateway', version: '9' },
          eras,
          probeWait: 20,
          maxQuestions: 8,
          log,
          onReopen
        },
        signal
      ),
    starts: new Semaphore(4),
    limits: { ...LIMITS, ...limits },
    redact: text => text,
    parked: new ParkedCalls({
      parkedCallLifetime: 60_000,
      maxParkedCalls: 8,
      maxParkedCallsPerUpstream: 8,
      maxParkedCallsPerCaller: 8,
      maxParkedBytes: 1_000_000
    }),
    lastLines: () => [],
    log
  })
  t.teardown(async () => await upstream.close(0))
  return upstream
}

/** The part of a call that an upstream sees. */
function callOf (peer: Peer, principal?: string, revision = newestStateful): Call {
  return { peer, principal, revision, signal: new AbortController().signal } as Call
}

const peer = (transport: 'http' | 'stdio' = 'http'): Peer => new Peer({ transport, channel: new Recorder() })

t.test('callers share one connection by default', async t => {
  const fake = new FakeUpstream({})
  const upstream = createUpstream(t, fake)
  t.equal(await upstream.connectionFor(callOf(peer(), 'ada')), await upstream.connectionFor(callOf(peer(), 'bob')))
  t.equal(await upstream.shared(), await upstream.connectionFor(callOf(peer())))
  t.equal(fake.links.length, 1)
})

t.test(
  'with isolate: principal, each principal has a connection of its own, and anonymous callers have one together',
  async t => {
    const fake = new FakeUpstream({})
    const upstream = createUpstream(t, fake, { isolate: 'principal' })
    const ada = await upstream.connectionFor(callOf(peer(), 'ada'))
    t.equal(await upstream.connectionFor(callOf(peer(), 'ada', modern)), ada)
    t.not(await upstream.connectionFor(callOf(peer(), 'bob')), ada)
    t.equal(await upstream.connectionFor(callOf(peer())), await upstream.connectionFor(callOf(peer())))
    t.not(await upstream.shared(), ada, 'lists are read on another one')
    t.equal(fake.links.length, 4)
  }
)

t.test(
  'with isolate: session, each session has a connection that ends with it; stateless HTTP requests share by principal',
  async t => {
    const fake = new FakeUpstream({})
    const upstream = createUpstream(t, fake, { isolate: 'session' })
    const [one, two] = [peer(), peer()]
    const first = await upstream.connectionFor(callOf(one, 'ada'))
    t.equal(await upstream.connectionFor(callOf(one, 'ada')), first)
    t.not(await upstream.connectionFor(callOf(two, 'ada')), first)
    t.equal(
      await upstream.connectionFor(callOf(peer(), 'ada', modern)),
      await upstream.connectionFor(callOf(peer(), 'ada', modern))
    )
    t.not(
      await upstream.connectionFor(callOf(peer('stdio'), 'ada', modern)),
      await upstream.connectionFor(callOf(peer('stdio'), 'ada', modern)),
      'a connection is a session'
    )
    t.equal(fake.links.length, 5)
    one.close(new Error('it left'))
    await until(() => first.closed)
    t.strictSame(
      fake.links.map(link => link.isClosed),
      [true, false, false, false, false]
    )
  }
)

t.test(
  'with isolate: session, requests without a session and without a handshake share by principal, so that not each of them starts a process',
  async t => {
    const fake = new FakeUpstream({})
    const upstream = createUpstream(t, fake, { isolate: 'session' })
    const connections = [
      await upstream.connectionFor(callOf(new Peer(), 'ada')),
      await upstream.connectionFor(callOf(new Peer(), 'ada'))
    ]
    t.equal(connections[0], connections[1])
    t.not(await upstream.connectionFor(callOf(new Peer(), 'bob')), connections[0])
    t.equal(fake.links.length, 2)
  }
)

t.test('connections of single callers are bounded: an unused one makes way, and none in use does', async t => {
  const fake = new FakeUpstream({ 'tools/call': () => {} })
  const upstream = createUpstream(t, fake, { isolate: 'principal' }, { maxConnections: 2 })
  const ada = await upstream.connectionFor(callOf(peer(), 'ada'))
  const bob = await upstream.connectionFor(callOf(peer(), 'bob'))
  ada.request({ method: 'tools/call', params: {}, call: new FakeCall() }).catch(() => {})
  const cy = await upstream.connectionFor(callOf(peer(), 'cy'))
  t.strictSame([ada.closed, bob.closed], [false, true])
  cy.request({ method: 'tools/call', params: {}, call: new FakeCall() }).catch(() => {})
  await t.rejects(upstream.connectionFor(callOf(peer(), 'dan')), {
    code: -32603,
    message:
      /server fake is not available: all connections that callers may have of their own, 2, are in use \(limit maxUpstreamConnections\)/
  })
  t.equal(await upstream.connectionFor(callOf(peer(), 'ada')), ada)
})

t.test('one caller has half of the connections for single sessions, and others have theirs', async t => {
  const fake = new FakeUpstream({ 'tools/call': () => {} })
  const upstream = createUpstream(t, fake, { isolate: 'session' }, { maxConnections: 8 })
  const open = async (principal: string): Promise<Connection> =>
    await upstream.connectionFor(
      callOf(
        new Peer({ transport: 'stdio', channel: new Recorder(), identity: { principal, scopes: 'all' } }),
        principal
      )
    )
  const use = (connection: Connection): void => {
    connection.request({ method: 'tools/call', params: {}, call: new FakeCall() }).catch(() => {})
  }
  const first = await open('bob')
  use(first)
  for (let count = 1; count < 4; count++) use(await open('bob'))
  await t.rejects(open('bob'), {
    code: -32603,
    message:
      /this caller uses 4 connections of its own already, and others need theirs; .* \(limit maxUpstreamConnections\)/
  })
  use(await open('ada'))
  use(await open('ada'))
  await t.rejects(open('ada'), /this caller uses 2 connections/)
  await open('cy')
  t.equal(first.closed, false)
  fake.links[0]?.send({ id: fake.links[0].last('tools/call').id, result: {} })
  await until(
    async () =>
      await open('bob').then(
        () => true,
        () => false
      ),
    'a connection that is not used makes way for another of the same caller'
  )
  t.equal(first.closed, true)
})

t.test('a session whose connection made way for another is not listened to any more', async t => {
  const fake = new FakeUpstream({})
  const upstream = createUpstream(t, fake, { isolate: 'session' }, { maxConnections: 1 })
  let listeners = 0
  const counted = (): Peer => {
    const session = peer('stdio')
    const { onClose } = session
    session.onClose = listener => {
      listeners++
      const remove = onClose.call(session, listener)
      return () => { listeners--; remove() }
    }
    return session
  }
  const [one, two] = [counted(), counted()]
  for (let count = 0; count < 20; count++) {
    for (const session of [one, two]) await upstream.connectionFor(callOf(session))
  }
  t.equal(listeners, 1)
})

t.test('a connection of a single caller is closed when it is not used', async t => {
  const fake = new FakeUpstream({})
  const upstream = createUpstream(t, fake, { isolate: 'principal' }, { isolatedIdle: 5 })
  const connection = await upstream.connectionFor(callOf(peer(), 'ada'))
  await until(() => connection.closed)
  await upstream.connectionFor(callOf(peer(), 'ada'))
  t.equal(fake.links.length, 2)
})

t.test('a disabled upstream is not started', async t => {
  const fake = new FakeUpstream({})
  const upstream = createUpstream(t, fake, { disabled: true, start: 'eager' })
  upstream.start()
  t.equal(upstream.status.state, 'disabled')
  await t.rejects(upstream.connectionFor(callOf(peer())), /fake is not available: it is disabled/)
  t.equal(fake.links.length, 0)
})

t.test('the status follows the connection, and listeners hear of each change', async t => {
  const fake = new FakeUpstream({})
  const upstream = createUpstream(t, fake, { start: 'eager' })
  const states: string[] = []
  let ready = 0
  upstream.onChange(() => states.push(upstream.status.state))
  upstream.onReady(() => ready++)
  t.match(upstream.status, {
    state: 'stopped',
    transport: 'stdio',
    revision: undefined,
    restarts: 0,
    lastError: undefined
  })
  upstream.start()
  await until(() => ready === 1)
  t.match(upstream.status, { state: 'ready', revision: newestStateful.version })
  fake.link.end('it exited with code 7')
  t.match(upstream.status, { state: 'backing off', lastError: 'it exited with code 7' })
  await until(() => ready === 2)
  t.match(upstream.status, { state: 'ready', restarts: 1 })
  await upstream.close()
  t.strictSame(states, ['starting', 'ready', 'backing off', 'backing off', 'ready', 'closed'])
})

t.test('an upstream that is removed lets its calls finish, and takes no more', async t => {
  const fake = new FakeUpstream({ 'tools/call': () => {} })
  const upstream = createUpstream(t, fake)
  const connection = await upstream.connectionFor(callOf(peer()))
  const answer = connection.request({ method: 'tools/call', params: {}, call: new FakeCall() })
  await until(() => fake.methods[0]?.includes('tools/call') === true)
  const closed = upstream.close()
  await t.rejects(upstream.connectionFor(callOf(peer())), /it was removed from the configuration/)
  t.equal(connection.closed, false)
  fake.link.send({ id: fake.link.last('tools/call').id, result: { done: true } })
  t.strictSame(await answer, { done: true })
  await inTime(closed, 'the end')
  t.equal(fake.link.isClosed, true)
})

t.test('an upstream that is removed gives its calls up after the grace period, with its name', async t => {
  const fake = new FakeUpstream({ 'tools/call': () => {} })
  const upstream = createUpstream(t, fake, {}, { grace: 5 })
  const answer = (await upstream.connectionFor(callOf(peer()))).request({
    method: 'tools/call',
    params: {},
    call: new FakeCall()
  })
  const closed = upstream.close()
  await inTime(t.rejects(answer, /server fake was lost before it answered/), 'the error')
  await inTime(closed, 'the end')
})

t.test('a call waits for an upstream that is starting, and no longer than its signal', async t => {
  const fake = new FakeUpstream({ 'server/discover': () => {}, initialize: () => {} })
  const upstream = createUpstream(t, fake)
  const controller = new AbortController()
  const waiting = upstream.connectionFor({ ...callOf(peer()), signal: controller.signal } as Call)
  await until(() => fake.links.length === 1)
  t.equal(upstream.status.state, 'starting')
  controller.abort(new Error('the call is over'))
  await t.rejects(waiting, { message: 'the call is over' })
  t.equal(fake.link.isClosed, false, 'the start goes on')
})
