import { ServerProcess, type Environment, type Server } from '../servers/process.js'
import type { Runner } from '../measure/race.js'
import { HttpWire } from './http-wire.js'
import { Load } from './load.js'
import type { Ask, Era } from './messages.js'
import { StdioWire } from './stdio-wire.js'
import { WebSocketWire } from './websocket-wire.js'
import { initialize, type Wire } from './wire.js'

export interface HttpShape {
  era: Era
  ask: Ask
  connections?: number
  env?: Environment
  path?: string
  /** True for calls of tools below the path, as plain HTTP. */
  plain?: boolean
}

/**
 * A server that is asked over keep-alive connections, one call at a time on each; in the eras that have them, each with
 * a session.
 */
export function overHttp (server: Server, { era, ask, connections = 32, env = {}, path, plain }: HttpShape): Runner {
  return {
    server,
    start: async () => await ServerProcess.listen(server, env),
    open: async ({ port }) => {
      const open = async (): Promise<HttpWire> => await ready(await HttpWire.open(port, era, path, plain), era)
      return await Load.begin(await many(connections, open), era, ask, 1)
    }
  }
}

/** A server that is asked over WebSockets. */
export function overWebSocket (
  server: Server,
  { era, ask, sockets = 32, inFlight = 8 }: { era: Era, ask: Ask, sockets?: number, inFlight?: number }
): Runner {
  return {
    server,
    start: async () => await ServerProcess.listen(server),
    open: async ({ port }) =>
      await Load.begin(
        await many(sockets, async () => await ready(await WebSocketWire.open(port), era)),
        era,
        ask,
        inFlight
      )
  }
}

/** A server that is asked over its standard input. */
export function overStdio (server: Server, { era, ask, inFlight }: { era: Era, ask: Ask, inFlight: number }): Runner {
  let wire: StdioWire
  return {
    server,
    start: async () => {
      const running = ServerProcess.launch(server)
      wire = new StdioWire(running.child as ConstructorParameters<typeof StdioWire>[0])
      try {
        await initialize(wire, era)
      } catch (error) {
        await running.stop()
        throw error
      }
      return running
    },
    open: async () => await Load.begin([wire], era, ask, inFlight)
  }
}

async function ready<T extends Wire> (wire: T, era: Era): Promise<T> {
  await initialize(wire, era)
  return wire
}

async function many<T> (count: number, open: () => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, open))
}
