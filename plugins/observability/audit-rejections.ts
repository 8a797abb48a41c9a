import fp from 'fastify-plugin'
import { isHttpError } from '../../protocol/http/http-error.js'
import { isIdentity } from '../../protocol/wire/identity.js'

const AUDITED = new Set([401, 403, 429])

/** Logs one line for each HTTP request that was refused for its caller: address, route and reason, never its credentials or query. */
export default fp(async fastify => {
  fastify.addHook('onError', async (request, reply, error) => {
    const status = error.statusCode ?? reply.statusCode
    const { audit, isLogged } = isHttpError(error) ? error : {}
    if (isLogged === true || (!AUDITED.has(status) && audit === undefined)) return
    const { method, ip: address, id: correlation, headers: { upgrade }, routeOptions: { url } } = request
    const principal = isIdentity(request.identity) ? request.identity.principal : undefined
    const transport = upgrade === undefined ? 'http' : 'websocket'
    request.log.info({ audit: { outcome: 'refused', status, ...audit, principal, transport, method, route: routeOf(url), address, correlation } }, 'request refused')
  })
}, { name: 'patchbay-audit-rejections' })

/** Routes are registered with and without a slash at the end; the audit log has one form. */
const routeOf = (url: string | undefined): string | undefined => url?.replace(/(?<=.)\/$/, '')
