import type { ServerOptions } from 'node:http'
import type { TlsFiles } from '../system/credentials/tls-files.js'

interface Given { headersTimeout: number, requestTimeout: number, tls?: TlsFiles }

/**
 * Fastify's options for the server of Node.js: HTTP, or HTTPS if there is a certificate. Throws a sentence if that
 * cannot be used.
 */
export async function serverOptions (given: Given): Promise<{ http: ServerOptions }> {
  const http = timeouts(given)
  if (given.tls === undefined) return { http }
  const { readTls } = await import('../system/credentials/tls-files.js')
  const both = { http, https: { ...http, ...readTls(given.tls) } }
  return both
}

/** Node.js checks connections at an interval, and requires headersTimeout to be at most requestTimeout. */
function timeouts ({ headersTimeout, requestTimeout }: Given): ServerOptions {
  const first = Math.min(headersTimeout, requestTimeout)
  return { headersTimeout: first, requestTimeout, connectionsCheckingInterval: Math.min(first, 5_000) }
}
