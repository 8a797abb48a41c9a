import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { Collection } from '../protocol/collection.js'
import { McpError } from '../protocol/errors.js'
import type { Peer } from '../protocol/peer.js'
import type { Resource } from '../protocol/resource.js'
import { convert } from '../protocol/revisions/convert.js'
import type { Variables } from '../protocol/uri-template.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The resources and resource templates of every transport. */
    resources: {
      add: (resource: Resource) => void
      /** By the URI or template it was added with. */
      remove: (uri: string) => boolean
      get: (uri: string) => Resource | undefined
      /** Tells whoever subscribed that the contents changed. */
      updated: (uri: string) => void
    }
  }
}

const ByUri = Type.Object({ uri: Type.String() })

export default fp(async fastify => {
  const { mcp } = fastify
  const fixed = new Collection<Resource>('resource')
  const templates = new Collection<Resource>('resource template')
  const subscribers = new Map<string, Map<Peer, () => void>>()

  fastify.decorate('resources', {
    add: resource => {
      if (resource?.kind !== 'resource') throw new Error('resources.add takes what resource({ ... }) returns')
      const collection = resource.template === undefined ? fixed : templates
      collection.add(resource.uri, resource)
    },
    remove: uri => fixed.remove(uri) || templates.remove(uri),
    get: uri => fixed.get(uri) ?? templates.get(uri),
    updated: uri => {
      for (const peer of subscribers.get(uri)?.keys() ?? []) peer.notify('notifications/resources/updated', { uri })
      fastify.subscriptions.updated(uri)
    }
  })
  for (const collection of [fixed, templates]) fastify.announce(collection, 'notifications/resources/list_changed')
  fastify.paginate('resources/list', 'resources', fixed)
  fastify.paginate('resources/templates/list', 'resourceTemplates', templates)
  mcp.capability('resources', () => ({ subscribe: true, listChanged: true }))

  mcp.method('resources/read', ByUri, async ({ uri }, call) => {
    const { resource, variables } = find(uri) ?? notFound(uri, call.revision.unknownResource)
    const contents = await resource.read(uri, variables, call) ?? notFound(uri, call.revision.unknownResource)
    return call.revision.cached({ contents: convert.contents(contents, call.revision.features) }, { ttlMs: 0, cacheScope: 'private', ...resource.cache })
  })

  mcp.method('resources/subscribe', ByUri, ({ uri }, { peer, revision }) => {
    if (find(uri) === undefined) notFound(uri, revision.unknownResource)
    subscribe(uri, peer)
    return {}
  })

  mcp.method('resources/unsubscribe', ByUri, ({ uri }, { peer }) => {
    unsubscribe(uri, peer)
    return {}
  })

  function find (uri: string): { resource: Resource, variables: Variables } | undefined {
    const exact = fixed.get(uri)
    if (exact !== undefined) return { resource: exact, variables: {} }
    for (const resource of templates.values()) {
      const variables = resource.template?.match(uri)
      if (variables !== undefined) return { resource, variables }
    }
    return undefined
  }

  function subscribe (uri: string, peer: Peer): void {
    const peers = subscribers.get(uri) ?? new Map<Peer, () => void>()
    if (!peers.has(peer)) peers.set(peer, peer.onClose(() => unsubscribe(uri, peer)))
    subscribers.set(uri, peers)
  }

  function unsubscribe (uri: string, peer: Peer): void {
    const peers = subscribers.get(uri)
    peers?.get(peer)?.()
    peers?.delete(peer)
    if (peers?.size === 0) subscribers.delete(uri)
  }
}, { name: 'resources', dependencies: ['mcp', 'pagination', 'subscriptions'] })

function notFound (uri: string, code: number): never {
  throw new McpError(code, `Resource not found: ${uri}`, { uri })
}
