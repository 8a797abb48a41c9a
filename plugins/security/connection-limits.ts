import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { connectionsAmong, openFilesLimit } from '../../system/process/open-files.js'

/** How long nothing is logged after a line about connections. */
const QUIET = 60_000

export interface ConnectionLimits {
  maxConnections: number
  maxConnectionsPerAddress: number
  /** How many files and connections this process may have open, if there is a limit. */
  openFiles?: number | undefined
}

/**
 * Closes connections beyond the limits at once, before a byte of them is read: an answer would cost what the limit is there to save, and
 * a request that is answered this way might have been read, and served, as well. For a standalone gateway: a host has its own rules.
 */
export default fp(async (fastify, { maxConnections: wanted, maxConnectionsPerAddress, openFiles = openFilesLimit() }: ConnectionLimits) => {
  const maxConnections = possible(wanted, openFiles, fastify.log)
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

  // When accepting fails for want of descriptors, the connection waits until there is one. Errors before it listens are Fastify's.
  fastify.server.once('listening', () => fastify.server.on('error', error => {
    if (isQuiet()) return
    fastify.log.warn({ err: error }, 'a connection could not be accepted')
  }))

  function leave (address: string): void {
    const left = (open.get(address) ?? 0) - 1
    if (left > 0) open.set(address, left)
    else open.delete(address)
    if (all-- === maxConnections) fastify.mcp.health.report('connections', undefined)
  }

  function tell (): void {
    if (all >= maxConnections) fastify.mcp.health.report('connections', 'there are as many as option maxConnections allows')
    if (isQuiet()) return
    fastify.log.warn({ connections: all, addresses: open.size }, 'connections are refused (options maxConnections and maxConnectionsPerAddress)')
  }

  // A flood of connections must not become one of lines.
  function isQuiet (): boolean {
    if (performance.now() < told + QUIET) return true
    told = performance.now()
    return false
  }
}, { name: 'patchbay-connection-limits', dependencies: ['patchbay-health'] })

/** As many connections as were asked for, or as the limit of open files allows. */
function possible (maxConnections: number, openFiles: number | undefined, log: FastifyBaseLogger): number {
  const most = openFiles === undefined ? Infinity : connectionsAmong(openFiles)
  if (maxConnections <= most) return maxConnections
  log.warn({ maxConnections, openFiles }, `option maxConnections is lowered to ${most}, because this process may open ${openFiles} files; raise that limit (ulimit -n, LimitNOFILE) or lower the option`)
  return most
}
