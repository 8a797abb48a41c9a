import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors, shorten, type McpError } from '../../protocol/wire/errors.js'
import { hasAllScopes } from '../../protocol/wire/identity.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { ByView } from '../core/views/by-view.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import type { FoundResource } from '../../protocol/definitions/resource-set.js'
import { convert } from '../../protocol/revisions/convert.js'
import { relayed } from '../../protocol/revisions/relayed.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import type { Target } from '../../protocol/dispatch/target.js'
import type { SubscriptionLimits } from '../../protocol/definitions/subscriptions/subscription-budget.js'
import type { Mcp } from '../core/mcp.js'
import { resourcePart, type ResourcePart, type ResourceRegistry } from './resources/resource-part.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The resources and resource templates of every transport. Adding or removing one is announced to all clients. */
    resources: ResourceRegistry & ResourceReader & {
      /** Sets the function that finds what is read by a URI that is not listed, for the clients of a view. */
      findPartsWith: (find: FindPart) => void
    }
  }
}

declare module '../core/views.js' {
  interface View {
    readonly resources: ResourceRegistry
  }
}

/** Lists and reads resources on behalf of a caller, in its view and with its rights. */
export interface ResourceReader {
  /** The entries of resources after a place, those of all templates with the first, and the place of the next page. */
  pageFor: (
    call: Call,
    after: string | undefined,
    size: number
  ) => Promise<{ items: object[], templates: object[], last: string | undefined }>
  /** The resource that a request for the URI is about, with the scopes it requires; undefined where there is none. */
  targetFor: (uri: string, call: Call) => Target<FoundResource> | undefined
  /** Reads it, as `resources/read` with these params would: a question of an upstream is a result, too. */
  readFor: (found: FoundResource, params: Params & { uri: string }, call: Call) => Promise<Record<string, unknown>>
  /** The error for a URI of which there is no resource. */
  unknownFor: (uri: string, call: Call) => McpError
}

/** Finds what is read by a URI that belongs to something larger, such as a skill. */
export type FindPart = (view: string | undefined, uri: string) => Resource | undefined

export interface ResourceOptions extends SubscriptionLimits { maxUri: number }

const ByUri = Type.Object({ uri: Type.String() })
/** Up to how many characters an unknown URI is repeated whole in an error. */
const REPEATED = 2_048
const LIST_CHANGED = 'notifications/resources/list_changed'

export default fp(
  async (fastify, { maxUri, ...limits }: ResourceOptions) => {
    const { mcp } = fastify
    const { dispatcher, scopes, subscriptions } = mcp
    let findPart: FindPart = () => undefined
    const parts = mcp.views.divide('resources', view => resourcePart(mcp, view, maxUri, uri => findPart(view, uri)))

    mcp.provide('resources', {
      ...parts.whole.registry,
      subscribe: async (uri, peer) => await parts.of(peer.view).registry.subscribe(uri, peer),
      unsubscribe: (uri, peer) => parts.of(peer.view).registry.unsubscribe(uri, peer),
      ...reader(mcp, parts),
      findPartsWith: find => { findPart = find }
    })
    mcp.announce(scopes, LIST_CHANGED, () => true)
    subscriptions.watchWith(async (uri, call) => {
      const { identity, peer: { view } } = call
      const { resources, watches } = parts.of(view)
      const resource = resources.find(uri)?.resource
      const isAllowed = resource !== undefined && scopes.allows(call, 'resources', resource.uri, resource, uri) &&
        scopes.mayWatch(identity, view, resource, uri)
      return isAllowed ? await watches.acquire(uri, identity) : undefined
    })
    mcp.paginate('resources/list', 'resources', view => parts.of(view).fixedListing)
    mcp.paginate('resources/templates/list', 'resourceTemplates', view => parts.of(view).templateListing)
    fastify.addHook('onClose', async () => {
      for (const { watches } of parts.all()) watches.stopAll()
    })
    dispatcher.observers.reinitialize.add(peer => parts.of(peer.view).subscribers.removeAll(peer))
    dispatcher.capabilities.declare('resources', () => ({ subscribe: true, listChanged: true }))
    serveRead(mcp, parts)
    serveSubscribe(mcp, parts, limits)
  },
  {
    name: 'patchbay-resources',
    dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions', 'patchbay-views']
  }
)

