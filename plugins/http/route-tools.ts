import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { fitsGlob } from '../../lib/glob.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Identity } from '../../protocol/wire/identity.js'
import type { FoundRoute } from './route-tools/route-input.js'
import type { RouteLook } from './route-tools/make-tool.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes the route a tool of this name and description; false keeps it from being one. */
    mcp?: false | RouteLook
  }
}

export interface RouteToolOptions {
  routes?: { include?: string[], headers?: string[] }
  /** The longest reply of a route, in bytes. */
  maxUpstreamMessage: number
}

/** Carries an unguessable number, good for one request: a client that sends it is no caller. */
const CALL_HEADER = 'x-patchbay-call'
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

interface Candidate extends FoundRoute { readonly look: RouteLook }

/**
 * Makes tools of routes that are registered after this plugin and say so in `config.mcp`, or whose paths the option
 * includes; of the latter also of those that were registered before it. A call is an injected request with the identity
 * of the caller, so hooks, checks and errors are those of HTTP.
 */
export default fp(async (fastify, { routes, maxUpstreamMessage: maxReply }: RouteToolOptions) => {
  const { mcp } = fastify
  const include = routes?.include ?? []
  const candidates: Array<() => Candidate> = []
  const seen = new Set<string>(include.length === 0 ? [] : earlierRoutes(fastify).map(key))
  const earlier = [...seen].filter(each => isIncluded(each, include))
  const callers = new Map<string, Identity | undefined>()

  const adopt: onRequestHookHandler = (request, _reply, done) => {
    if (callers.size > 0) adoptCaller(request, callers)
    done()
  }
  if (routes !== undefined && !mcp.standalone) fastify.addHook('onRequest', adopt)

  fastify.addHook('onRoute', function (route) {
    const look = route.config?.mcp
    if (look === false || 'wsHandler' in route || ('websocket' in route && route.websocket === true)) return
    const methods = [route.method].flat().filter(method => METHODS.has(method))
    const chosen = methods.filter(method => look !== undefined || isIncluded(`${method} ${route.url}`, include))
    // A tool that has a name is one, whatever methods its route has.
    const named = look?.name === undefined ? chosen : chosen.slice(0, 1)
    const found = named.filter(method => !seen.has(key([method, route.url])))
    // Fastify tells of a route at a prefix twice, with a slash and without it, by one and the same object.
    const { url } = route
    for (const method of found) {
      seen.add(key([method, url]))
      candidates.push(() => candidateOf(this, route, [method, url], look ?? {}))
    }
    if (found.length > 0 && routes === undefined && !mcp.standalone) {
      route.onRequest = [adopt, route.onRequest ?? []].flat()
    }
  })

  fastify.addHook('onReady', async () => {
    const all = [...earlier.map(unknownRoute), ...candidates.map(make => make())]
    for (const pattern of idlePatterns(include, all)) {
      fastify.log.warn(`option routes.include: no route fits "${pattern}". Patchbay sees those of the scope that it is registered in, and of scopes inside it; a plugin that registers it for all is wrapped in fastify-plugin`)
    }
    if (all.length === 0) return
    const { makeRouteTool } = await import('./route-tools/make-tool.js')
    const headers = (routes?.headers ?? []).map(name => name.toLowerCase())
    const host = { app: fastify, headers, maxReply, announce: (call: Call) => announce(call, callers) }
    for (const { look, ...route } of all) {
      try {
        mcp.tools.add(makeRouteTool(route, look, host))
      } catch (error) {
        const why = (error as Error).message
        fastify.log.warn(`the route ${route.method} ${route.url} is no tool: ${why}; set config.mcp of the route`)
      }
    }
  })
}, { name: 'patchbay-route-tools', dependencies: ['patchbay-mcp', 'patchbay-tools'] })

/** A route by which it is recognised, without the slash that Fastify may add for a prefix. */
const key = ([method, url]: readonly [string, string]): string => `${method} ${url.replace(/(?<=.)\/$/, '')}`

function candidateOf (
  app: FastifyInstance,
  route: RouteOptions,
  [method, url]: readonly [string, string],
  look: RouteLook
): Candidate {
  const schema = (route.schema ?? {}) as Record<string, unknown>
  return { method, url, schema, shared: app.getSchemas(), look }
}

function unknownRoute (named: string): Candidate {
  const [method = '', url = ''] = named.split(' ')
  return { method, url, schema: undefined, shared: {}, look: {} }
}

/** True for a route that a pattern fits; a pattern without a method is for all methods. */
function isIncluded (named: string, include: readonly string[]): boolean {
  return include.some(pattern =>
    pattern.includes(' ') ? fitsGlob(pattern, named) : fitsGlob(pattern, named.slice(named.indexOf(' ') + 1))
  )
}

/** The patterns that no route fits, with a slash at its end or without it. */
function idlePatterns (include: readonly string[], routes: readonly FoundRoute[]): string[] {
  const named = routes.flatMap(({ method, url }) => [`${method} ${url}`, `${method} ${url}/`])
  return include.filter(pattern => !named.some(each => isIncluded(each, [pattern])))
}

/** The routes that there are already. Fastify prints their methods and paths, and tells nothing else of them. */
function earlierRoutes (app: FastifyInstance): Array<[method: string, url: string]> {
  const path: string[] = []
  return app.printRoutes({ commonPrefix: false }).split('\n').flatMap(line => {
    const [, indent = '', segment = '', methods = ''] = /^(.*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? []
    if (!/[├└]── /.test(line)) return []
    path.splice(indent.length / 4, Infinity, segment)
    const url = path.join('')
    return methods
      .split(', ')
      .filter(method => METHODS.has(method) && app.hasRoute({ method: method as 'GET', url }))
      .map((method): [string, string] => [method, url])
  })
}

function announce ({ identity }: Call, callers: Map<string, Identity | undefined>) {
  const token = randomUUID()
  // The application gets no identity for an anonymous caller, even one to which Patchbay grants all scopes.
  callers.set(token, identity.principal === undefined ? undefined : identity)
  return { headers: { [CALL_HEADER]: token }, forget: () => { callers.delete(token) } }
}

function adoptCaller (request: FastifyRequest, callers: Map<string, Identity | undefined>): void {
  const { headers } = request.raw
  const token = headers[CALL_HEADER]
  if (token === undefined) return
  const identity = callers.get(String(token))
  callers.delete(String(token))
  Reflect.deleteProperty(headers, CALL_HEADER)
  if (identity !== undefined) request.identity = identity
}
