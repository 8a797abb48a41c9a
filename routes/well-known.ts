import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { DEFAULT_SCOPES } from '../protocol/wire/identity.js'
import { metadataOf, metadataPaths } from '../protocol/http/protected-resource.js'
import { VIEW_PARAMETER } from '../transports/http/gateway.js'
import { addRoutes, type Route } from './paths.js'

export interface ResourceOptions {
  issuer: string
  resource: string
  scopes?: readonly string[]
  /** The path of the MCP endpoint. */
  endpoint: string
}

export default fp(wellKnownRoutes, {
  name: 'patchbay-well-known-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp']
})

/**
 * `/.well-known/oauth-protected-resource`, alone and followed by the path of the endpoint or of one of its views: which
 * authorization server issues tokens for it.
 */
async function wellKnownRoutes (
  app: FastifyInstance,
  { issuer, resource, scopes = DEFAULT_SCOPES, endpoint }: ResourceOptions
): Promise<void> {
  const metadata = metadataOf(resource, issuer, scopes)
  const route: Omit<Route, 'url'> = { method: 'GET', config: { public: true }, handler: async () => metadata }
  const [root = '', ...paths] = metadataPaths(resource, endpoint, app.prefix).map(literal)
  // Views have the metadata of the gateway: a token is for all of it. That a view does not exist is not said without a
  // credential.
  for (const path of [root, ...paths, ...paths.map(path => `${path}/:${VIEW_PARAMETER}`)]) addRoutes(app, path, [route])
}

/** Escapes what the router would read as a parameter. */
const literal = (path: string): string => path.replaceAll(':', '::')
