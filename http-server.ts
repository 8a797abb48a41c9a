import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { authentication, type Options } from './options.js'
import auth from './plugins/security/auth.js'
import connectionLimits from './plugins/security/connection-limits.js'
import connections from './plugins/http/connections.js'
import continues from './plugins/http/expect-continue.js'
import cors from './plugins/security/cors.js'
import events from './plugins/http/event-streams.js'
import httpErrors from './plugins/http/http-errors.js'
import jsonBody from './plugins/http/json-body.js'
import origin from './plugins/security/origin.js'
import rateLimit from './plugins/security/http-rate-limit.js'
import readiness from './plugins/security/readiness.js'
import refusals from './plugins/observability/audit-rejections.js'
import replies from './plugins/http/reply-limits.js'
import sessions from './plugins/http/sessions.js'
import upgrades from './plugins/http/upgrades.js'
import websocket from './plugins/http/websocket.js'
import healthRoutes from './routes/health.js'
import mcpRoutes from './routes/mcp.js'
import messageRoutes from './routes/message.js'
import ticketRoutes from './routes/ticket.js'
import wellKnownRoutes from './routes/well-known.js'
import { writeParts } from './transports/http/channels.js'
import { CLOSE } from './transports/websocket/close-codes.js'

/** What stands before every URL of a gateway of its own: limits, and who may come. */
export const guards = fp(async (fastify: FastifyInstance, options: Options) => {
  await fastify.register(connectionLimits, options)
  if (options.audit) await fastify.register(refusals)
  await fastify.register(origin, options)
  await fastify.register(cors)
  await fastify.register(auth, authentication(fastify, options))
  await fastify.register(rateLimit)
  await fastify.register(readiness)
  await fastify.register(continues)
  await fastify.register(httpErrors)
})

/** Hooks hold for what is registered after them, so nothing that a later hook says of a caller would be heard. */
const TOO_LATE = "requests were decorated with 'identity' after Patchbay was registered, so its routes do not see it: move app.decorateRequest('identity') and the hook that sets it before app.register(patchbay)"

/** The ways in by HTTP and WebSocket. Hooks and parsers hold for these routes only, never for those of a host application. */
export const doors = fp(async (fastify: FastifyInstance, options: Options) => {
  const { prefix, maxSessions, maxSessionsPerPrincipal, sessionIdle, keepAlive, heartbeat, maxQueue, writeDeadline, maxMessage, maxFragments, assemblyTimeout, maxPings, maxStreams, grace } = options
  const decorated = fastify.hasRequestDecorator('identity')
  await fastify.register(connections)
  await fastify.register(sessions, { maxSessions, maxSessionsPerPrincipal, sessionIdle })
  await fastify.register(events, { keepAlive, maxQueue, writeDeadline, grace, maxStreams })
  if (!fastify.hasDecorator('websocketServer')) {
    await fastify.register(websocket, { maxMessage, maxFragments, grace, shuttingDown: CLOSE.shuttingDown })
    await fastify.register(upgrades, { headersTimeout: options.headersTimeout })
  }
  await fastify.register(async scope => {
    if (options.audit && !scope.hasPlugin('patchbay-refusals')) await scope.register(refusals)
    if (!scope.hasPlugin('patchbay-origin')) await scope.register(origin, options)
    if (!scope.hasDecorator('identities')) await scope.register(auth, authentication(scope, options))
    if (!scope.hasPlugin('patchbay-rate-limit')) await scope.register(rateLimit)
    if (!scope.hasPlugin('patchbay-readiness')) await scope.register(readiness)
    scope.addHook('onReady', async () => {
      if (!decorated && fastify.hasRequestDecorator('identity') && !scope.identities.required && !options.allowAnonymous) throw new Error(TOO_LATE)
    })
    await scope.register(replies, { maxPipelined: options.maxPipelined, writeDeadline })
    await scope.register(jsonBody, { maxMessage })
    if (options.oauth !== undefined) await scope.register(wellKnownRoutes, { ...options.oauth, endpoint: `${prefix}/mcp` })
    // Hooks of a route run behind all others, also behind those that a plugin or the host adds later.
    scope.addHook('onRoute', route => { route.onSend = [route.onSend ?? [], fastify.events.begin, writeParts].flat() })
    await scope.register(async routes => {
      await routes.register(mcpRoutes, { heartbeat, maxQueue, writeDeadline, assemblyTimeout, maxPings })
      await routes.register(messageRoutes)
      await routes.register(healthRoutes)
      if (scope.identities.required) await routes.register(ticketRoutes)
    }, { prefix })
  })
})
