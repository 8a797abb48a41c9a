import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { serveWithoutUpgrade, wantsWebSocket } from '../../lib/websocket.js'

type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/** How one gateway takes part in the upgrades of its server. */
interface Gateway {
  /** The WebSocket routes of the scope in which it is registered. */
  routes: RegExp[]
  /** Paths that end with a parameter: the host application may have a route that is more exact. */
  parametric: RegExp[]
  /** True when the application has a route of exactly this path, whatever it serves there. */
  hasRoute: (path: string) => boolean
  observe: UpgradeListener
  serve: UpgradeListener
  /** The listener of `@fastify/websocket`, which `serve` wraps. */
  wrapped: UpgradeListener
}

/** One for each server, because two scopes of an application may have a gateway each. */
const routers = new WeakMap<Server, UpgradeRouter>()

/**
 * Serves each upgrade once: those to our WebSocket routes here, those to other routes by the listeners of the host
 * application. An upgrade to anything but a WebSocket is served as a plain HTTP request, and a connection that became
 * neither in time is closed.
 */
export default fp(async (fastify, { headersTimeout }: { headersTimeout: number }) => {
  const { connections } = fastify.mcp
  const server = fastify.server as Server
  const pending = new Map<Socket, NodeJS.Timeout>()
  const wrapped = server.listeners('upgrade').at(-1) as UpgradeListener
  const routes: RegExp[] = []
  const parametric: RegExp[] = []
  const router = routers.get(server) ?? new UpgradeRouter(server)
  routers.set(server, router)

  fastify.addHook('onRoute', route => {
    if (isWebSocketRoute(route)) (PARAMETER_LAST.test(route.url) ? parametric : routes).push(patternOf(route.url))
  })
  router.add({
    routes,
    parametric,
    hasRoute: url => fastify.hasRoute({ method: 'GET', url }),
    observe: connections.onUpgrade,
    serve,
    wrapped
  })
  // By now the host application has registered its own listeners, too.
  fastify.addHook('onReady', async () => router.adopt())
  fastify.websocketServer.on('connection', (_socket, { socket }) => settle(socket))
  fastify.addHook('onClose', async () => { for (const socket of pending.keys()) socket.destroy() })

  function serve (request: IncomingMessage, socket: Socket, head: Buffer): void {
    pending.set(socket, setTimeout(() => socket.destroy(), headersTimeout).unref())
    socket.once('close', () => settle(socket))
    wrapped(request, socket, head)
  }

  function settle (socket: Socket): void {
    clearTimeout(pending.get(socket))
    pending.delete(socket)
  }
}, { name: 'patchbay-upgrades', dependencies: ['patchbay-mcp', 'patchbay-connections', 'patchbay-websocket'] })

class UpgradeRouter {
  readonly #server: Server
  readonly #gateways: Gateway[] = []
  readonly #others: UpgradeListener[] = []
  readonly #listener: UpgradeListener = (request, socket, head) => this.#route(request, socket, head)

  constructor (server: Server) {
    this.#server = server
  }

  add (gateway: Gateway): void {
    this.#gateways.push(gateway)
  }

  /** Takes the place of all listeners: two that dispatch the same upgrade to Fastify would answer it twice. */
  adopt (): void {
    const own = new Set([this.#listener, ...this.#gateways.flatMap(({ observe, wrapped }) => [observe, wrapped])])
    this.#others.push(
      ...(this.#server.listeners('upgrade') as UpgradeListener[]).filter(listener => !own.has(listener))
    )
    this.#server.removeAllListeners('upgrade')
    this.#server.on('upgrade', this.#listener)
  }

  #route (request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (!wantsWebSocket(request)) return serveWithoutUpgrade(this.#server, request, socket, head)
    for (const { observe } of this.#gateways) observe(request, socket, head)
    const gateway = this.#gatewayFor(request)
    if (gateway !== undefined) gateway.serve(request, socket, head)
    else for (const serve of this.#others) serve(request, socket, head)
  }

  /** Undefined when the upgrade is left to the host application. */
  #gatewayFor ({ url = '/' }: IncomingMessage): Gateway | undefined {
    const [path = '/'] = url.split(/[?#;]/, 1)
    const found = this.#gateways.find(gateway => serves(gateway, path))
    return found ?? (this.#others.length === 0 ? this.#gateways[0] : undefined)
  }
}

function serves ({ routes, parametric, hasRoute }: Gateway, path: string): boolean {
  return routes.some(route => route.test(path)) || (parametric.some(route => route.test(path)) && !hasRoute(path))
}

const PARAMETER_LAST = /\/:[^/]+\/?$/

const isWebSocketRoute = ({ wsHandler, websocket }: RouteOptions): boolean =>
  wsHandler !== undefined || websocket === true

/** Matches what Fastify's router would match, and perhaps more: the router decides in the end. */
function patternOf (url: string): RegExp {
  const pattern = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replace(/:[^/-]+/g, '[^/]+')
  return new RegExp(`^${pattern}/?$`, 'i')
}
