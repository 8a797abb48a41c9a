import { once } from 'node:events'
import { lookup } from 'node:dns/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface Listening {
  /** The URL of the server. */
  address: string
  /** No more connections are accepted than those of the server itself, which is for Fastify to close. */
  stop: () => void
}

/**
 * Listens on every address that localhost has, or on the one of any other host. Fastify would make a second HTTP server for the second
 * address, which no limit and no plugin knows of; here all connections are those of one HTTP server.
 */
export async function listen (app: FastifyInstance, host: string, port: number): Promise<Listening> {
  const [first = host, ...others] = host === 'localhost' ? await addressesOf(host) : [host]
  const address = await app.listen({ port, host: first })
  const servers = await Promise.all(others.map(async other => await listenToo(app, other)))
  return { address, stop: () => { for (const server of servers) server?.close() } }
}

/** IPv4 first: everything understands its URL. */
async function addressesOf (host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return [...new Set(found.sort((one, other) => one.family - other.family).map(({ address }) => address))]
}

/** Undefined where that is not possible, for example because this machine has no IPv6. */
async function listenToo (app: FastifyInstance, host: string): Promise<Server | undefined> {
  const { port } = app.server.address() as AddressInfo
  // As http.Server sets its own sockets up.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => app.server.emit('connection', socket))
  try {
    await once(server.listen({ port, host }), 'listening')
    server.on('error', error => app.log.warn({ err: error }, 'a connection could not be accepted'))
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') app.log.warn({ err: error }, `another program listens on port ${port} of ${host}, so clients that take that address for localhost do not reach this gateway`)
    return undefined
  }
}
