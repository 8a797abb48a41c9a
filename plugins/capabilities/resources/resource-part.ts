import { Listeners } from '../../../lib/listeners.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Source } from '../../../protocol/definitions/collection.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import { resourceListing } from '../../../protocol/definitions/resource-listing.js'
import { ResourceSet, type FoundResource } from '../../../protocol/definitions/resource-set.js'
import { Subscribers } from '../../../protocol/definitions/subscriptions/subscribers.js'
import { WatchCount } from '../../../protocol/definitions/subscriptions/watch-count.js'
import type { CacheHints } from '../../../protocol/revisions/revision.js'
import { grants, hasAllScopes, type Identity } from '../../../protocol/wire/identity.js'
import type { Peer } from '../../../protocol/peer/peer.js'
import type { Mcp } from '../../core/mcp.js'
import type { Listing } from '../pagination.js'
import type { MayKnow } from '../subscriptions.js'

/**
 * Finds a resource that is not listed, for one caller; with the template of an upstream that matches, only what takes
 * precedence over it.
 */
export type FindUnlisted = (uri: string, call: Call, template?: Resource) => Resource | undefined

/** The members with which authors add resources and announce their changes. */
export interface ResourceRegistry {
  add: (resource: Resource) => void
  /**
   * Puts it in the place of the one of its URI or template, if there is one; what is watched for subscribers is watched
   * by it from now on.
   */
  replace: (resource: Resource) => void
  /** By the URI or template it was added with. */
  remove: (uri: string) => boolean
  get: (uri: string) => Resource | undefined
  /** Finds what is listed under a URI, or the template that it fits. */
  find: (uri: string) => Resource | undefined
  /**
   * Removes and puts many resources of an upstream; clients hear of it once. Local ones of the same URI win, and their
   * URIs are returned.
   */
  relay: (removed: readonly Resource[], resources: readonly Resource[]) => string[]
  /** Sets how long clients may keep the list of templates at most, as upstreams say; undefined when they do not. */
  limitCaching: (hints: CacheHints | undefined) => void
  /** Sets the function that finds resources which are not listed, such as those that results of upstreams link to. */
  findUnlistedWith: (find: FindUnlisted) => void
  /** The URIs and templates, in order. */
  uris: () => string[]
  /** All resources and templates, and when they change. */
  readonly sources: { readonly fixed: Source<Resource>, readonly templates: Source<Resource> }
  /** Finds a resource that is not listed, for one caller. */
  findUnlisted: FindUnlisted
  /** Notifies the subscribers that the contents changed; with `mayKnow` only those whose principal it accepts. */
  updated: (uri: string, mayKnow?: MayKnow) => void
  /**
   * Notifies all clients that the resources behind a template changed; with `mayKnow` only those whose principal it
   * accepts.
   */
  listChanged: (mayKnow?: MayKnow) => void
  /** Runs when `updated` was called. Returns how to remove the listener. */
  onUpdated: (listener: (uri: string, mayKnow?: MayKnow) => void) => () => void
  /** Runs when `listChanged` was called. Returns how to remove the listener. */
  onListChanged: (listener: (mayKnow?: MayKnow) => void) => () => void
  /** Subscribes a peer to a URI until the peer is closed; false when there is no such resource. */
  subscribe: (uri: string, peer: Peer) => Promise<boolean>
  unsubscribe: (uri: string, peer: Peer) => void
}

/** The resources of the gateway or of one of its views, and those who are subscribed to them. */
export interface ResourcePart {
  readonly resources: ResourceSet
  readonly watches: WatchCount
  readonly subscribers: Subscribers
  readonly registry: ResourceRegistry
  readonly fixedListing: Listing
  readonly templateListing: Listing
  /** The resource of a URI for a caller, listed or not. */
  find: (uri: string, call: Call) => FoundResource | undefined
  clear: () => void
}

type FindPart = (uri: string) => Resource | undefined

const LIST_CHANGED = 'notifications/resources/list_changed'

/**
 * Makes the part of one view, or of the whole gateway where `view` is undefined. `findPart` finds what is read by a URI
 * that is not listed.
 */
