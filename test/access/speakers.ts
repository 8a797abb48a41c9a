import { performHandshake } from '../support/transports.js'
import { endSession, openSession, post, postModern } from '../support/http-requests.js'
import { call, initialize, notification, NEWEST, type Era } from '../support/messages.js'
import type { Reply } from '../support/http-client.js'
import type { Server } from '../support/server.js'
import { messagesOf } from '../support/event-reader.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from '../support/connections.js'

export type Json = Record<string, unknown>

/** An answer, and the HTTP reply it came in, where it had one of its own. */
export interface Answer {
  status?: number
  headers?: Map<string, string>
  result?: Json
  error?: { code: number, message: string, data?: Json }
}

/** A client that sends requests over any transport. */
export interface Speaker {
  era: Era
  ask: (method: string, params?: Json) => Promise<Answer>
  notify: (method: string, params: Json) => Promise<void>
  /** The notifications received; HTTP without a stream gets none. */
  notifications: Json[]
  close: () => Promise<void>
}

const CAPABILITIES = { elicitation: {} }

/** A client for each transport, with the credential of the given server. */
export const speakers: Record<string, (server: Server) => Promise<Speaker>> = {
  session: async ({ port, head = [] }) => {
    const id = await openSession(port, initialize(NEWEST, CAPABILITIES), head)
    const send = async (body: string) => await post(port, '/mcp', body, [['Mcp-Session-Id', id], ...head])
    return {
      ...posting('legacy', send),
      close: async () => {
        await endSession(port, id, head)
      }
    }
  },
  stateless: async ({ port, head }) => posting('modern', async body => await postModern(port, body, head)),
  message: async ({ port, head }) => posting('legacy', async body => await post(port, '/message', body, head)),
  sse: async server => over(await performHandshake(await sseConnection(server), '2024-11-05'), 'legacy'),
  websocket: async server =>
    over(await performHandshake(await socketConnection(server), NEWEST, CAPABILITIES), 'legacy'),
  'websocket 2026': async server => over(await socketConnection(server), 'modern'),
  stdio: async server => over(await performHandshake(await stdioConnection(server), NEWEST, CAPABILITIES), 'legacy'),
  'stdio 2026': async server => over(await stdioConnection(server), 'modern')
}

function posting (era: Era, send: (body: string) => Promise<Reply>): Speaker {
  return {
    era,
    notifications: [],
    ask: async (method, params = {}) => {
      const { status, headers, body } = await send(call(method, params)(era))
      const message =
        headers.get('content-type')?.startsWith('text/event-stream') === true
          ? messagesOf(body).at(-1)
          : JSON.parse(body)
      return { status, headers, ...message as Json }
    },
    notify: async (method, params) => { await send(notification(method, params)) },
    close: async () => {}
  }
}

function over (connection: Connection, era: Era): Speaker {
  const notifications: Json[] = []
  let lastId = 0
  return {
    era,
    notifications,
    ask: async (method, params = {}) => {
      const id = `s${++lastId}`
      await connection.write(call(method, params, id)(era))
      for (;;) {
        const message = await connection.inbox.next() as Json
        if (message.id === id && message.method === undefined) return message as Answer
        notifications.push(message)
      }
    },
    notify: async (method, params) => { await connection.write(notification(method, params)) },
    close: connection.close
  }
}
