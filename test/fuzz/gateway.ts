import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { build, type Options } from '../../app.js'
import fixture from '../support/gateway.js'
import { MAX_MESSAGE } from './expect.js'
import { CALL_TIMEOUT, CALL_TIMEOUT_MAX } from './waiting.js'

/** Small limits, so that they are met often; nothing that leaves the gateway. */
export const OPTIONS: Partial<Options> = {
  maxMessage: MAX_MESSAGE,
  limits: {
    maxDepth: 32,
    maxKeys: 200,
    maxValues: 1_000,
    maxBytesInFlight: 100_000,
    maxId: 256,
    maxUri: 256,
    maxBatch: 20,
    maxInFlight: 8,
    maxSubscriptions: 4,
    maxFragments: 32,
    maxNotes: 20,
    maxNote: 500,
    searchTimeout: CALL_TIMEOUT,
    keepAlive: 1_000,
    maxPings: 1_000_000,
    maxEventLoopDelay: 1_000_000
  },
  callTimeout: CALL_TIMEOUT,
  callTimeoutMax: CALL_TIMEOUT_MAX,
  grace: 1_000,
  pageSize: 5,
  searchUrl: 'http://127.0.0.1:9/',
  // No client is refused for the rate of its requests, or because the machine is busy.
  rate: 1_000_000_000,
  burst: 1_000_000_000,
  toolRates: {},
  ephemeral: true
}

export type Plugin = (fastify: FastifyInstance) => Promise<void>

/** A gateway in this process; `more` is added to what it serves. */
export async function openGateway (
  more: Plugin[] = [],
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<FastifyInstance> {
  const app = await build({ ...OPTIONS, ...options, plugins: [fixture, withoutClipboard, ...more] }, server)
  await app.ready()
  return app
}

/** What the gateway holds of its clients. */
export async function censusOf (app: FastifyInstance): Promise<Record<string, number>> {
  const connections = app.server.listening
    ? await new Promise<number>(resolve => app.server.getConnections((_error, count) => resolve(count)))
    : 0
  return {
    peers: app.mcp.dispatcher.lifecycle.peers.size,
    sessions: app.mcp.sessions.size,
    connections,
    websockets: app.websocketServer.clients.size
  }
}

// The clipboard is the user's own.
async function withoutClipboard ({ mcp: { tools } }: FastifyInstance): Promise<void> {
  for (const name of ['get_clipboard', 'set_clipboard', 'web_search']) tools.remove(name)
}
