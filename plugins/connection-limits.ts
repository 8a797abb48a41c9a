import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

/** How long nothing is logged after a line about connections. */
const QUIET = 60_000

export interface ConnectionLimits { maxConnections: number, maxConnectionsPerAddress: number }

/**
 * Closes connections beyond the limits at once, before a byte of them is read: an answer would cost what the limit is there to save, and
 * a request that is answered this way might have been read, and served, as well. For a standalone gateway: a host has its own rules.
 */
export default fp(async (fastify, { maxConnections, maxConnectionsPerAddress }: ConnectionLimits) => {
  const open = new Map<string, number>()
  let all = 0
  let told = -Infinity

  fastify.server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const known = open.get(address) ?? 0
    if (all >= maxConnections || known >= maxConnectionsPerAddress) {
      socket.destroy()
      tell()
      return
    }
    all++
    open.set(address, known + 1)
    socket.once('close', () => leave(address))
  })

  function leave (address: string): void {
    const left = (open.get(address) ?? 0) - 1
    if (left > 0) open.set(address, left)
    else open.delete(address)
    if (all-- === maxConnections) fastify.health.report('connections', undefined)
  }

  // A flood of connections must not become one of lines.
  function tell (): void {
    if (all >= maxConnections) fastify.health.report('connections', 'there are as many as option maxConnections allows')
    if (performance.now() < told + QUIET) return
    told = performance.now()
    fastify.log.warn({ connections: all, addresses: open.size }, 'connections are refused (options maxConnections and maxConnectionsPerAddress)')
  }
}, { name: 'connection-limits' })
