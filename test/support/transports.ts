import { endSession, openSession, post, postModern } from './http-requests.js'
import { call, initialize, NEWEST, notification, write, type Era, type Input } from './messages.js'
import type { Server } from './server.js'
import { summarise, summariseReply } from './summary.js'
import { socketWire, sseWire, stdioWire, type Wire } from './connections.js'

/** A connected client that can say anything. */
export interface Door {
  /** Sends one message and tells what came back; where nothing may come back it has to be told, so that it does not wait. */
  send: (input: Input, silent?: boolean) => Promise<string>
  close: () => Promise<void>
}

type Opener = (server: Server) => Promise<Door>

/** Every way in, by transport and revision. */
export const doors = {
  session: session(NEWEST),
  'session 2025-06-18': session('2025-06-18'),
  'session 2025-03-26': session('2025-03-26'),
  stateless: async ({ port, head }) => posting('modern', async body => await postModern(port, body, head)),
  message: async ({ port, head }) => posting('legacy', async body => await post(port, '/message', body, head)),
  'mcp without a session': async ({ port, head }) => posting('legacy', async body => await post(port, '/mcp', body, head)),
  sse: greeted(sseWire, '2024-11-05'),
  websocket: greeted(socketWire, NEWEST),
  'websocket 2025-06-18': greeted(socketWire, '2025-06-18'),
  'websocket 2025-03-26': greeted(socketWire, '2025-03-26'),
  'websocket 2026': modern(socketWire),
  stdio: greeted(stdioWire, NEWEST),
  'stdio 2025-06-18': greeted(stdioWire, '2025-06-18'),
  'stdio 2025-03-26': greeted(stdioWire, '2025-03-26'),
  'stdio 2026': modern(stdioWire),
  'sse before initialize': async server => talk(await sseWire(server), 'legacy'),
  'websocket before initialize': async server => talk(await socketWire(server), 'legacy'),
  'stdio before initialize': async server => talk(await stdioWire(server), 'legacy')
} satisfies Record<string, Opener>

export type DoorName = keyof typeof doors

/** A conversation over a wire: what is not an answer at once is waited for, and then nothing else may come. */
export function talk (wire: Wire, era: Era): Door {
  return {
    send: async (input, silent = false) => {
      const posted = await wire.write(write(input, era))
      if (posted !== undefined && posted !== '202') return [posted, ...await probe(wire, era)].join(' ')
      const heard = silent ? 'silence' : summarise(await wire.inbox.next())
      const more = heard.startsWith('close') ? [] : await probe(wire, era)
      return [posted, heard, ...more].filter(Boolean).join(' ')
    },
    close: wire.close
  }
}

/** Asks something good and tells what came before its answer. */
export async function probe (wire: Wire, era: Era): Promise<string[]> {
  await wire.write(call(era === 'modern' ? 'server/discover' : 'ping', {}, 'probe')(era))
  const before: string[] = []
  for (;;) {
    const heard = summarise(await wire.inbox.next())
    if (heard === 'ok id "probe"') return before
    before.push(`then ${heard}`)
    if (heard.startsWith('close')) return before
  }
}

/** Where answers and other messages share one connection, ready for calls. */
export const WIRES: Array<[name: string, era: Era, open: (server: Server) => Promise<Wire>]> = [
  ['sse', 'legacy', async server => await greet(await sseWire(server), '2024-11-05')],
  ['websocket', 'legacy', async server => await greet(await socketWire(server))],
  ['stdio', 'legacy', async server => await greet(await stdioWire(server))],
  ['websocket 2026', 'modern', socketWire],
  ['stdio 2026', 'modern', stdioWire]
]

/** Shakes hands over a wire and gives it back. */
export async function greet (wire: Wire, version = NEWEST, capabilities = {}): Promise<Wire> {
  await wire.write(initialize(version, capabilities))
  await wire.inbox.next()
  await wire.write(notification('notifications/initialized'))
  return wire
}

function posting (era: Era, exchange: (body: string | Uint8Array) => ReturnType<typeof post>): Door {
  return { send: async input => summariseReply(await exchange(write(input, era))), close: async () => {} }
}

function session (version: string): Opener {
  return async ({ port, head = [] }) => {
    const id = await openSession(port, initialize(version), head)
    const door = posting('legacy', async body => await post(port, '/mcp', body, [['Mcp-Session-Id', id], ...head]))
    return { ...door, close: async () => { await endSession(port, id, head) } }
  }
}

function greeted (open: (server: Server) => Promise<Wire>, version: string): Opener {
  return async server => talk(await greet(await open(server), version), 'legacy')
}

function modern (open: (server: Server) => Promise<Wire>): Opener {
  return async server => {
    const wire = await open(server)
    await probe(wire, 'modern')
    return talk(wire, 'modern')
  }
}
