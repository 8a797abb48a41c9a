import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { hasEnd } from '../protocol/definitions/patience.js'
import type { Tool } from '../protocol/definitions/tool.js'
import { isHttpError } from '../protocol/http/http-error.js'
import { httpErrors } from '../protocol/http/http-errors.js'
import { narrowingOf } from '../protocol/http/narrowing.js'
import { batchPosts } from '../transports/http/posts.js'
import { viewOf } from '../transports/http/gateway.js'
import { answerTool, callTool, callToolWith, readResource } from '../transports/rest/calls.js'
import { readLists } from '../transports/rest/lists.js'
import { openApiDocument } from '../transports/rest/openapi.js'
import { success } from '../transports/rest/outcome.js'
import { problemOfRefusal, type RestOutcome } from '../transports/rest/problem.js'
import { queryArguments } from '../transports/rest/query-arguments.js'
import { addViewRoutes } from './views.js'

export default fp(apiRoutes, {
  name: 'patchbay-api-routes',
  encapsulate: true,
  dependencies: [
    'patchbay-mcp',
    'patchbay-auth',
    'patchbay-connections',
    'patchbay-event-streams',
    'patchbay-scopes',
    'patchbay-tools',
    'patchbay-views'
  ]
})

/** `/api`, and `/api/VIEW`: tools and resources for programs that do not speak MCP, and an OpenAPI document. */
async function apiRoutes (app: FastifyInstance): Promise<void> {
  const { mcp } = app
  // A host application has its own handler for errors that are not ours.
  app.setErrorHandler((error, _request, reply) => {
    if (!isHttpError(error)) throw error
    return send(reply, problemOfRefusal(error))
  })
  const add = (after: string, routes: Parameters<typeof addViewRoutes>[2]): void =>
    addViewRoutes(app, '/api', routes, after)

  add('/openapi.json', [{
    method: 'GET',
    onRequest: refuseOtherSites,
    handler: async (request, reply) => {
      const lists = await readLists(mcp, { tools: 'tools/list' }, request, reply)
      if ('refusal' in lists) return send(reply, lists.refusal)
      // A tool whose calls must be tasks takes no call of a request alone.
      const tools = lists.tools.filter(({ name }) => findTool(app, String(name), request)?.task !== 'must')
      const canGoOn = (name: string): boolean => isOutlasted(app, name, request)
      return send(reply, success(openApiDocument(tools, describe(app, request), canGoOn)))
    }
  }])

  add('/tools/:tool', [
    { method: 'POST', handler: batchPosts((request, reply) => callTool(mcp, toolNamed(request), request, reply)) },
    {
      method: 'GET',
      onRequest: refuseOtherSites,
      handler: async (request, reply) => {
        const name = toolNamed(request)
        const tool = findTool(app, name, request)
        callToolWith(mcp, name, queryArguments(request.query, tool?.listed.inputSchema), request, reply)
        return await reply
      }
    }
  ])

  add('/tools/:tool/answers', [{
    method: 'POST',
    handler: batchPosts((request, reply) => answerTool(mcp, toolNamed(request), request, reply))
  }])

  add('/resources', [{
    method: 'GET',
    onRequest: refuseOtherSites,
    handler: async (request, reply) => {
      const { uri } = request.query as { uri?: unknown }
      if (uri !== undefined) {
        readResource(mcp, String(uri), request, reply)
        return await reply
      }
      const lists = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' }
      const found = await readLists(mcp, lists, request, reply)
      return send(reply, 'refusal' in found ? found.refusal : success(found))
    }
  }])
}

const toolNamed = ({ params }: FastifyRequest): string => (params as { tool: string }).tool

/** The tools of the view that the caller sees; undefined for one that is gone. */
function toolsOf ({ mcp }: FastifyInstance, request: FastifyRequest) {
  const view = viewOf(request)
  return view === undefined ? mcp.tools : mcp.views.get(view)?.tools
}

/** The tool of that name in the view of the caller, if the caller may use it. */
function findTool (app: FastifyInstance, name: string, request: FastifyRequest): Tool | undefined {
  const { identity, headers } = request
  const view = viewOf(request)
  const tool = toolsOf(app, request)?.get(name)
  const narrowing = narrowingOf({}, headers)
  const caller = { identity, peer: { view }, channel: { narrowing } }
  return tool !== undefined && app.mcp.scopes.allows(caller, 'tools', tool.name, tool) ? tool : undefined
}

/** True for a tool whose calls may be answered before they have ended, or that calls such tools for this caller. */
function isOutlasted (app: FastifyInstance, name: string, request: FastifyRequest): boolean {
  const tool = findTool(app, name, request)
  if (tool?.standsFor === undefined) return hasEnd(tool?.patience)
  const others = toolsOf(app, request)?.source.values() ?? []
  return [...others].some(({ name, patience, task }) =>
    hasEnd(patience) && task !== 'must' && findTool(app, name, request) !== undefined)
}

/** Browsers send no Origin with the GET of a link or a picture, but they say when another site asks for it. */
const refuseOtherSites: onRequestHookHandler = ({ headers }, _reply, done) => {
  const isForeign = headers['sec-fetch-site'] === 'cross-site' && headers.origin === undefined
  done(isForeign ? httpErrors.crossSite() : undefined)
}

function send (reply: FastifyReply, { status, body, headers }: RestOutcome): FastifyReply {
  return reply.code(status).headers({ 'content-type': 'application/json', 'cache-control': 'no-store', ...headers }).send(body)
}

function describe ({ mcp, prefix }: FastifyInstance, request: FastifyRequest) {
  const { name, title = name, version, description } = mcp.dispatcher.server.info
  const view = viewOf(request)
  const path = view === undefined ? `${prefix}/api` : `${prefix}/api/${encodeURIComponent(view)}`
  return {
    title: view === undefined ? title : `${title}: ${view}`,
    version,
    description: view === undefined ? description : mcp.views.get(view)?.description ?? description,
    url: `${request.protocol}://${request.host}${path}`,
    isGuarded: mcp.identities.required
  }
}
