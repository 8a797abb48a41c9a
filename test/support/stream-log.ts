import { NodeCalls } from '../../protocol/nodes/node-calls.js'
import type { SessionPorts } from '../../protocol/sessions/session-options.js'
import type { StreamLog } from '../../protocol/sessions/streams/sink.js'
import type { SessionRecord, SessionStore } from '../../protocol/store.js'
import { memoryStore } from '../../stores/memory/store.js'

export const RECORD: SessionRecord = {
  revision: '2025-11-25',
  initialized: true,
  client: undefined,
  capabilities: {},
  logLevel: 'warning',
  subscriptions: [],
  principal: undefined
}

export const TOMORROW = Date.now() + 86_400_000

/** The surroundings of sessions of the only node. */
export function sessionPorts (store: SessionStore, onTrouble: (error: unknown) => void = () => {}): SessionPorts {
  const nodeCalls = new NodeCalls(memoryStore().nodes)
  return { store, nodeCalls, defersAnnouncements: false, subscribe: async () => {}, onTrouble }
}

/** The log of one stream of a session in memory. */
export function memoryLog (stream: string): StreamLog {
  const { sessions } = memoryStore()
  void sessions.save('s', RECORD, TOMORROW)
  return logOf(sessions, 's', stream)
}

export function logOf (sessions: SessionStore, id: string, stream: string): StreamLog {
  return {
    open: async interruptedResponse => await sessions.open(id, stream, interruptedResponse),
    append: async (event, seen, options) => await sessions.append(id, stream, event, seen, options),
    read: async after => await sessions.read(id, stream, after),
    attach: async after => await sessions.attach(id, stream, after),
    isReader: async () => await sessions.isReader(id, stream),
    markSeen: number => { void sessions.markSeen(id, stream, number) },
    end: async () => await sessions.end(id, stream)
  }
}
