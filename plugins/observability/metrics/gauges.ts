import type { FastifyInstance } from 'fastify'
import { runtime } from '../../../system/process/usage.js'
import { gauge, type Metric } from './series.js'

type Mcp = FastifyInstance['mcp']

/**
 * Measures of the present: read when they are asked for, so that nothing is counted meanwhile. `unreached` has the
 * entries of upstreams that did not answer the latest request.
 */
export function gauges (mcp: Mcp, unreached: Pick<WeakSet<object>, 'has'>): Metric[] {
  const { dispatcher } = mcp
  const isUnreached = (alias: string): boolean => unreached.has(Object(mcp.upstreams.get(alias)?.entry) as object)
  return [
    gauge('patchbay_calls_in_flight', 'Calls that are not answered yet.', ['transport'], () =>
      byTransport(mcp, ({ inbound }) => inbound.size)
    ),
    gauge('patchbay_sessions', 'Sessions of HTTP clients at this node.', [], () =>
      'sessions' in mcp ? [[mcp.sessions.size]] : []
    ),
    gauge('patchbay_peers', 'Connected clients, sessions and single requests without one.', ['transport'], () =>
      byTransport(mcp, () => 1)
    ),
    gauge('patchbay_streams', 'Open event streams.', ['kind'], () =>
      'eventStreams' in mcp
        ? Object.entries(mcp.eventStreams.counts).map(([kind, count]) => [count, kind] as const)
        : []
    ),
    gauge(
      'patchbay_queue_bytes',
      'Bytes that wait for clients which are behind; limit maxQueued limits them.',
      [],
      () => [[dispatcher.backlogs.waiting]]
    ),
    gauge('patchbay_queue_limit_bytes', 'Limit maxQueued.', [], () => [[dispatcher.limits.maxQueued]]),
    gauge(
      'patchbay_upstream_up',
      'Whether an upstream server runs and answered the latest request; one that is started when it is needed counts as up.',
      ['upstream'],
      () =>
        listConfigured(mcp).map(({ alias, state }) => [UP.has(state) && !isUnreached(alias) ? 1 : 0, alias] as const)
    ),
    restarts(mcp)
  ]
}

/** The versions of Patchbay and of Node.js. */
export function buildInfo (version: string): Metric {
  const { node } = runtime()
  return gauge('patchbay_build_info', 'The versions of Patchbay and of Node.js.', ['version', 'node'], () => [
    [1, version, node]
  ])
}

/** The states of an upstream in which calls to it are carried out. */
const UP = new Set<string>(['ready', 'stopped'])

const TRANSPORTS = ['http', 'sse', 'websocket', 'stdio', 'memory'] as const

type Peer = Mcp['dispatcher']['lifecycle']['peers'] extends Iterable<infer P> ? P : never

function byTransport (
  {
    dispatcher: {
      lifecycle: { peers }
    }
  }: Mcp,
  sizeOf: (peer: Peer) => number
): Array<readonly [number, string]> {
  const sums = new Map<string, number>(TRANSPORTS.map(transport => [transport, 0]))
  for (const peer of peers) sums.set(peer.transport, (sums.get(peer.transport) ?? 0) + sizeOf(peer))
  return [...sums].map(([transport, sum]) => [sum, transport] as const)
}

const listConfigured = (mcp: Mcp) =>
  'upstreams' in mcp ? mcp.upstreams.status().filter(({ state }) => state !== 'disabled') : []

/** A counter, but one that upstreams keep themselves. */
function restarts (mcp: Mcp): Metric {
  const metric = gauge(
    'patchbay_upstream_restarts_total',
    'How often an upstream server was started again.',
    ['upstream'],
    () => listConfigured(mcp).map(({ alias, restarts }) => [restarts, alias] as const)
  )
  return { ...metric, type: 'counter' }
}
