import fp from 'fastify-plugin'
import { isHttpError } from '../../protocol/http/http-error.js'

const AUDITED = new Set([401, 403, 429])

/** One line in the log for each request that was not let in: from where, to which route, and why. Never with its credentials, nor with its query. */
export default fp(async fastify => {
  fastify.addHook('onError', async (request, reply, error) => {
    const status = error.statusCode ?? reply.statusCode
    const { audit, isLogged } = isHttpError(error) ? error : {}
    if (isLogged === true || (!AUDITED.has(status) && audit === undefined)) return
    const { method, ip, headers: { upgrade }, routeOptions: { url: route } } = request
    const principal = request.identity?.principal
    request.log.info({ audit: { outcome: 'refused', status, ...audit, principal, transport: upgrade === undefined ? 'http' : 'websocket', method, route, address: ip, correlation: request.id } }, 'request')
  })
}, { name: 'patchbay-audit-rejections' })
