import type { Resource } from '../../protocol/definitions/resource.js'
import { SKILL_FILE, type Skill } from '../../protocol/definitions/skill.js'
import { MAX_URI } from '../../protocol/definitions/uri-template.js'
import { qualifiedPage } from '../../protocol/definitions/common-members.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { DEFAULT_SCOPES, grants } from '../../protocol/wire/identity.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'
import { isPartOf } from './first-reads.js'
import type { ListGateway, MayShow, MissingTool } from './gateway.js'
import { prefixesOf } from './offers/names.js'
import { qualifyUri, unlistedResource } from './offers/resource-definitions.js'
import { unlistedSkill } from './offers/skill-definitions.js'
import type { UpstreamOrigin } from './origin.js'
import type { Links } from './result-links.js'
import type { UpstreamLists } from './upstream-lists.js'

/**
 * True when the request of a client can only mean this upstream, by the view or by the name, and the client may use it.
 */
export function isNamedBy ({ peer: { view }, identity, params }: Call, entry: ServerEntry, mayShow: MayShow): boolean {
  const { alias, prefix, scopes = DEFAULT_SCOPES } = entry
  if (!grants(identity, scopes) || !mayShow(view, entry)) return false
  if (view === alias) return true
  const { name, uri } = isObject(params.ref) ? params.ref : params
  const { whole, short } = prefixesOf({ alias, prefix })
  return startsWith(name, whole) || startsWith(name, short) || startsWith(uri, qualifyUri(alias, ''))
}

interface Served { readonly lists: Pick<UpstreamLists, 'upstream' | 'offered'> }

/** The tool that a client named, where an upstream that the client may use has it, and it was left out. */
export function findLeftOut (
  name: string,
  call: Call,
  all: Iterable<Served>,
  mayShow: MayShow
): MissingTool | undefined {
  for (const {
    lists: {
      upstream: { entry },
      offered
    }
  } of all) {
    const found = isPartOf(call, entry, mayShow)
      ? offered.tools.leftOut(name, call.peer.view === entry.alias)
      : undefined
    if (found !== undefined) {
      const { name, accessName = name } = found.name
      return { upstream: entry.alias, accessName, scopes: entry.scopes, why: found.why }
    }
  }
  return undefined
}

/** The hops that what a caller sees may have come over. */
export function hopsFor (
  call: Call,
  all: Iterable<{ readonly lists: Pick<UpstreamLists, 'upstream' | 'hops'> }>,
  mayShow: MayShow
): string[] {
  const visible = [...all].filter(({ lists }) => isPartOf(call, lists.upstream.entry, mayShow))
  return [...new Set(visible.flatMap(({ lists }) => lists.hops.all))]
}

/**
 * A resource that no list has. A link is of one URI and one caller, a template of any: who handed a link out serves it,
 * unless the template is its own, which may have scopes of its own.
 */
export function findUnlisted (
  uri: string,
  { principal }: Call,
  template: Resource | undefined,
  all: ReadonlyMap<string, Served & { readonly origin: UpstreamOrigin }>,
  links: Links
): Resource | undefined {
  const qualified = findPage(uri, all) ?? findFile(uri, principal, all, links)
  if (qualified !== undefined) return qualified
  const found = all.get(links.find(principal, uri) ?? '')
  const linked = found?.lists.offered.isHeldBack(uri) === true ? undefined : found
  if (template !== undefined && (linked === undefined || linked.origin.alias === template.upstream)) return undefined
  const { origin } = linked ?? [...all.values()].find(({ lists }) => lists.offered.pages.has(uri)) ?? {}
  return origin?.mayHave(uri) === true ? unlistedResource(origin, uri) : undefined
}

/** The file of a skill that a caller got by the alias in its URI. */
function findFile (
  uri: string,
  principal: string | undefined,
  all: ReadonlyMap<string, Served & { readonly origin: UpstreamOrigin }>,
  links: Links
): Resource | undefined {
  const alias = uri.slice(0, Math.max(0, uri.indexOf('+')))
  const { origin, lists } = all.get(alias) ?? {}
  if (origin === undefined || lists === undefined) return undefined
  const original = uri.slice(alias.length + 1)
  if (links.find(principal, original) !== alias || lists.offered.isHeldBack(original)) return undefined
  return unlistedResource(origin, uri, original)
}

/**
 * A skill that no list has, of the upstream that its URI or the view names: that need not list all of its skills. One
 * whose definitions are held to what was accepted has no others.
 */
export function findUnlistedSkill (
  uri: string,
  call: Call,
  all: ReadonlyMap<string, { readonly lists: Pick<UpstreamLists, 'upstream' | 'snapshot'>, readonly origin: UpstreamOrigin }>,
  mayShow: MayShow
): Skill | undefined {
  const { view } = call.peer
  const isOwn = view !== undefined && all.has(view)
  const start = isOwn && !uri.startsWith(qualifyUri(view, '')) ? '' : uri.slice(0, uri.indexOf('+') + 1)
  const { origin, lists } = all.get(start === '' ? view ?? '' : start.slice(0, -1)) ?? {}
  const original = uri.slice(start.length)
  if (origin === undefined || lists?.snapshot.skills !== true || origin.isHeld) return undefined
  if (!original.endsWith(`/${SKILL_FILE}`) || original.length > MAX_URI) return undefined
  const { entry } = lists.upstream
  if (!grants(call.identity, entry.scopes ?? DEFAULT_SCOPES) || !mayShow(view, entry)) return undefined
  return unlistedSkill(origin, original, start !== '' && !isOwn)
}

/** The page that a tool of an upstream names, and that is found by the alias in its URI alone. */
function findPage (
  uri: string,
  all: ReadonlyMap<string, Served & { readonly origin: UpstreamOrigin }>
): Resource | undefined {
  const [, alias = ''] = /^ui:\/\/([^+]*)\+/.exec(uri) ?? []
  const found = all.get(alias)
  const original = `ui://${uri.slice(qualifiedPage(alias, 'ui://').length)}`
  return found?.lists.offered.pages.has(original) === true ? unlistedResource(found.origin, uri, original) : undefined
}

/**
 * The alias of the upstream that the URI of a page leads to, '' where it is this gateway's own, undefined where it
 * leads to none. What is listed or fits a template comes before what a tool names alone.
 */
export function ownerOfPage (
  uri: string,
  { find }: Pick<ListGateway['resources'], 'find'>,
  all: Iterable<Served>
): string | undefined {
  const found = find(uri)
  if (found !== undefined) return found.upstream ?? ''
  return [...all].find(({ lists }) => lists.offered.pages.has(uri))?.lists.upstream.entry.alias
}

/** Without a prefix every name would fit. */
const startsWith = (text: unknown, prefix: string): boolean =>
  prefix !== '' && typeof text === 'string' && text.startsWith(prefix)
