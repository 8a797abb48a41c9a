import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { httpErrors } from '../protocol/http/http-errors.js'
import { viewInPath, VIEW_PARAMETER } from '../transports/http/gateway.js'
import { addRoutes, isTaken, type Route } from './paths.js'

/**
 * Adds routes of one path, and the same for each view, whose name follows the path. Views may be opened and closed at
 * any time. Fastify prefers routes without a parameter, so what a host application has below the path stays the host's;
 * a parameter of its own does, too. `after` is the part of the path behind the name.
 */
export function addViewRoutes (
  app: FastifyInstance,
  path: string,
  routes: Array<Omit<Route, 'url'>>,
  after = ''
): void {
  addRoutes(app, path + after, routes)
  const url = `${path}/:${VIEW_PARAMETER}${after}`
  const free = routes.filter(({ method }) => !isTaken(app, method, url))
  if (free.length > 0) {
    addRoutes(
      app,
      url,
      free.map(route => ({ ...route, onRequest: [checkView(app), route.onRequest ?? []].flat() }))
    )
  }
}

function checkView ({ mcp: { views } }: FastifyInstance): onRequestHookHandler {
  return (request, _reply, done) => {
    const view = viewInPath(request) ?? ''
    const { view: bound } = request.identity
    // A credential gets no other answer for a view that is not there than for one that is.
    if (bound !== undefined) done(bound === view ? undefined : httpErrors.otherView(bound))
    else if (views.get(view) === undefined) done(httpErrors.unknownView(view))
    else done()
  }
}
