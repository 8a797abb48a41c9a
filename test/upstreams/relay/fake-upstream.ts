import type { FastifyInstance } from 'fastify'
import { tool } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection, RelayedCall, Upstream, UpstreamRequest } from '../../../upstreams/ports.js'
import type { ParkedCalls, ParkingLimits } from '../../../upstreams/relay/parking/parked-calls.js'
import { openParking } from '../../../upstreams/relay/parking/forwarded-rounds.js'
import { relayRequest } from '../../../upstreams/relay/relay-request.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'
import { revision } from '../../support/recorder.js'
import { Inbox } from '../../support/wait.js'

/** A request that reached the upstream. */
export interface Arrived extends UpstreamRequest {
  readonly call: RelayedCall
  readonly resolve: (result: Params) => void
  readonly reject: (error: Error) => void
}

/** A connection whose other end is the test. */
export class FakeConnection implements Connection {
  readonly revision
  readonly transport = 'stdio'
  readonly server = { capabilities: {}, instructions: undefined }
  closed = false
  readonly arrived = new Inbox<Arrived>()
  /** The requests that were cancelled. */
  readonly cancelled = new Inbox<UpstreamRequest>()
  readonly #listeners = new Set<(method: string, params: Params) => void>()

  constructor (version: string) {
    this.revision = revision(version)
  }

  request (request: UpstreamRequest): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.arrived.push({ ...request, call: request.call as RelayedCall, resolve, reject })
      if (request.cancellation !== undefined) {
        request.cancellation.on(() => {
          this.cancelled.push(request)
          reject(new Error('the request was cancelled'))
        })
      }
    })
  }

  onNotification (listener: (method: string, params: Params) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A notification of the upstream that belongs to no call. */
  announce (method: string, params: Params): void {
    for (const listener of this.#listeners) listener(method, params)
  }

  onClose (): () => void {
    return () => {}
  }

  async close (): Promise<void> {}
}

export interface Fake {
  alias?: string
  task?: 'may' | 'must'
  timeout?: number
  elicitation?: boolean
  sampling?: boolean
  connectionFor?: (call: Call) => Promise<Connection>
  maxRounds?: number
  limits?: Partial<ParkingLimits>
}

const LIMITS: ParkingLimits = {
  parkedCallLifetime: 60_000,
  maxParkedCalls: 20_000,
  maxParkedCallsPerUpstream: 20_000,
  maxParkedCallsPerCaller: 20_000,
  maxParkedBytes: 1_000_000
}

/** Adds the tool `ALIAS__tool` of an upstream that is played by the test. */
export function addUpstream (
  app: FastifyInstance,
  version: string,
  { alias = 'files', task, timeout, elicitation = true, sampling = true, connectionFor, maxRounds = 10, limits }: Fake = {}
): { connection: FakeConnection, parked: ParkedCalls } {
  const connection = new FakeConnection(version)
  const parked = openParking({ ...LIMITS, ...limits }, app.mcp.nodeCalls)
  app.mcp.onDrain(() => parked.end('the server is shutting down'))
  const upstream = {
    entry: { alias, timeout, elicitation, sampling } as ServerEntry,
    parked,
    maxRounds,
    openConnection: () => undefined,
    connectionFor: connectionFor ?? (async () => connection)
  } as unknown as Upstream
  app.mcp.tools.add({
    ...tool({ name: `${alias}__tool`, description: 'Relayed', ...(task !== undefined && { task }), run: () => '' }),
    upstream: alias,
    relay: async (params, call) => await relayRequest(call, upstream, 'tools/call', { ...params, name: 'tool' })
  })
  return { connection, parked }
}
