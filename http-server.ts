import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { authentication, scopeChallenge, type FlatOptions } from './options.js'
import { servesConsole, servesMetrics } from './options/exposure.js'
import auth from './plugins/security/auth.js'
import connectionLimits from './plugins/security/connection-limits.js'
import connections from './plugins/http/connections.js'
import expectContinue from './plugins/http/expect-continue.js'
import cors from './plugins/security/cors.js'
import eventStreams from './plugins/http/event-streams.js'
import httpErrors from './plugins/http/error-replies.js'
import jsonBody from './plugins/http/json-body.js'
import origin from './plugins/security/origin.js'
import httpRateLimit from './plugins/security/http-rate-limit.js'
import tlsErrors from './plugins/security/tls-errors.js'
import readiness from './plugins/security/readiness.js'
import refusals from './plugins/observability/refusals.js'
import auditRejections from './plugins/observability/audit-rejections.js'
import replyLimits from './plugins/http/reply-limits.js'
import sessions from './plugins/http/sessions.js'
import upgrades from './plugins/http/upgrades.js'
import websocket from './plugins/http/websocket.js'
import metricsRoutes from './routes/metrics.js'
import consoleRoutes from './routes/console.js'
import healthRoutes from './routes/health.js'
import mcpRoutes from './routes/mcp.js'
import messageRoutes from './routes/message.js'
import probeRoutes from './routes/probes.js'
import apiRoutes from './routes/api.js'
import approvalRoutes from './routes/approvals.js'
import rootRoute from './routes/root.js'
import signInRoutes from './routes/sign-in.js'
import ticketRoutes from './routes/ticket.js'
import wellKnownRoutes from './routes/well-known.js'
import { writePrepared } from './transports/http/json-reply.js'
import { CLOSE } from './transports/websocket/close-codes.js'

/**
 * Decides which HTTP requests are served. A standalone gateway checks those to every URL, in a host application only
 * those to our own.
 */
export const requestChecks = fp(async (fastify: FastifyInstance, options: FlatOptions) => {
  const { standalone } = fastify.mcp
  if (standalone) await fastify.register(connectionLimits, options)
  if (standalone && options.tls !== undefined) await fastify.register(tlsErrors)
  if (options.audit) await fastify.register(auditRejections)
  await fastify.register(refusals)
  await fastify.register(origin, options)
  if (standalone) await fastify.register(cors)
  await fastify.register(auth, authentication(fastify, options))
  await fastify.register(httpRateLimit)
  await fastify.register(readiness)
  if (standalone) {
    await fastify.register(expectContinue)
    await fastify.register(httpErrors, { consolePath: consolePathOf(options) })
  }
})

/**
 * Hooks hold for what is registered after them, so our routes would not run a later hook of the host that sets the
 * identity.
 */
const TOO_LATE =
  "requests were decorated with 'identity' after Patchbay was registered, so its routes do not see it: move app.decorateRequest('identity') and the hook that sets it before app.register(patchbay)"

/** HTTP and WebSocket. Hooks and parsers hold for these routes only, never for those of a host application. */
export const httpServer = fp(async (fastify: FastifyInstance, options: FlatOptions) => {
  const { mcp } = fastify
  const {
    maxSessions,
    maxSessionsPerPrincipal,
    sessionIdle,
    keepAlive,
    maxQueue,
    writeDeadline,
    maxMessage,
    maxStreams,
    grace
  } = options
  const decorated = fastify.hasRequestDecorator('identity')
  await fastify.register(connections)
  await fastify.register(sessions, { maxSessions, maxSessionsPerPrincipal, sessionIdle })
  await fastify.register(eventStreams, { keepAlive, maxQueue, writeDeadline, grace, maxStreams })
  if (mcp.standalone) await fastify.register(webSockets, options)
  await fastify.register(async scope => {
    if (!mcp.standalone) {
      await scope.register(webSockets, options)
      await scope.register(requestChecks, options)
    }
    scope.addHook('onReady', async () => {
      if (
        !decorated &&
        fastify.hasRequestDecorator('identity') &&
        !mcp.identities.required &&
        !options.allowAnonymous
      ) {
        throw new Error(TOO_LATE)
      }
    })
    await scope.register(replyLimits, { maxPipelined: options.maxPipelined, writeDeadline })
    await scope.register(jsonBody, { maxMessage })
    await scope.register(allRoutes, options)
  })
})

/**
 * The probes of a standalone gateway and what browsers get at `/`, behind the routes of all plugins; a host application
 * has its own.
 */
export const probes = fp(async (fastify: FastifyInstance, options: FlatOptions) => {
  const { prefix } = options
  await fastify.register(probeRoutes, { prefix })
  const consolePath = consolePathOf(options)
  if (consolePath !== undefined) await fastify.register(rootRoute, { consolePath })
})

/** Where a standalone gateway serves the console, if it does. */
const consolePathOf = (options: FlatOptions): string | undefined =>
  servesConsole(options, true) ? `${options.prefix}/console` : undefined

/** Uses the `@fastify/websocket` of a host application that has registered it already, with the host's limits. */
const webSockets = fp(
  async (fastify: FastifyInstance, { maxMessage, maxFragments, grace, headersTimeout }: FlatOptions) => {
    if (fastify.hasDecorator('websocketServer')) return
    await fastify.register(websocket, { maxMessage, maxFragments, grace, shuttingDown: CLOSE.shuttingDown })
    await fastify.register(upgrades, { headersTimeout })
  }
)

const allRoutes = fp(async (scope: FastifyInstance, options: FlatOptions) => {
  const { name, prefix, oauth, heartbeat, maxQueue, writeDeadline, assemblyTimeout, maxPings } = options
  const { identities, eventStreams, standalone } = scope.mcp
  if (oauth !== undefined) await scope.register(wellKnownRoutes, { ...oauth, endpoint: `${prefix}/mcp` })
  // Hooks of a route run behind all others, also behind those that a plugin or the host adds later.
  scope.addHook('onRoute', route => {
    route.onSend = [route.onSend ?? [], eventStreams.writeHead, writePrepared].flat()
  })
  await scope.register(async routes => {
    await routes.register(mcpRoutes, { heartbeat, maxQueue, writeDeadline, assemblyTimeout, maxPings })
    await routes.register(messageRoutes)
    await routes.register(healthRoutes)
    if (options.rest) await routes.register(apiRoutes)
    await routes.register(signInRoutes)
    if (options.approvalWebhook !== undefined) await routes.register(approvalRoutes)
    if (identities.required) await routes.register(ticketRoutes)
    if (servesMetrics(options, standalone)) {
      await routes.register(metricsRoutes, { challenge: scopes => scopeChallenge(scope, options, scopes) })
    }
    if (servesConsole(options, standalone)) {
      await routes.register(consoleRoutes, {
        name,
        base: scope.prefix + prefix,
        hostPrefix: scope.prefix,
        oauth,
        isGuarded: identities.required
      })
    }
  }, { prefix })
})
