import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { Collection } from '../../protocol/definitions/collection.js'
import { errors, shorten, type McpError } from '../../protocol/wire/errors.js'
import { WatchCount } from '../../protocol/definitions/watch-count.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { Listeners } from '../../lib/listeners.js'
import type { Peer } from '../../protocol/peer/peer.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import { resourceListing } from '../../protocol/definitions/resource-listing.js'
import { convert } from '../../protocol/revisions/convert.js'
import type { Target } from '../../protocol/dispatch/target.js'
import { Subscribers } from '../../protocol/definitions/subscribers.js'
import type { Variables } from '../../protocol/definitions/uri-template.js'
import type { MayKnow } from './subscriptions.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The resources and resource templates of every transport. */
    resources: {
      add: (resource: Resource) => void
      /** By the URI or template it was added with. */
      remove: (uri: string) => boolean
      get: (uri: string) => Resource | undefined
      /** The URIs and templates, in order. */
      uris: () => string[]
      /** Tells whoever subscribed that the contents changed, or those of them whose principal is among those who may know. */
      updated: (uri: string, mayKnow?: MayKnow) => void
      /** Tells everybody, or those who may know, that what is behind a template is not what it was. */
      listChanged: (mayKnow?: MayKnow) => void
      /** Lets a peer hear of a URI until it goes; false when there is nothing to hear of. */
      subscribe: (uri: string, peer: Peer) => Promise<boolean>
    }
  }
}

/** Subscriptions are kept with the session. */
export interface ResourceOptions { maxSubscriptions: number, maxSubscriptionText: number, maxUri: number }

/** A resource, and the variables of its template. */
interface Found { resource: Resource, variables: Variables }

const ByUri = Type.Object({ uri: Type.String() })
/** Up to how many characters a URI that is not known is repeated whole. */
const REPEATED = 2_048
const LIST_CHANGED = 'notifications/resources/list_changed'

export default fp(async (fastify, { maxSubscriptions, maxSubscriptionText, maxUri }: ResourceOptions) => {
  const { mcp, mcp: { scopes } } = fastify
  const fixed = new Collection<Resource>('resource', mcp.dispatcher.observers.reporter('resources'))
  const templates = new Collection<Resource>('resource template', mcp.dispatcher.observers.reporter('resources'))
  const listeners = new Listeners<[mayKnow?: MayKnow]>(mcp.dispatcher.observers.reporter('resources.listChanged'))
  const watches = new WatchCount(async uri => {
    const found = find(uri)
    if (found === undefined) return undefined
    const { watch } = found.resource
    return watch === undefined ? () => {} : await watch(uri, () => fastify.mcp.resources.updated(uri))
  })
  const subscribers = new Subscribers(watches)

  fastify.mcp.provide('resources', {
    add: resource => {
      if (resource?.kind !== 'resource') throw new Error('resources.add takes what resource({ ... }) returns')
      const collection = resource.template === undefined ? fixed : templates
      collection.add(resource.uri, resource)
    },
    remove: uri => fixed.remove(uri) || templates.remove(uri),
    get: uri => fixed.get(uri) ?? templates.get(uri),
    uris: () => [...fixed.keys(), ...templates.keys()],
    updated: (uri, mayKnow = () => true) => {
      for (const peer of subscribers.of(uri)) if (mayKnow(peer.principal)) peer.notify('notifications/resources/updated', { uri })
      fastify.mcp.subscriptions.updated(uri, mayKnow)
    },
    listChanged: mayKnow => listeners.notify(mayKnow),
    subscribe: async (uri, peer) => await subscribers.add(uri, peer)
  })
  for (const source of [fixed, templates, scopes]) fastify.mcp.announce(source, LIST_CHANGED)
  fastify.mcp.announce({ onChange: listener => listeners.add(listener) }, LIST_CHANGED)
  fastify.mcp.subscriptions.onInterest(async (uri, call) => {
    const found = find(uri)
    return found !== undefined && scopes.allows(call, 'resources', found.resource.uri, found.resource) ? await watches.acquire(uri) : undefined
  })
  fastify.mcp.paginate('resources/list', 'resources', resourceListing(scopes.listing('resources', fixed), templates, (call, resource) => scopes.allows(call, 'resources', resource.uri, resource)))
  fastify.mcp.paginate('resources/templates/list', 'resourceTemplates', scopes.listing('resources', templates))
  fastify.addHook('onClose', async () => watches.stopAll())
  mcp.dispatcher.observers.reinitialize.add(peer => subscribers.removeAll(peer))
  mcp.dispatcher.capabilities.declare('resources', () => ({ subscribe: true, listChanged: true }))

  mcp.method('resources/read', ByUri, async ({ uri }, call, found) => {
    const { resource, variables } = found ?? notFound(uri, call)
    const contents = await resource.read(uri, variables, call) ?? notFound(uri, call)
    return call.revision.cached({ contents: convert.contents(contents, call.revision.features) }, { ttlMs: 0, cacheScope: 'private', ...resource.cache })
  }, { target, unknown: ({ uri }, call) => unknown(String(uri), call) })

  mcp.method('resources/subscribe', ByUri, async ({ uri }, call, found) => {
    const { peer: { subscriptions }, conversation } = call
    if (conversation.replaced) throw errors.invalidRequest('the client has sent initialize again since; subscribe again')
    if (found === undefined) notFound(uri, call)
    if (subscriptions.size >= maxSubscriptions && !subscriptions.has(uri)) throw errors.invalidParams(`a client has at most ${maxSubscriptions} subscriptions; unsubscribe from some first`)
    if (call.peer.subscriptionTextLength + uri.length > maxSubscriptionText && !subscriptions.has(uri)) throw errors.tooLongSubscriptions(maxSubscriptionText)
    if (!await subscribers.add(uri, call.peer)) notFound(uri, call)
    return {}
  }, { target, unknown: ({ uri }, call) => unknown(String(uri), call) })

  mcp.method('resources/unsubscribe', ByUri, ({ uri }, { peer }) => {
    subscribers.remove(uri, peer)
    return {}
  }, { scopes: [] })

  function target ({ uri }: Params): Target<Found> | undefined {
    const found = typeof uri === 'string' ? find(uri) : undefined
    return found && { ...scopes.target('resources', found.resource.uri, found.resource), item: found }
  }

  function find (uri: string): Found | undefined {
    if (uri.length > maxUri) return undefined
    const exact = fixed.get(uri)
    if (exact !== undefined) return { resource: exact, variables: {} }
    for (const resource of templates.values()) {
      const variables = resource.template?.match(uri)
      if (variables !== undefined) return { resource, variables }
    }
    return undefined
  }
}, { name: 'patchbay-resources', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions'] })

function notFound (uri: string, call: Call): never {
  throw unknown(uri, call)
}

/** Repeats the URI, but not one that is too long to be that of a resource. */
function unknown (uri: string, { revision }: Call): McpError {
  const shown = uri.length > REPEATED ? shorten(uri) : uri
  return errors.resourceNotFound(shown, revision.unknownResource)
}
