import type { FastifyInstance, FastifySchema, HTTPMethods, RouteOptions } from 'fastify'
import { httpErrors } from '../protocol/http/http-errors.js'

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export interface Route extends RouteOptions { method: HTTPMethods }

/**
 * Adds routes of one path, and the same with a slash at its end, which many clients are configured with. All other HTTP
 * methods are refused with 405 before the body is read. What the host application has at these paths already stays the
 * host's, but for the routes themselves: Fastify throws where both have one.
 */
export function addRoutes (app: FastifyInstance, path: string, routes: Array<Omit<Route, 'url'>>): void {
  const served = routes.flatMap(({ method, exposeHeadRoute }) =>
    exposeHeadRoute === true ? [method, 'HEAD' as const] : [method]
  )
  const own = routes.map(route => ({ ...route, config: { ...route.config, mcp: false as const } }))
  for (const route of own) app.route({ exposeHeadRoute: false, ...route, url: path, schema: hidden() })
  refuseOtherMethods(app, path, served)
  if (ignoresTrailingSlash(app)) return
  const alias = `${path}/`
  for (const route of own) {
    if (!isTaken(app, route.method, alias)) {
      app.route({ exposeHeadRoute: false, ...route, url: alias, schema: hidden() })
    }
  }
  refuseOtherMethods(app, alias, served)
}

/**
 * The schema of a route that is left out of the OpenAPI document of a host application, by the convention of
 * `@fastify/swagger`. Fastify marks the object, so each route has its own.
 */
export const hidden = (): FastifySchema & { hide: true } => ({ hide: true })

// OPTIONS is left to a host application, which may answer CORS preflights.
function refuseOtherMethods (app: FastifyInstance, url: string, served: HTTPMethods[]): void {
  const refusable = METHODS.filter(method => !served.includes(method) && (method !== 'OPTIONS' || app.mcp.standalone))
  const others = refusable.filter(method => !isTaken(app, method, url))
  if (others.length === 0) return
  app.route({
    method: others,
    url,
    config: { mcp: false },
    schema: hidden(),
    exposeHeadRoute: false,
    onRequest: async (_request, reply) => {
      reply.header('allow', served.join(', '))
      throw httpErrors.methodNotAllowed(served)
    },
    handler: async () => {}
  })
}

/** True when the application has a route of that method at that path already, whatever its parameters are called. */
export const isTaken = (app: FastifyInstance, method: HTTPMethods, url: string): boolean =>
  app.hasRoute({ method, url: app.prefix + url })

function ignoresTrailingSlash ({ initialConfig: { ignoreTrailingSlash, routerOptions } }: FastifyInstance): boolean {
  return ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true
}
