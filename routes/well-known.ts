import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { DEFAULT_SCOPES } from '../protocol/wire/identity.js'
import { metadataOf, metadataPaths } from '../protocol/http/protected-resource.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

export interface ResourceOptions {
  issuer: string
  resource: string
  scopes?: readonly string[]
  /** The path of the MCP endpoint. */
  endpoint: string
}

export default fp(wellKnownRoutes, { name: 'patchbay-well-known-routes', encapsulate: true, dependencies: ['patchbay-mcp'] })

/** `/.well-known/oauth-protected-resource`, alone and with the path of the endpoint: which authorization server gives tokens for this one. */
async function wellKnownRoutes (app: FastifyInstance, { issuer, resource, scopes = DEFAULT_SCOPES, endpoint }: ResourceOptions): Promise<void> {
  const metadata = metadataOf(resource, issuer, scopes)
  for (const path of metadataPaths(resource, endpoint, app.prefix).map(literal)) {
    for (const url of addresses(app, path)) app.get(url, { exposeHeadRoute: false, config: { public: true } }, async () => metadata)
    refuseOtherMethods(app, path, ['GET'])
  }
}

/** A path that means itself to the router. */
const literal = (path: string): string => path.replaceAll(':', '::')
