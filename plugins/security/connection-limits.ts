import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Counter } from '../../lib/counter.js'
import { connectionsAmong, openFilesLimit } from '../../system/process/usage.js'

/** The shortest time between two log lines about connections, in milliseconds. */
const LOG_INTERVAL = 60_000

export interface ConnectionLimits {
  maxConnections: number
  maxConnectionsPerAddress: number
  /** The most files and connections that this process may have open, if there is a limit. */
  openFiles?: number | undefined
}

/**
 * Closes connections beyond the limits at once, without reading from them or replying: a reply would cost what the
 * limit is there to save. Only in a standalone gateway: a host application has its own limits.
 */
export default fp(async (
  fastify,
  { maxConnections: wanted, maxConnectionsPerAddress, openFiles = openFilesLimit() }: ConnectionLimits
) => {
  const maxConnections = lowerToOpenFiles(wanted, openFiles, fastify.log)
  const countByAddress = new Counter()
  let all = 0
  let loggedAt = -Infinity

  fastify.server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (all >= maxConnections || countByAddress.get(address) >= maxConnectionsPerAddress) {
      socket.destroy()
      fastify.mcp.dispatcher.observers.reportRefusal({ refusal: 'connections' })
      reportRefusal()
      return
    }
    all++
    countByAddress.increment(address)
    socket.once('close', () => remove(address))
  })

  // Where accepting fails for lack of file descriptors, the connection waits in the kernel. Fastify handles errors
  // before `listening`.
  fastify.server.once('listening', () => fastify.server.on('error', error => {
    if (!mayLog()) return
    fastify.log.warn({ err: error }, 'a connection could not be accepted')
  }))

  function remove (address: string): void {
    countByAddress.decrement(address)
    if (all-- === maxConnections) fastify.mcp.health.report('connections', undefined)
  }

  function reportRefusal (): void {
    if (all >= maxConnections) {
      fastify.mcp.health.report('connections', 'there are as many as limit maxConnections allows')
    }
    if (!mayLog()) return
    fastify.log.warn(
      { connections: all, addresses: countByAddress.size },
      'connections are refused (limits maxConnections and maxConnectionsPerAddress)'
    )
  }

  // A flood of connections must not become a flood of log lines.
  function mayLog (): boolean {
    if (performance.now() < loggedAt + LOG_INTERVAL) return false
    loggedAt = performance.now()
    return true
  }
}, { name: 'patchbay-connection-limits', dependencies: ['patchbay-mcp', 'patchbay-health'] })

/** The wanted number of connections, or as many as the limit of open files allows. */
function lowerToOpenFiles (maxConnections: number, openFiles: number | undefined, log: FastifyBaseLogger): number {
  const most = openFiles === undefined ? Infinity : connectionsAmong(openFiles)
  if (maxConnections <= most) return maxConnections
  log.warn(
    { maxConnections, openFiles },
    `limit maxConnections is lowered to ${most}, because this process may open ${openFiles} files; raise that limit (ulimit -n, LimitNOFILE) or lower the limit`
  )
  return most
}
