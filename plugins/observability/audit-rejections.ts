import { isIP } from 'node:net'
import fp from 'fastify-plugin'
import { oneLine } from '../../lib/one-line.js'
import { isHttpError } from '../../protocol/http/http-error.js'
import { isIdentity, shortName } from '../../protocol/wire/identity.js'

const AUDITED = new Set([401, 403, 429])
const MAX_SENTENCE = 300
const MAX_ADDRESS = 64

/**
 * Logs one line for each HTTP request that was refused for its caller: address, route and reason, never its credentials
 * or query.
 */
export default fp(async fastify => {
  fastify.addHook('onError', async (request, reply, error) => {
    const status = error.statusCode ?? reply.statusCode
    const { audit, isLogged, code } = isHttpError(error) ? error : {}
    if (isLogged === true || (!AUDITED.has(status) && audit === undefined)) return
    const { method, ip, id: correlation, headers: { upgrade }, routeOptions: { url } } = request
    const principal = isIdentity(request.identity) ? request.identity.principal : undefined
    const transport = upgrade === undefined ? 'http' : 'websocket'
    const route = routeOf(url)
    // A trusted proxy may pass on any text.
    const address = isIP(ip) === 0 ? oneLine(ip, MAX_ADDRESS) : ip
    request.log.warn(
      { audit: { outcome: 'refused', status, ...audit, principal, transport, method, route, address, correlation } },
      refusalSentence({
        what: `${method} ${route ?? 'an unknown path'}`,
        status,
        reason: audit?.reason ?? code?.replace('PATCHBAY_', ''),
        principal,
        address
      })
    )
  })
}, { name: 'patchbay-audit-rejections' })

/** `POST /mcp refused 401: no credential (10.0.0.7)`. */
function refusalSentence ({
  what,
  status,
  reason,
  principal,
  address
}: {
  what: string
  status: number
  reason: string | undefined
  principal: string | undefined
  address: string
}): string {
  const why = reason === undefined ? '' : `: ${reason.toLowerCase().replaceAll('_', ' ')}`
  return oneLine(
    `${what} refused ${status}${why} (${principal === undefined ? '' : `${shortName(principal)}, `}${address})`,
    MAX_SENTENCE
  )
}

/** Routes are registered with and without a slash at the end; the audit log has one form. */
const routeOf = (url: string | undefined): string | undefined => url?.replace(/(?<=.)\/$/, '')
