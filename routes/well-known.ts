import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { DEFAULT_SCOPES } from '../protocol/wire/identity.js'
import { metadataOf, metadataPaths } from '../protocol/http/protected-resource.js'
import { addRoutes } from './paths.js'

export interface ResourceOptions {
  issuer: string
  resource: string
  scopes?: readonly string[]
  /** The path of the MCP endpoint. */
  endpoint: string
}

export default fp(wellKnownRoutes, { name: 'patchbay-well-known-routes', encapsulate: true, dependencies: ['patchbay-mcp'] })

/** `/.well-known/oauth-protected-resource`, alone and followed by the path of the endpoint: which authorization server issues tokens for it. */
async function wellKnownRoutes (app: FastifyInstance, { issuer, resource, scopes = DEFAULT_SCOPES, endpoint }: ResourceOptions): Promise<void> {
  const metadata = metadataOf(resource, issuer, scopes)
  for (const path of metadataPaths(resource, endpoint, app.prefix).map(literal)) {
    addRoutes(app, path, [{ method: 'GET', config: { public: true }, handler: async () => metadata }])
  }
}

/** Escapes what the router would read as a parameter. */
const literal = (path: string): string => path.replaceAll(':', '::')
