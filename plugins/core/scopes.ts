import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Collection, Filter } from '../../protocol/definitions/collection.js'
import type { Relayed } from '../../protocol/definitions/common-members.js'
import { DEFAULT_SCOPES, grants, hasAllScopes, type Identity } from '../../protocol/wire/identity.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import { Listeners } from '../../lib/listeners.js'
import { didYouMean } from '../../lib/nearest-name.js'
import type { PreparedResult } from '../../protocol/wire/result.js'
import type { AuditSubject, Target } from '../../protocol/dispatch/target.js'

declare module './mcp.js' {
  interface Mcp {
    /**
     * The scopes that a tool, resource or prompt requires: those of the operator's options, or else those of its
     * definition.
     */
    scopes: {
      /** The scopes that a request for the item requires. */
      target: <T extends Scoped>(kind: Kind, key: string, item: T) => Target<T>
      /** The scopes for the item of a collection that a request names; undefined when there is none. */
      targetIn: <T extends Scoped & { readonly name: string }>(
        kind: Kind,
        collection: Collection<T>,
        key: unknown,
        call: Call
      ) => Target<T> | undefined
      /** False for an item that a caller may not use, that a rule hides, or that its request is narrowed not to see. */
      allows: (caller: Allowed, kind: Kind, key: string, item: Scoped, uri?: string) => boolean
      /** True where rules may hide something. */
      readonly hasRules: boolean
      /** True for an item that a rule hides from the callers of a view. */
      hides: (...seen: Parameters<FindHiding>) => boolean
      /** True where rules let the callers of a view subscribe to a resource by this URI, which no approval can. */
      mayWatch: MayWatch
      /**
       * The target of a call, with the scopes that it requires; undefined where a rule hides it, which the call
       * remembers, or where the call is narrowed not to see it. `uri` is that of a request which a template opens.
       */
      targetFor: <T extends Scoped>(kind: Kind, key: string, item: T, call: Call, uri?: string) => Target<T> | undefined
      /** "; did you mean ...?" with an item of the collection that the caller may see, or nothing. */
      suggest: <T extends Scoped>(name: string, kind: Kind, collection: Collection<T>, call: Call) => string
      /** A collection as the caller may see it. */
      listing: <T extends Scoped>(kind: Kind, collection: Collection<T>) => Listing<T>
      /** Sets what finds the rule that hides something from a caller, and what decides about subscriptions, if any. */
      hideWith: (findHiding: FindHiding | undefined, mayWatch?: MayWatch) => void
      /** The targets of the operator's scopes, such as `tools/calculate`. */
      names: () => string[]
      /** Replaces the operator's scopes. */
      replaceScopes: (scopes: ScopeOptions['scopes']) => void
      /** Runs when callers may see other items than before. Returns how to remove the listener. */
      onChange: (listener: () => void) => () => void
    }
  }
}

/** The caller of a request, the view that its client sees, and what the request is narrowed to. */
export interface Allowed {
  readonly identity: Identity
  readonly peer: { readonly view?: string | undefined }
  readonly channel: Pick<Call['channel'], 'narrowing'>
}

export type Kind = 'tools' | 'resources' | 'prompts'

/** An item whose definition may name the scopes it requires. */
export interface Scoped extends Pick<Relayed, 'upstream' | 'accessName' | 'scopeNames' | 'viewScopes'> {
  readonly scopes: readonly string[] | undefined
  /** The definition that a caller gets which may not know all that `listed` says. */
  readonly listedFor?: (identity: Identity) => Record<string, unknown>
}

/**
 * Finds the name of the rule that hides an item from the callers of a view; undefined where it exists for them. `uri`
 * is that of a request which a template opens.
 */
export type FindHiding = (
  identity: Identity,
  view: string | undefined,
  kind: Kind,
  key: string,
  item: Scoped,
  uri?: string
) => string | undefined

/** Decides about a subscription to a resource by a URI. */
export type MayWatch = (
  identity: Identity,
  view: string | undefined,
  resource: Scoped & { uri: string },
  uri: string
) => boolean

/** The decisions of rules, with a number that changes when these do. */
interface Hiding { edition: number, findHiding: FindHiding | undefined, mayWatch: MayWatch | undefined }

interface Listing<T> {
  readonly derived: Map<string, PreparedResult>
  mostHints: () => CacheHints | undefined
  page: (after: string | undefined, size: number, call: Call) => { items: T[], last: string | undefined }
}

export interface ScopeOptions { scopes: Record<string, readonly string[]> }

const AUDIT_SUBJECT: Record<Kind, (key: string) => AuditSubject> = {
  tools: tool => ({ tool }),
  resources: resource => ({ resource }),
  prompts: prompt => ({ prompt })
}

/** The most names that are suggested for one without its prefix. */
const MAX_SUGGESTED = 3

/**
 * A suggestion for the name that an upstream gave an item, with the names it is listed under; undefined when no
 * upstream has it.
 */
function withPrefix (name: string, keys: string[], isVisible: (key: string) => boolean): string | undefined {
  if (name === '') return undefined
  const known: string[] = []
  for (const key of keys) {
    if (!key.endsWith(name) || !key.endsWith(`__${name}`) || !isVisible(key)) continue
    known.push(`"${key}"`)
    if (known.length === MAX_SUGGESTED) break
  }
  return known.length === 0 ? undefined : `; did you mean ${known.join(' or ')}?`
}

