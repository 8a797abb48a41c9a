import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import fixture, { listening } from './gateway.js'
import { until } from './wait.js'
import { exchange, request, type Head } from './http-client.js'
import { summariseReply } from './summary.js'

/** A listening gateway, and what its tools saw. */
export interface Server {
  app: FastifyInstance
  port: number
  seen: { counted: number, hanging: number, aborted: number }
  /** Connections it has open. */
  sockets: Set<Socket>
  /** Uncaught errors while this server ran. */
  faults: unknown[]
  /** The identity of every client, in HTTP headers and elsewhere; none when absent. */
  head?: Head
  identity?: Identity
}

/** A gateway with the fixture tools, `count` and `hang`. */
export async function startServer (
  t: Test,
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<Server> {
  const seen = { counted: 0, hanging: 0, aborted: 0 }
  const plugins = [
    fixture,
    async (fastify: FastifyInstance) => {
      addWitnesses(fastify, seen)
    },
    ...(options.plugins ?? [])
  ]
  const { app } = await listening(t, { ...options, plugins }, server)
  return watched(t, app, seen)
}

/** Any application that listens and has Patchbay in it. */
export function watched (t: Test, app: FastifyInstance, seen: Server['seen']): Server {
  return {
    app,
    port: (app.server.address() as AddressInfo).port,
    seen,
    sockets: watchSockets(t, app),
    faults: watchFaults(t)
  }
}

/** The server has removed its former peers, no error was uncaught, and the next good message is answered. */
export async function expectUnharmed (t: Test, { app, port, sockets, faults, head = [] }: Server): Promise<void> {
  const ping = request(
    'POST',
    '/message',
    [['Host', 'localhost'], ['Content-Type', 'application/json'], ...head],
    '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  )
  const reply = summariseReply(await exchange(port, ping))
  if (reply !== '200 ok id 1') t.fail(`the next good message is answered ${reply}`)
  await until(
    () => app.mcp.sessions.size + app.mcp.dispatcher.lifecycle.peers.size === 0,
    'the end of all sessions and peers'
  )
  await until(() => sockets.size === 0, 'the end of all connections')
  if (faults.length > 0) t.fail(`nobody caught ${String(faults.splice(0)[0])}`)
}

/** Cuts at the end what should have ended by itself, so that one leak does not hold up all tests. */
function watchSockets (t: Test, { server }: FastifyInstance): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  return sockets
}

function watchFaults (t: Test): unknown[] {
  const faults: unknown[] = []
  const note = (fault: unknown) => { faults.push(fault) }
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
  t.teardown(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtExceptionMonitor', note)
  })
  return faults
}

/** Tools that report how their calls ended. */
export function addWitnesses ({ mcp: { tools } }: FastifyInstance, seen: Server['seen']): void {
  tools.add(tool({ name: 'count', description: 'Counts how often it is run', run: () => String(++seen.counted) }))
  tools.add(tool({
    name: 'hang',
    description: 'Never answers unless it is told to stop',
    run: async (_input, { signal }) => {
      seen.hanging++
      await new Promise<void>(resolve =>
        signal.addEventListener(
          'abort',
          () => {
            seen.aborted++
            resolve()
          },
          { once: true }
        )
      )
    }
  }))
}
