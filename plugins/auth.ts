import fp from 'fastify-plugin'
import { ANYBODY, type Identity } from '../protocol/identity.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking. A host application may set it in an earlier hook; it is believed. */
    identity: Identity
  }
}

/** Finds out who is asking, on every route and on the WebSocket upgrade, after the Host and Origin checks and before anything is read. */
export default fp(async fastify => {
  if (!fastify.hasRequestDecorator('identity')) fastify.decorateRequest('identity')

  fastify.addHook('onRequest', async request => {
    request.identity ??= ANYBODY
  })
}, { name: 'auth' })
