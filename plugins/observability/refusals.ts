import fp from 'fastify-plugin'
import { isHttpError } from '../../protocol/http/http-error.js'

/** Tells the listeners of `mcp.onRefusal` of each HTTP request that is refused outside any call, upgrades included. */
export default fp(async fastify => {
  const { observers } = fastify.mcp.dispatcher
  fastify.addHook('onError', (_request, _reply, error, done) => {
    if (isHttpError(error)) observers.reportRefusal(error, error.statusCode)
    done()
  })
}, { name: 'patchbay-refusals', dependencies: ['patchbay-mcp'] })