export function resourcePart (mcp: Mcp, view: string | undefined, maxUri: number, findPart: FindPart): ResourcePart {
  const { dispatcher: { observers }, scopes } = mcp
  const resources = new ResourceSet(maxUri, observers.reporter('resources'), findPart)
  const { fixed, templates } = resources
  const listeners = new Listeners<[mayKnow?: MayKnow]>(observers.reporter('resources.listChanged'))
  const updates = new Listeners<[uri: string, mayKnow?: MayKnow]>(observers.reporter('resources.updated'))
  const watches = new WatchCount(async (uri, identity) =>
    await startWatch(resources.find(uri)?.resource, uri, () => updated(uri), identity))
  const subscribers = new Subscribers(watches)
  const updated = (uri: string, mayKnow?: MayKnow): void =>
    notifySubscribers(mcp, view, { resources, subscribers }, uri, mayKnow)
  updates.add(updated)
  let findUnlisted: FindUnlisted = () => undefined
  for (const source of [fixed, templates]) mcp.announce(source, LIST_CHANGED, of => of === view)
  mcp.announce({ onChange: listener => listeners.add(listener) }, LIST_CHANGED, of => of === view)
  const isAllowed = (call: Call, resource: Resource, uri?: string): boolean =>
    scopes.allows(call, 'resources', resource.uri, resource, uri)
  return {
    resources,
    watches,
    subscribers,
    registry: {
      add: resource => resources.add(resource),
      replace: resource => {
        resources.replace(resource)
        watches.restart(uri => resources.find(uri)?.resource === resource)
      },
      remove: uri => resources.remove(uri),
      get: uri => resources.get(uri),
      find: uri => resources.find(uri)?.resource,
      relay: (removed, items) => resources.relay(removed, items),
      limitCaching: hints => { templates.mostHints = hints },
      findUnlistedWith: find => { findUnlisted = find },
      uris: () => resources.uris(),
      sources: { fixed, templates },
      findUnlisted: (uri, call, template) => findUnlisted(uri, call, template),
      updated: (uri, mayKnow) => updates.notify(uri, mayKnow),
      listChanged: mayKnow => listeners.notify(mayKnow),
      onUpdated: listener => updates.add(listener),
      onListChanged: listener => listeners.add(listener),
      subscribe: async (uri, peer) => await subscribers.add(uri, peer),
      unsubscribe: (uri, peer) => subscribers.remove(uri, peer)
    },
    fixedListing: resourceListing(scopes.listing('resources', fixed), templates, isAllowed),
    templateListing: scopes.listing('resources', templates),
    find,
    clear: () => {
      resources.clear()
      watches.stopAll()
    }
  }

  function find (uri: string, call: Call): FoundResource | undefined {
    const listed = resources.find(uri)
    if ((listed !== undefined && !isByTemplateOfUpstream(listed)) || uri.length > maxUri) return listed
    const resource = findUnlisted(uri, call, listed?.resource)
    if (resource?.guessed !== true) return resource === undefined ? listed : { resource, variables: {} }
    return guessedFor(resource, resources, call, scopes)
  }
}

/** Notifies those who are subscribed to a resource, unless the view has lost it, or rules do not allow it by now. */
function notifySubscribers (
  { subscriptions, scopes }: Mcp,
  view: string | undefined,
  { resources, subscribers }: Pick<ResourcePart, 'resources' | 'subscribers'>,
  uri: string,
  mayKnow: MayKnow = () => true
): void {
  const found = resources.find(uri)?.resource
  if (view !== undefined && found === undefined) return
  const maySee: MayKnow = (principal, identity) => mayKnow(principal, identity, view) &&
    (found === undefined || scopes.mayWatch(identity, view, found, uri))
  for (const peer of subscribers.of(uri)) {
    if (maySee(peer.principal, peer.identity, view)) peer.notify('notifications/resources/updated', { uri })
  }
  subscriptions.updated(uri, maySee, view)
}

async function startWatch (
  resource: Resource | undefined,
  uri: string,
  changed: () => void,
  identity: Identity
): Promise<(() => void) | undefined> {
  if (resource === undefined) return undefined
  const { watch, relayWatch } = resource
  if (relayWatch !== undefined) return await relayWatch(uri, changed, identity)
  return watch === undefined ? () => {} : await watch(uri, changed)
}

const isByTemplateOfUpstream = ({ resource: { upstream, template } }: FoundResource): boolean =>
  upstream !== undefined && template !== undefined

/** A resource that nothing but the request says is there, as far as the caller may try it. */
function guessedFor (
  resource: Resource,
  resources: ResourceSet,
  call: Call,
  scopes: Mcp['scopes']
): FoundResource | undefined {
  return hidesSome(resource, resources, call, scopes)
    ? undefined
    : { resource: withScopes(resource, resources, call, scopes), variables: {} }
}

/** True when a rule hides something of the same upstream: a URI that a client made up may be another spelling of it. */
function hidesSome (
  { upstream }: Resource,
  { fixed, templates }: ResourceSet,
  { identity, peer }: Call,
  scopes: Mcp['scopes']
): boolean {
  return scopes.hasRules && [...fixed.values(), ...templates.values()].some(listed =>
    listed.upstream === upstream && scopes.hides(identity, peer.view, 'resources', listed.uri, listed))
}

/**
 * A URI that a client made up may be another spelling of one that it may not read, so it needs the scopes of all that
 * is listed.
 */
function withScopes (
  resource: Resource,
  { fixed, templates }: ResourceSet,
  call: Call,
  scopes: Mcp['scopes']
): Resource {
  const all = hasAllScopes(call.identity) ? [] : [...fixed.values(), ...templates.values()]
  // Not what the request is narrowed to: that takes nothing away from what is needed.
  const needed = (listed: Resource): readonly string[] => scopes.target('resources', listed.uri, listed).scopes
  const hidden = all.find(listed => !grants(call.identity, needed(listed)))
  return hidden === undefined ? resource : { ...resource, scopes: needed(hidden) }
}
