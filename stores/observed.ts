import { now } from '../lib/time.js'
import type { Nodes } from '../protocol/nodes/nodes.js'
import type { SessionStore, Store, StoreObserver, Values } from '../protocol/store.js'

/**
 * The kind of each method: an operation, which is timed, or a way to add a listener. The compiler refuses a method of
 * the port that is not here.
 */
type Methods<P> = { readonly [Name in keyof P & string]-?: 'operation' | 'listener' }

const VALUES: Methods<Values> = {
  get: 'operation',
  put: 'operation',
  swap: 'operation',
  delete: 'operation',
  take: 'operation',
  list: 'operation',
  keys: 'operation',
  increment: 'operation',
  onChange: 'listener',
  onMissedChanges: 'listener'
}

const SESSIONS: Methods<SessionStore> = {
  save: 'operation',
  load: 'operation',
  update: 'operation',
  moveHome: 'operation',
  takeOver: 'operation',
  touch: 'operation',
  remove: 'operation',
  removeUnused: 'operation',
  sweep: 'operation',
  onChange: 'listener',
  open: 'operation',
  append: 'operation',
  markSeen: 'operation',
  end: 'operation',
  finish: 'operation',
  read: 'operation',
  attach: 'operation',
  isReader: 'operation',
  onNews: 'listener'
}

/**
 * Makes a store report to the observer how long its operations take. Their promises are the store's own, so nothing
 * comes later than without it.
 */
export function observeStore (store: Store, observer: StoreObserver): Store {
  return {
    kind: store.kind,
    values: timeOperations(store.values, VALUES, observer),
    sessions: countingEvents(timeOperations(store.sessions, SESSIONS, observer), observer),
    nodes: countingMessages(store.nodes, observer),
    get failure () { return store.failure },
    onFailureChange: listener => store.onFailureChange(listener),
    close: async () => await store.close()
  }
}

/** Times the operations among the methods of a port. */
function timeOperations<P extends Values | SessionStore> (part: P, methods: Methods<P>, observer: StoreObserver): P {
  const made = Object.create(null) as Record<string, unknown>
  for (const [name, kind] of Object.entries(methods)) {
    made[name] = kind === 'listener'
      ? (...args: unknown[]) => call(part, name, args)
      : (...args: unknown[]) => {
          const startedAt = now()
          const done = call(part, name, args) as Promise<unknown>
          const end = (): void => observer.operation(name, now() - startedAt)
          done.then(end, end)
          return done
        }
  }
  return made as unknown as P
}

const call = (part: object, name: string, args: unknown[]): unknown =>
  (part as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args)

function countingEvents (sessions: SessionStore, observer: StoreObserver): SessionStore {
  return {
    ...sessions,
    append: (...args) => {
      const appended = sessions.append(...args)
      appended.then(place => { if (place !== undefined && place !== 'ended') observer.appended() }, () => {})
      return appended
    },
    attach: (id, stream, after) => {
      const replay = sessions.attach(id, stream, after)
      replay.then(
        found => {
          if (found !== undefined && found.events.length > 0) observer.replayed(found.events.length)
        },
        () => {}
      )
      return replay
    }
  }
}

function countingMessages (nodes: Nodes, observer: StoreObserver): Nodes {
  return {
    get self () { return nodes.self },
    ...(nodes.losesMessages === undefined ? {} : { losesMessages: nodes.losesMessages }),
    join: async () => await nodes.join(),
    send: (node, message) => {
      const sent = nodes.send(node, message)
      sent.then(
        found => observer.messageSent(message.kind, found ? 'delivered' : 'absent'),
        () => observer.messageSent(message.kind, 'failed')
      )
      return sent
    },
    broadcast: message => {
      const sent = nodes.broadcast(message)
      sent.then(
        () => observer.messageSent(message.kind, 'delivered'),
        () => observer.messageSent(message.kind, 'failed')
      )
      return sent
    },
    onMessage: listener => nodes.onMessage(listener),
    isAlive: node => nodes.isAlive(node)
  }
}
