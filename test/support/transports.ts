import { endSession, openSession, post, postModern } from './http-requests.js'
import { call, initialize, NEWEST, notification, write, type Era, type Input } from './messages.js'
import type { Server } from './server.js'
import { summarise, summariseReply } from './summary.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from './connections.js'

/** A connected client that can send any bytes. */
export interface Client {
  /**
   * Sends one message and returns what came back; `silent` is set where nothing may come back, so that it does not
   * wait.
   */
  send: (input: Input, silent?: boolean) => Promise<string>
  close: () => Promise<void>
}

type Opener = (server: Server) => Promise<Client>

/** Every way in, by transport and revision. */
export const transports = {
  session: session(NEWEST),
  'session 2025-06-18': session('2025-06-18'),
  'session 2025-03-26': session('2025-03-26'),
  stateless: async ({ port, head }) => posting('modern', async body => await postModern(port, body, head)),
  message: async ({ port, head }) => posting('legacy', async body => await post(port, '/message', body, head)),
  'mcp without a session': async ({ port, head }) =>
    posting('legacy', async body => await post(port, '/mcp', body, head)),
  sse: afterHandshake(sseConnection, '2024-11-05'),
  websocket: afterHandshake(socketConnection, NEWEST),
  'websocket 2025-06-18': afterHandshake(socketConnection, '2025-06-18'),
  'websocket 2025-03-26': afterHandshake(socketConnection, '2025-03-26'),
  'websocket 2026': modern(socketConnection),
  stdio: afterHandshake(stdioConnection, NEWEST),
  'stdio 2025-06-18': afterHandshake(stdioConnection, '2025-06-18'),
  'stdio 2025-03-26': afterHandshake(stdioConnection, '2025-03-26'),
  'stdio 2026': modern(stdioConnection),
  'sse before initialize': async server => talk(await sseConnection(server), 'legacy'),
  'websocket before initialize': async server => talk(await socketConnection(server), 'legacy'),
  'stdio before initialize': async server => talk(await stdioConnection(server), 'legacy')
} satisfies Record<string, Opener>

export type TransportName = keyof typeof transports

/** A conversation over a connection: what is not an answer at once is waited for, and then nothing else may come. */
export function talk (connection: Connection, era: Era): Client {
  return {
    send: async (input, silent = false) => {
      const posted = await connection.write(write(input, era))
      if (posted !== undefined && posted !== '202') return [posted, ...await probe(connection, era)].join(' ')
      const received = silent ? 'silence' : summarise(await connection.inbox.next())
      const more = received.startsWith('close') ? [] : await probe(connection, era)
      return [posted, received, ...more].filter(Boolean).join(' ')
    },
    close: connection.close
  }
}

/** Sends a valid request and returns what came before its answer. */
export async function probe (connection: Connection, era: Era): Promise<string[]> {
  await connection.write(call(era === 'modern' ? 'server/discover' : 'ping', {}, 'probe')(era))
  const before: string[] = []
  for (;;) {
    const received = summarise(await connection.inbox.next())
    if (received === 'ok id "probe"') return before
    before.push(`then ${received}`)
    if (received.startsWith('close')) return before
  }
}

/** Where answers and other messages share one connection, ready for calls. */
export const CONNECTIONS: Array<[name: string, era: Era, open: (server: Server) => Promise<Connection>]> = [
  ['sse', 'legacy', async server => await performHandshake(await sseConnection(server), '2024-11-05')],
  ['websocket', 'legacy', async server => await performHandshake(await socketConnection(server))],
  ['stdio', 'legacy', async server => await performHandshake(await stdioConnection(server))],
  ['websocket 2026', 'modern', socketConnection],
  ['stdio 2026', 'modern', stdioConnection]
]

/** Shakes hands over a connection and gives it back. */
export async function performHandshake (
  connection: Connection,
  version = NEWEST,
  capabilities = {}
): Promise<Connection> {
  await connection.write(initialize(version, capabilities))
  await connection.inbox.next()
  await connection.write(notification('notifications/initialized'))
  return connection
}

function posting (era: Era, exchange: (body: string | Uint8Array) => ReturnType<typeof post>): Client {
  return { send: async input => summariseReply(await exchange(write(input, era))), close: async () => {} }
}

function session (version: string): Opener {
  return async ({ port, head = [] }) => {
    const id = await openSession(port, initialize(version), head)
    const client = posting('legacy', async body => await post(port, '/mcp', body, [['Mcp-Session-Id', id], ...head]))
    return { ...client, close: async () => { await endSession(port, id, head) } }
  }
}

function afterHandshake (open: (server: Server) => Promise<Connection>, version: string): Opener {
  return async server => talk(await performHandshake(await open(server), version), 'legacy')
}

function modern (open: (server: Server) => Promise<Connection>): Opener {
  return async server => {
    const connection = await open(server)
    await probe(connection, 'modern')
    return talk(connection, 'modern')
  }
}