function reader (mcp: Mcp, parts: ByView<ResourcePart>): ResourceReader {
  return {
    pageFor: async (call, after, size) => {
      const { fixedListing, templateListing } = parts.of(call.peer.view)
      const { items, last } = await fixedListing.page(after, size, call)
      const templates = after === undefined ? (await templateListing.page(undefined, size, call)).items : []
      return { items: items.map(({ listed }) => listed), templates: templates.map(({ listed }) => listed), last }
    },
    targetFor: (uri, call) => targetOf(mcp, parts, uri, call),
    readFor: async ({ resource, variables }, params, call) =>
      resource.relay === undefined
        ? { contents: (await resource.read(params.uri, variables, call)) ?? notFound(params.uri, call) }
        : await resource.relay(params, call),
    unknownFor: (uri, call) => unknownResource({ uri }, call)
  }
}

function serveRead (mcp: Mcp, parts: ByView<ResourcePart>): void {
  mcp.method('resources/read', ByUri, async ({ uri }, call, found: FoundResource | undefined) => {
    const { resource, variables } = found ?? notFound(uri, call)
    if (resource.relay !== undefined) {
      return relayed.readResult(await resource.relay(call.params, call), call.revision, mostHints(call))
    }
    const contents = await resource.read(uri, variables, call) ?? notFound(uri, call)
    return call.revision.cached(
      { contents: convert.contents(contents, call.revision.features) },
      { ttlMs: 0, cacheScope: 'private', ...resource.cache }
    )
  }, { target: ({ uri }, call) => targetOf(mcp, parts, uri, call), unknown: unknownResource })
}

/**
 * The most that a client may keep of what an upstream allows to keep: what was asked for may depend on the caller, and
 * on its answers.
 */
function mostHints ({ identity, params }: Call): CacheHints {
  const isRetry = 'inputResponses' in params || 'requestState' in params
  return {
    ttlMs: isRetry ? 0 : Infinity,
    cacheScope: identity.principal === undefined && hasAllScopes(identity) && !isRetry ? 'public' : 'private'
  }
}

function serveSubscribe (
  mcp: Mcp,
  parts: ByView<ResourcePart>,
  { maxSubscriptions, maxSubscriptionText }: SubscriptionLimits
): void {
  mcp.method(
    'resources/subscribe',
    ByUri,
    async ({ uri }, call, found: FoundResource | undefined) => {
      const {
        peer: { subscriptions, subscriptionTextLength },
        conversation
      } = call
      if (conversation.replaced) {
        throw errors.invalidRequest('the client has sent initialize again since; subscribe again')
      }
      if (found === undefined) notFound(uri, call)
      const isNew = !subscriptions.has(uri)
      if (isNew && subscriptions.size >= maxSubscriptions) throw errors.noMoreSubscriptions(maxSubscriptions)
      if (isNew && subscriptionTextLength + uri.length > maxSubscriptionText) {
        throw errors.tooLongSubscriptions(maxSubscriptionText)
      }
      if (!(await parts.of(call.peer.view).subscribers.add(uri, call.peer))) notFound(uri, call)
      return {}
    },
    { target: ({ uri }, call) => targetOf(mcp, parts, uri, call), unknown: unknownResource }
  )

  mcp.method(
    'resources/unsubscribe',
    ByUri,
    ({ uri }, { peer }) => {
      parts.of(peer.view).subscribers.remove(uri, peer)
      return {}
    },
    { scopes: [] }
  )
}

function targetOf (
  { scopes }: Mcp,
  parts: ByView<ResourcePart>,
  uri: unknown,
  call: Call
): Target<FoundResource> | undefined {
  const found = typeof uri === 'string' ? parts.of(call.peer.view).find(uri, call) : undefined
  if (found === undefined) return undefined
  const { resource } = found
  const target = scopes.targetFor('resources', resource.uri, resource, call, uri as string)
  return target && { ...target, item: found }
}

function notFound (uri: string, call: Call): never {
  throw unknownResource({ uri }, call)
}

/** Repeats the URI, shortened when it is too long to be that of a resource. */
function unknownResource (params: Params, { revision }: Call): McpError {
  const uri = String(params.uri)
  return errors.resourceNotFound(uri.length > REPEATED ? shorten(uri) : uri, revision.unknownResource)
}
