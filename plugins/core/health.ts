import fp from 'fastify-plugin'
import { Listeners } from '../../lib/listeners.js'

declare module './mcp.js' {
  interface Mcp {
    health: {
      /** How the gateway is now. */
      now: () => Health
      /** Tells that a part is in trouble, in words that anybody may read, or that it is well again when there are none. */
      report: (part: string, why: string | undefined, status?: Trouble) => void
      /** Runs when the status changes, or the reason for it; returns how to remove it. */
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
  /** What is wrong, when it is not well. */
  reason?: string
  /** The same, by the part that it is wrong with. */
  parts?: Record<string, string>
  /** In seconds. */
  uptime: number
  transports: string[]
  sessions: number
  peers: number
  store: { kind: 'memory' | 'disk', writable: boolean }
}

const RANK: Trouble[] = ['degraded', 'overloaded', 'draining']

/** How the gateway is: the worst that any of its parts has reported. */
export default fp(async fastify => {
  const { mcp, mcp: { store } } = fastify
  const startedAt = performance.now()
  const troubles = new Map<string, { why: string, status: Trouble }>()
  const listeners = new Listeners<[]>(mcp.dispatcher.observers.reporter('health.onChange'))

  fastify.mcp.provide('health', {
    now: () => ({
      ...condition(),
      uptime: Math.floor((performance.now() - startedAt) / 1000),
      transports: transports(),
      sessions: 'sessions' in mcp ? fastify.mcp.sessions.size : 0,
      peers: mcp.dispatcher.lifecycle.peers.size,
      store: { kind: store.kind, writable: store.failure === undefined }
    }),
    report: (part, why, status = 'degraded') => {
      const known = troubles.get(part)
      if (known?.why === why && (why === undefined || known?.status === status)) return
      if (why === undefined) troubles.delete(part)
      else troubles.set(part, { why, status })
      listeners.notify()
    },
    onChange: listener => listeners.add(listener)
  })

  const tell = () => fastify.mcp.health.report('store', store.failure)
  const off = store.onFailureChange(tell)
  tell()
  mcp.dispatcher.lifecycle.onDrain(() => fastify.mcp.health.report('server', 'it is shutting down', 'draining'))
  fastify.addHook('onClose', async () => {
    off()
    listeners.clear()
  })

  function condition (): Pick<Health, 'status' | 'ready' | 'reason' | 'parts'> {
    if (troubles.size === 0) return { status: 'healthy', ready: true }
    const all = [...troubles.values()]
    const worst = Math.max(...all.map(({ status }) => RANK.indexOf(status)))
    return {
      status: RANK[worst] as Trouble,
      ready: worst === 0,
      reason: all.map(({ why }) => why).join('; '),
      parts: Object.fromEntries([...troubles].map(([part, { why }]) => [part, why]))
    }
  }

  function transports (): string[] {
    const doors = 'sessions' in mcp ? ['http', 'sse', 'websocket'] : []
    return [...new Set([...doors, ...[...mcp.dispatcher.lifecycle.peers].map(peer => peer.transport)])].sort()
  }
}, { name: 'patchbay-health', dependencies: ['patchbay-mcp'] })
