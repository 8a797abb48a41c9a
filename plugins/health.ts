import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    health: {
      /** How the gateway is now. */
      now: () => Health
      /** Runs when the status changes. */
      onChange: (listener: () => void) => void
    }
  }
}

export interface Health {
  status: 'healthy' | 'degraded'
  /** What is wrong, when it is not well. */
  reason?: string
  /** In seconds. */
  uptime: number
  transports: string[]
  sessions: number
  peers: number
  store: { kind: 'memory' | 'disk', writable: boolean }
}

/** Degraded means that calls are answered, but what they change cannot be kept. */
export default fp(async fastify => {
  const { mcp, store } = fastify
  const startedAt = performance.now()

  fastify.decorate('health', {
    now: () => ({
      status: store.trouble === undefined ? 'healthy' : 'degraded',
      ...(store.trouble === undefined ? {} : { reason: store.trouble }),
      uptime: Math.floor((performance.now() - startedAt) / 1000),
      transports: transports(),
      sessions: fastify.hasDecorator('sessions') ? fastify.sessions.size : 0,
      peers: mcp.peers.size,
      store: { kind: store.kind, writable: store.trouble === undefined }
    }),
    onChange: listener => {
      const off = store.onTrouble(listener)
      fastify.addHook('onClose', async () => off())
    }
  })

  function transports (): string[] {
    const doors = fastify.hasDecorator('sessions') ? ['http', 'sse', 'websocket'] : []
    return [...new Set([...doors, ...[...mcp.peers].map(peer => peer.transport)])].sort()
  }
}, { name: 'health', dependencies: ['mcp', 'store'] })
