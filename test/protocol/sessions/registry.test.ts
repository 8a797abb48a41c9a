import t from 'tap'
import { SessionRegistry } from '../../../protocol/sessions/registry.js'
import type { RegistryPorts, SessionLimits } from '../../../protocol/sessions/registry-ports.js'
import type { Peer } from '../../../protocol/peer/peer.js'
import type { SessionStore } from '../../../protocol/store.js'
import { NodeCalls } from '../../../protocol/nodes/node-calls.js'
import { decode } from '../../../protocol/wire/jsonrpc.js'
import { memoryStore } from '../../../stores/memory/store.js'
import { revision } from '../../support/recorder.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'

const LIMITS: SessionLimits = { maxSessions: 3, maxSessionsPerPrincipal: 2, sessionIdle: 60_000 }
const ALICE = { identity: { principal: 'alice', scopes: 'all' as const } }

function registry (
  { store = memoryStore().sessions, ...ports }: Partial<RegistryPorts> = {},
  limits: Partial<SessionLimits> = {}
) {
  const peers = new Set<Peer>()
  const troubles: unknown[] = []
  const health: Array<string | undefined> = []
  const subscribed: string[] = []
  const sessions = new SessionRegistry(
    { ...LIMITS, ...limits },
    {
      store,
      nodeCalls: new NodeCalls(memoryStore().nodes),
      defersAnnouncements: false,
      decode,
      connect: peer => {
        peers.add(peer)
      },
      disconnect: (peer, reason) => {
        if (peers.delete(peer)) peer.close(reason)
      },
      checkPressure: () => {},
      checkStore: () => {},
      reportHealth: problem => {
        health.push(problem)
      },
      subscribe: async uri => {
        subscribed.push(uri)
      },
      unsubscribe: uri => {
        subscribed.splice(subscribed.indexOf(uri), 1)
      },
      onTrouble: error => {
        troubles.push(error)
      },
      ...ports
    }
  )
  return { sessions, store, peers, troubles, health, subscribed }
}

/** The store of `memoryStore()` with some of its methods replaced. */
function storeWith (replaced: Partial<SessionStore>): SessionStore {
  const { sessions } = memoryStore()
  return new Proxy(sessions, {
    get: (target, name: keyof SessionStore) => replaced[name] ?? target[name].bind(target)
  })
}

t.test('a new session is connected, and found by its own caller only', async t => {
  const { sessions, peers } = registry()
  const session = sessions.create(ALICE)
  t.strictSame([...peers], [session.peer])
  t.equal(sessions.find(session.id, 'alice'), session)
  t.equal(sessions.find(session.id, 'bob'), undefined)
  t.equal(sessions.find(session.id), undefined)
})

t.test('there is a limit of sessions, and one of the sessions of a caller', async t => {
  const { sessions, health } = registry()
  sessions.create(ALICE)
  const last = sessions.create(ALICE)
  t.throws(() => sessions.create(ALICE), { message: /maxSessionsPerPrincipal/, statusCode: 429 })
  sessions.create()
  t.throws(() => sessions.create(), { statusCode: 503, message: /maxSessions/ })
  t.strictSame(health, ['there are as many as limit maxSessions allows'])
  await sessions.end(last, new Error('over'))
  t.equal(health.at(-1), undefined, 'there may be one more now')
  t.ok(sessions.create(ALICE))
})

t.test('no session is opened while the server is overloaded', async t => {
  const { sessions, peers } = registry({ checkPressure: () => { throw new Error('overloaded') } })
  t.throws(() => sessions.create(), { message: 'overloaded' })
  t.strictSame([sessions.size, peers.size], [0, 0])
})

t.test('a session that was never used makes way for a new one', async t => {
  const { sessions } = registry({}, { maxSessions: 1 })
  const first = sessions.create()
  first.lastSeen -= 11_000
  const second = sessions.create()
  t.equal(sessions.find(first.id), undefined)
  t.equal(sessions.find(second.id), second)
})

t.test('a saved session is restored by another registry, once, with its subscriptions', async t => {
  const { sessions, store } = registry()
  const session = sessions.create({ ...ALICE, revision: revision('2025-11-25') })
  session.peer.setSubscribed('file:///a', true)
  await sessions.save(session)
  t.equal(sessions.save(session), undefined, 'there is nothing more to save')

  const other = registry({ store })
  await other.sessions.restore(session.id, 'bob')
  t.equal(other.sessions.size, 0)
  await Promise.all([other.sessions.restore(session.id, 'alice'), other.sessions.restore(session.id, 'alice')])
  t.strictSame([other.sessions.size, other.peers.size, other.subscribed], [1, 1, ['file:///a']])
  t.equal(other.sessions.restore(session.id, 'alice'), undefined, 'there is nothing to wait for')
  t.ok(other.sessions.find(session.id, 'alice')?.peer.subscriptions.has('file:///a'))
})

t.test('a node takes over the sessions of nodes that have ended', async t => {
  const store = storeWith({ takeOver: async address => address === 'here' ? ['left'] : [] })
  const { sessions } = registry({ store })
  await store.save('left', RECORD, TOMORROW)
  await store.save('of another', RECORD, TOMORROW)
  await sessions.takeOver('here')
  t.strictSame([sessions.size, sessions.find('left', RECORD.principal)?.id], [1, 'left'])
})

t.test('a session that cannot be restored does not prevent the others', async t => {
  const store = storeWith({ takeOver: async () => ['a', 'b'] })
  const { sessions, troubles } = registry({ store }, { maxSessions: 1 })
  await store.save('a', RECORD, TOMORROW)
  await store.save('b', RECORD, TOMORROW)
  await sessions.takeOver('here')
  t.equal(sessions.size, 1)
  t.match(troubles, [{ statusCode: 503 }])
})

