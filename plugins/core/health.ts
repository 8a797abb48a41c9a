import fp from 'fastify-plugin'
import { Listeners } from '../../lib/listeners.js'

declare module './mcp.js' {
  interface Mcp {
    health: {
      /** The state of the gateway now. */
      now: () => Health
      /**
       * Reports that a part does not work, with a reason that clients may read, or that it works again when there is no
       * reason.
       */
      report: (part: string, why: string | undefined, status?: Trouble) => void
      /** Reports that something changed which is no trouble, such as the state of an upstream. */
      noteChange: () => void
      /** Runs when the status changes, the reason for it, or the state of an upstream; returns how to remove it. */
      onChange: (listener: () => void) => () => void
    }
  }
}

/** Degraded: calls are answered, but something does not work. Overloaded and draining: new calls are refused. */
export type Trouble = 'degraded' | 'overloaded' | 'draining'

export interface Health {
  status: 'healthy' | Trouble
  /** False when new calls are refused. */
  ready: boolean
  /** The trouble, when it is not well. */
  reason?: string
  /** The trouble by the part that has it. */
  parts?: Record<string, string>
  /** In seconds. */
  uptime: number
  transports: string[]
  sessions: number
  peers: number
  store: { kind: 'memory' | 'disk' | 'redis', writable: boolean }
  /** The upstream servers; absent when none is configured. */
  upstreams?: UpstreamHealth[]
}

/** The state of an upstream server. */
export interface UpstreamHealth {
  alias: string
  state: string
  stale: boolean
  transport: string
  revision?: string
  tools: number
  /** How many of its tools, prompts, resources and templates are listed in another form; absent when none is. */
  repaired?: number
  restarts: number
  lastError?: string
  /** How many there are. */
  warnings: number
}

const RANK: Trouble[] = ['degraded', 'overloaded', 'draining']

/** The state of the gateway is the worst that any of its parts has reported. */
export default fp(async fastify => {
  const { mcp, mcp: { dispatcher, store } } = fastify
  const startedAt = performance.now()
  const reports = new Reports()
  const listeners = new Listeners<[]>(dispatcher.observers.reporter('health.onChange'))
  const report = (part: string, why: string | undefined, status?: Trouble): void => {
    if (reports.set(part, why, status)) listeners.notify()
  }
  const reportStore = (): void => report('store', store.failure)

  mcp.provide('health', {
    now: () => ({
      ...reports.condition,
      uptime: Math.floor((performance.now() - startedAt) / 1000),
      transports: transports(),
      sessions: 'sessions' in mcp ? mcp.sessions.size : 0,
      peers: dispatcher.lifecycle.peers.size,
      store: { kind: store.kind, writable: store.failure === undefined },
      ...upstreams()
    }),
    report,
    noteChange: () => listeners.notify(),
    onChange: listener => listeners.add(listener)
  })

  const offFailureChange = store.onFailureChange(reportStore)
  reportStore()
  dispatcher.lifecycle.onDrain(() => report('server', 'it is shutting down', 'draining'))
  fastify.addHook('onClose', async () => {
    offFailureChange()
    listeners.clear()
  })

  function upstreams (): Pick<Health, 'upstreams'> {
    const all = 'upstreams' in mcp ? mcp.upstreams.status() : []
    return all.length === 0
      ? {}
      : {
          upstreams: all.map(({ revision, lastError, warnings, repaired, ...rest }) => ({
            ...rest,
            ...(repaired > 0 && { repaired }),
            ...(revision && { revision }),
            ...(lastError && { lastError }),
            warnings: warnings.length
          }))
        }
  }

  function transports (): string[] {
    const served = 'sessions' in mcp ? ['http', 'sse', 'websocket'] : []
    return [...new Set([...served, ...[...dispatcher.lifecycle.peers].map(peer => peer.transport)])].sort()
  }
}, { name: 'patchbay-health', dependencies: ['patchbay-mcp'] })

/** Reports of parts of the gateway, by their names. */
class Reports {
  readonly #troubles = new Map<string, { why: string, status: Trouble }>()

  /** False when this is known already. */
  set (part: string, why: string | undefined, status: Trouble = 'degraded'): boolean {
    const known = this.#troubles.get(part)
    if (known?.why === why && (why === undefined || known?.status === status)) return false
    if (why === undefined) this.#troubles.delete(part)
    else this.#troubles.set(part, { why, status })
    return true
  }

  get condition (): Pick<Health, 'status' | 'ready' | 'reason' | 'parts'> {
    if (this.#troubles.size === 0) return { status: 'healthy', ready: true }
    const all = [...this.#troubles.values()]
    const worst = Math.max(...all.map(({ status }) => RANK.indexOf(status)))
    return {
      status: RANK[worst] as Trouble,
      ready: worst === 0,
      reason: all.map(({ why }) => why).join('; '),
      parts: Object.fromEntries([...this.#troubles].map(([part, { why }]) => [part, why]))
    }
  }
}
