import { once } from 'node:events'
import { lookup } from 'node:dns/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface Listening {
  /** The URL of the server. */
  address: string
  /** Closes the additional servers; Fastify closes its own. */
  stop: () => void
}

/**
 * Listens on all addresses of localhost, or on the one of any other host. For a second address, Fastify would create a
 * second HTTP server that limits and plugins do not know of; here the connections of all addresses belong to one HTTP
 * server.
 */
export async function listen (app: FastifyInstance, host: string, port: number): Promise<Listening> {
  const [first = host, ...others] = host === 'localhost' ? await addressesOf(host) : [host]
  const address = await app.listen({ port, host: first })
  const servers = await Promise.all(others.map(async other => await listenAlso(app, other)))
  return { address, stop: () => { for (const server of servers) server?.close() } }
}

/** IPv4 first, because every client understands its URL. */
async function addressesOf (host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return [...new Set(found.sort((one, other) => one.family - other.family).map(({ address }) => address))]
}

/** Undefined if that is not possible, for example because this machine has no IPv6. */
async function listenAlso (app: FastifyInstance, host: string): Promise<Server | undefined> {
  const { port } = app.server.address() as AddressInfo
  // Sets the socket options that http.Server sets.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => app.server.emit('connection', socket))
  try {
    await once(server.listen({ port, host }), 'listening')
    server.on('error', error => app.log.warn({ err: error }, 'a connection could not be accepted'))
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      app.log.warn(
        { err: error },
        `another program listens on port ${port} of ${host}, so clients that take that address for localhost do not reach this gateway`
      )
    }
    return undefined
  }
}