t.test('a session that cannot be saved is served all the same, and saved later', async t => {
  let broken = true
  const { sessions: memory } = memoryStore()
  const store = storeWith({
    save: async (...args) => {
      if (broken) throw new Error('disk full')
      return await memory.save(...args)
    }
  })
  const { sessions, troubles } = registry({ store })
  const session = sessions.create()
  await sessions.save(session)
  t.match(troubles, [{ message: 'disk full' }])
  t.equal(sessions.find(session.id), session)
  broken = false
  await sessions.save(session)
  t.ok(await memory.load(session.id))
})

t.test('a session that another node has removed is dropped', async t => {
  let changed: (id?: string) => void = () => {}
  const store = storeWith({ onChange: listener => { changed = listener; return () => {} } })
  const { sessions, peers } = registry({ store })
  const [kept, removed] = [sessions.create(), sessions.create()]
  await Promise.all([sessions.save(kept), sessions.save(removed)])
  await store.remove(removed.id)
  changed('unknown')
  t.equal(sessions.size, 2)
  for (const { id } of [kept, removed]) changed(id)
  await Promise.all([sessions.restore(kept.id), sessions.restore(removed.id)])
  t.strictSame([sessions.size, peers.size, removed.peer.closed, kept.peer.closed], [1, 1, true, false])
})

t.test('a session that another node has changed is served as it is stored', async t => {
  let changed: (id?: string) => void = () => {}
  const store = storeWith({ onChange: listener => { changed = listener; return () => {} } })
  const { sessions, subscribed } = registry({ store })
  const session = sessions.create({ revision: revision('2025-11-25') })
  session.peer.setSubscribed('file:///a', true)
  await sessions.save(session)
  const change = async (logLevel: 'error' | 'debug', subscriptions: Array<[string, boolean]>) =>
    await store.update(session.id, { agreement: { logLevel }, subscriptions: new Map(subscriptions) }, TOMORROW)
  await change('error', [['file:///b', true]])
  changed(session.id)
  await sessions.restore(session.id)
  t.strictSame(
    [session.peer.logLevel, [...session.peer.subscriptions], subscribed],
    ['error', ['file:///a', 'file:///b'], ['file:///a', 'file:///b']]
  )
  await change('debug', [['file:///a', false]])
  changed()
  t.equal(session.peer.logLevel, 'error', 'when anything may have changed, each is read at its next request')
  await sessions.restore(session.id)
  t.strictSame([session.peer.logLevel, [...session.peer.subscriptions]], ['debug', ['file:///b']])
  t.equal(session.peer.hasUnsavedChanges, false)
  t.equal(sessions.restore(session.id), undefined)
})

t.test('a session that is gone from the store when it is saved again is dropped', async t => {
  const { sessions, store, peers } = registry()
  const session = sessions.create()
  await sessions.save(session)
  await store.remove(session.id)
  session.peer.setSubscribed('file:///a', true)
  await sessions.save(session)
  t.strictSame([sessions.size, peers.size], [0, 0])
})

t.test('a request for a session that is being removed waits until it is gone', async t => {
  let release = () => {}
  const store = storeWith({ remove: async () => await new Promise<void>(resolve => { release = resolve }) })
  const { sessions } = registry({ store })
  const session = sessions.create()
  const ended = sessions.end(session, new Error('over'))
  const waiting = sessions.restore(session.id)
  t.ok(waiting)
  release()
  await Promise.all([ended, waiting])
  t.equal(sessions.size, 0)
})

t.test('closing leaves sessions in the store', async t => {
  const { sessions, store, peers } = registry()
  sessions.start()
  const session = sessions.create()
  await sessions.save(session)
  await sessions.flush()
  sessions.close()
  t.strictSame([sessions.size, peers.size], [0, 0])
  t.ok(await store.load(session.id))
})

t.test('a session that is being removed as unused is served to its client if another node has used it', async t => {
  let finish = (): void => {}
  const { sessions } = registry(
    {
      store: storeWith({
        removeUnused: async () =>
          await new Promise(resolve => {
            finish = resolve
          })
      })
    },
    { maxSessions: 1 }
  )
  const session = sessions.create(ALICE)
  await sessions.open(session)
  session.lastSeen -= 11_000
  const last = sessions.create()
  t.equal(sessions.find(session.id, 'alice'), undefined, 'it made way for another')
  const restored = sessions.restore(session.id, 'alice')
  await sessions.end(last, new Error('test'))
  finish()
  await restored
  t.match(sessions.find(session.id, 'alice'), { id: session.id })
})

t.test('a session that may have changed while it was being read is read again', async t => {
  let changed: (id?: string) => void = () => {}
  let whileLoading = (): void => {}
  const { sessions: memory } = memoryStore()
  const store = storeWith({
    save: async (...args) => await memory.save(...args),
    update: async (...args) => await memory.update(...args),
    load: async id => {
      const stored = await memory.load(id)
      whileLoading()
      return stored
    },
    onChange: listener => { changed = listener; return () => {} }
  })
  const { sessions } = registry({ store })
  const session = sessions.create({ revision: revision('2025-11-25') })
  await sessions.save(session)
  whileLoading = () => {
    whileLoading = () => {}
    void memory.update(session.id, { agreement: { logLevel: 'debug' }, subscriptions: new Map() }, TOMORROW)
    changed()
  }
  changed()
  await sessions.restore(session.id)
  await sessions.restore(session.id)
  t.equal(session.peer.logLevel, 'debug')
})
