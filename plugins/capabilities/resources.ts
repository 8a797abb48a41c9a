import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors, shorten, type McpError } from '../../protocol/wire/errors.js'
import { WatchCount } from '../../protocol/definitions/watch-count.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { Listeners } from '../../lib/listeners.js'
import type { Peer } from '../../protocol/peer/peer.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import { resourceListing } from '../../protocol/definitions/resource-listing.js'
import { ResourceSet, type FoundResource } from '../../protocol/definitions/resource-set.js'
import { convert } from '../../protocol/revisions/convert.js'
import type { Target } from '../../protocol/dispatch/target.js'
import { Subscribers } from '../../protocol/definitions/subscribers.js'
import type { SubscriptionLimits } from '../../protocol/definitions/subscription-budget.js'
import type { Mcp } from '../core/mcp.js'
import type { MayKnow } from './subscriptions.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The resources and resource templates of every transport. Adding or removing one is announced to all clients. */
    resources: {
      add: (resource: Resource) => void
      /** Puts it in the place of the one of its URI or template, if there is one; what is watched for subscribers is watched by it from now on. */
      replace: (resource: Resource) => void
      /** By the URI or template it was added with. */
      remove: (uri: string) => boolean
      get: (uri: string) => Resource | undefined
      /** The URIs and templates, in order. */
      uris: () => string[]
      /** Notifies the subscribers that the contents changed; with `mayKnow` only those whose principal it accepts. */
      updated: (uri: string, mayKnow?: MayKnow) => void
      /** Notifies all clients that the resources behind a template changed; with `mayKnow` only those whose principal it accepts. */
      listChanged: (mayKnow?: MayKnow) => void
      /** Subscribes a peer to a URI until the peer is closed; false when there is no such resource. */
      subscribe: (uri: string, peer: Peer) => Promise<boolean>
    }
  }
}

export interface ResourceOptions extends SubscriptionLimits { maxUri: number }

const ByUri = Type.Object({ uri: Type.String() })
/** Up to how many characters an unknown URI is repeated whole in an error. */
const REPEATED = 2_048
const LIST_CHANGED = 'notifications/resources/list_changed'

export default fp(async (fastify, { maxUri, ...limits }: ResourceOptions) => {
  const { mcp } = fastify
  const { dispatcher, scopes, subscriptions } = mcp
  const resources = new ResourceSet(maxUri, dispatcher.observers.reporter('resources'))
  const { fixed, templates } = resources
  const listeners = new Listeners<[mayKnow?: MayKnow]>(dispatcher.observers.reporter('resources.listChanged'))
  const watches = new WatchCount(async uri => {
    const found = resources.find(uri)
    if (found === undefined) return undefined
    const { watch } = found.resource
    return watch === undefined ? () => {} : await watch(uri, () => updated(uri))
  })
  const subscribers = new Subscribers(watches)

  mcp.provide('resources', {
    add: resource => resources.add(resource),
    replace: resource => {
      resources.replace(resource)
      watches.restart(uri => resources.find(uri)?.resource === resource)
    },
    remove: uri => resources.remove(uri),
    get: uri => resources.get(uri),
    uris: () => resources.uris(),
    updated,
    listChanged: mayKnow => listeners.notify(mayKnow),
    subscribe: async (uri, peer) => await subscribers.add(uri, peer)
  })
  for (const source of [fixed, templates, scopes]) mcp.announce(source, LIST_CHANGED)
  mcp.announce({ onChange: listener => listeners.add(listener) }, LIST_CHANGED)
  subscriptions.watchWith(async (uri, call) => {
    const found = resources.find(uri)
    return found !== undefined && isAllowed(call, found.resource) ? await watches.acquire(uri) : undefined
  })
  mcp.paginate('resources/list', 'resources', resourceListing(scopes.listing('resources', fixed), templates, isAllowed))
  mcp.paginate('resources/templates/list', 'resourceTemplates', scopes.listing('resources', templates))
  fastify.addHook('onClose', async () => watches.stopAll())
  dispatcher.observers.reinitialize.add(peer => subscribers.removeAll(peer))
  dispatcher.capabilities.declare('resources', () => ({ subscribe: true, listChanged: true }))
  serveRead(mcp, resources)
  serveSubscribe(mcp, resources, subscribers, limits)

  function updated (uri: string, mayKnow: MayKnow = () => true): void {
    for (const peer of subscribers.of(uri)) if (mayKnow(peer.principal)) peer.notify('notifications/resources/updated', { uri })
    subscriptions.updated(uri, mayKnow)
  }

  function isAllowed (call: Call, resource: Resource): boolean {
    return scopes.allows(call, 'resources', resource.uri, resource)
  }
}, { name: 'patchbay-resources', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions'] })

function serveRead (mcp: Mcp, resources: ResourceSet): void {
  mcp.method('resources/read', ByUri, async ({ uri }, call, found: FoundResource | undefined) => {
    const { resource, variables } = found ?? notFound(uri, call)
    const contents = await resource.read(uri, variables, call) ?? notFound(uri, call)
    return call.revision.cached({ contents: convert.contents(contents, call.revision.features) }, { ttlMs: 0, cacheScope: 'private', ...resource.cache })
  }, { target: ({ uri }) => targetOf(mcp, resources, uri), unknown: unknownResource })
}

function serveSubscribe (mcp: Mcp, resources: ResourceSet, subscribers: Subscribers, { maxSubscriptions, maxSubscriptionText }: SubscriptionLimits): void {
  mcp.method('resources/subscribe', ByUri, async ({ uri }, call, found: FoundResource | undefined) => {
    const { peer: { subscriptions, subscriptionTextLength }, conversation } = call
    if (conversation.replaced) throw errors.invalidRequest('the client has sent initialize again since; subscribe again')
    if (found === undefined) notFound(uri, call)
    const isNew = !subscriptions.has(uri)
    if (isNew && subscriptions.size >= maxSubscriptions) throw errors.noMoreSubscriptions(maxSubscriptions)
    if (isNew && subscriptionTextLength + uri.length > maxSubscriptionText) throw errors.tooLongSubscriptions(maxSubscriptionText)
    if (!await subscribers.add(uri, call.peer)) notFound(uri, call)
    return {}
  }, { target: ({ uri }) => targetOf(mcp, resources, uri), unknown: unknownResource })

  mcp.method('resources/unsubscribe', ByUri, ({ uri }, { peer }) => {
    subscribers.remove(uri, peer)
    return {}
  }, { scopes: [] })
}

function targetOf ({ scopes }: Mcp, resources: ResourceSet, uri: unknown): Target<FoundResource> | undefined {
  const found = typeof uri === 'string' ? resources.find(uri) : undefined
  return found && { ...scopes.target('resources', found.resource.uri, found.resource), item: found }
}

function notFound (uri: string, call: Call): never {
  throw unknownResource({ uri }, call)
}

/** Repeats the URI, shortened when it is too long to be that of a resource. */
function unknownResource (params: Params, { revision }: Call): McpError {
  const uri = String(params.uri)
  return errors.resourceNotFound(uri.length > REPEATED ? shorten(uri) : uri, revision.unknownResource)
}