function suggestionFor<T> (
  name: string,
  collection: Collection<T>,
  isAllowed: (key: string, item: T) => boolean
): string {
  const isVisible = (key: string): boolean => {
    const item = collection.get(key)
    return item !== undefined && isAllowed(key, item)
  }
  return withPrefix(name, collection.keys(), isVisible) ?? didYouMean(name, collection.keys(), isVisible)
}

function targetOf<T extends Scoped> (
  kind: Kind,
  key: string,
  item: T,
  operatorScopes: ReadonlyMap<string, readonly string[]>
): Target<T> {
  const { upstream, accessName = key, scopeNames = [accessName], viewScopes = [] } = item
  const scopeName = scopeNames.find(name => operatorScopes.has(`${kind}/${name}`))
  const own = operatorScopes.get(`${kind}/${scopeName}`) ?? item.scopes ?? DEFAULT_SCOPES
  const subject = AUDIT_SUBJECT[kind](accessName)
  return {
    auditSubject: upstream === undefined ? subject : { ...subject, upstream },
    accessName,
    ruled: { kind, key, item },
    scopes: viewScopes.length === 0 ? own : [...new Set([...own, ...viewScopes])],
    item
  }
}

/** Pages of a collection. Those that anonymous callers share are prepared again after a change of `edition`. */
function listingOf<T extends Scoped> (
  collection: Collection<T>,
  allows: (call: Call, key: string, item: T) => boolean,
  present: { readonly edition: number, readonly findHiding: FindHiding | undefined }
): Listing<T> {
  let edition = present.edition
  return {
    get derived () {
      if (edition !== present.edition) collection.derived.clear()
      edition = present.edition
      return collection.derived
    },
    mostHints: () => collection.mostHints,
    page: (after, size, call) => {
      if (hasAllScopes(call.identity) && call.channel.narrowing === undefined && present.findHiding === undefined) {
        return collection.page(after, size)
      }
      const filter: Filter<T> = (key, item) => allows(call, key, item)
      const { items, last } = collection.page(after, size, filter)
      return { items: items.map(item => asSeenBy(item, call.identity)), last }
    }
  }
}

function replaceRules (hiding: Hiding, findHiding: FindHiding | undefined, mayWatch?: MayWatch): void {
  Object.assign(hiding, { findHiding, mayWatch, edition: hiding.edition + 1 })
}

const asSeenBy = <T extends Scoped>(item: T, identity: Identity): T =>
  item.listedFor === undefined ? item : { ...item, listed: item.listedFor(identity) }

export default fp(async ({ mcp }, { scopes }: ScopeOptions) => {
  let operatorScopes = new Map(Object.entries(scopes))
  let targets = new WeakMap<Scoped, Target>()
  const hiding: Hiding = { edition: 0, findHiding: undefined, mayWatch: undefined }
  const listeners = new Listeners<[]>(mcp.dispatcher.observers.reporter('scopes.onChange'))

  mcp.provide('scopes', {
    target,
    targetIn: (kind, collection, key, call) => {
      const item = typeof key === 'string' ? collection.get(key) : undefined
      // A relayed item may be found by another name; what it requires goes by the one it is listed with.
      return item === undefined ? undefined : targetFor(kind, item.name, item, call)
    },
    targetFor,
    allows,
    get hasRules () { return hiding.findHiding !== undefined },
    hides: (...seen) => hiding.findHiding?.(...seen) !== undefined,
    mayWatch: (...watched) => hiding.mayWatch?.(...watched) ?? true,
    suggest: (name, kind, collection, call) =>
      suggestionFor(name, collection, (key, item) => allows(call, kind, key, item)),
    listing: (kind, collection) => listingOf(collection, (call, key, item) => allows(call, kind, key, item), hiding),
    hideWith: (...rules) => replaceRules(hiding, ...rules),
    names: () => [...operatorScopes.keys()],
    replaceScopes: scopes => {
      operatorScopes = new Map(Object.entries(scopes))
      targets = new WeakMap()
      listeners.notify()
    },
    onChange: listener => listeners.add(listener)
  })

  function target<T extends Scoped> (kind: Kind, key: string, item: T): Target<T> {
    const known = targets.get(item)
    if (known !== undefined) return known as Target<T>
    const target = targetOf(kind, key, item, operatorScopes)
    targets.set(item, target)
    return target
  }

  function targetFor<T extends Scoped> (
    kind: Kind,
    key: string,
    item: T,
    call: Call,
    uri?: string
  ): Target<T> | undefined {
    if (call.channel.narrowing?.keeps(kind, item) === false) return undefined
    const found = target(kind, key, item)
    const rule = hiding.findHiding?.(call.identity, call.peer.view, kind, key, item, uri)
    if (rule === undefined) return found
    call.ruled = { rule, hidden: found }
    return undefined
  }

  function allows ({ identity, channel, peer }: Allowed, kind: Kind, key: string, item: Scoped, uri?: string): boolean {
    return grants(identity, target(kind, key, item).scopes) && channel.narrowing?.keeps(kind, item) !== false &&
      hiding.findHiding?.(identity, peer.view, kind, key, item, uri) === undefined
  }
}, { name: 'patchbay-scopes', dependencies: ['patchbay-mcp'] })
