import fp from 'fastify-plugin'
import { oneLine } from '../../lib/one-line.js'

/** The shortest time between two log lines about handshakes, in milliseconds. */
const LOG_INTERVAL = 60_000
const MAX_REASON = 200
/** Errors of OpenSSL about a client that does not speak TLS. */
const NO_TLS = /http request|wrong version number|packet length too long/

/**
 * Logs handshakes of TLS that fail, at most one a minute: the client gets a closed connection and no reply. Only in a
 * standalone gateway.
 */
export default fp(async fastify => {
  let loggedAt = -Infinity

  fastify.server.on('tlsClientError', (error: NodeJS.ErrnoException & { reason?: string }) => {
    // A client that went away, such as a check whether the port is open.
    if (error.code === 'ECONNRESET' || performance.now() < loggedAt + LOG_INTERVAL) return
    loggedAt = performance.now()
    const reason = oneLine(error.reason ?? error.message, MAX_REASON)
    fastify.log.warn(
      `a client could not be connected over TLS: ${reason}${NO_TLS.test(reason) ? '; http:// or ws:// on the TLS port looks like this' : ''}`
    )
  })
}, { name: 'patchbay-tls-errors' })
