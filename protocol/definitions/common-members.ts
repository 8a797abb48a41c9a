import type { Call } from '../dispatch/call.js'
import type { Identity } from '../wire/identity.js'
import type { Params } from '../wire/jsonrpc.js'

/** Answers a request with the result of an upstream, verbatim. Its errors stay errors. */
export type Relay = (params: Params, call: Call) => Promise<Record<string, unknown>>

/** Members that tools, prompts and resources of an upstream have, and local ones have not. */
export interface Relayed {
  /** Answers in place of the functions of an author: arguments and results are not checked. */
  readonly relay?: Relay | undefined
  /** Answers `completion/complete` for it. */
  readonly relayCompletion?: Relay | undefined
  /** Watches it at the upstream, on behalf of a caller; resolves to how to stop. */
  readonly relayWatch?: ((uri: string, changed: () => void, identity: Identity) => Promise<() => void>) | undefined
  /** The alias of the upstream. */
  readonly upstream?: string | undefined
  /**
   * The name, or URI, that it has in the operator's options such as `scopes` and `toolRates`, where it is listed by
   * another one: in a view.
   */
  readonly accessName?: string | undefined
  /** Its names, or URIs, in the option `scopes`, where it has several: the first that is set there counts. */
  readonly scopeNames?: readonly string[] | undefined
  /** The scopes that the view asks for which it is in, besides its own. */
  readonly viewScopes?: readonly string[] | undefined
  /** The name that its upstream gave it. */
  readonly ownName?: string | undefined
  /** True when nothing but the request of a client says that the upstream has it. */
  readonly guessed?: boolean | undefined
  /** The place of the upstream among the others: the lowest wins. */
  readonly rank?: (() => number) | undefined
  /** Other names under which it is found, but not listed. */
  readonly spellings?: readonly string[] | undefined
}

/** The name of a tool or prompt in the operator's options, however it is listed. */
export const canonicalName = ({ accessName, name }: Pick<Relayed, 'accessName'> & { readonly name: string }): string =>
  accessName ?? name

/** The members of an item by which operators name it. */
interface Named extends Pick<Relayed, 'accessName' | 'scopeNames'> {
  readonly name?: string
  readonly uri?: string
}

/**
 * The names that an item has in the operator's options, the first of which is the one in the audit log. A resource of
 * an upstream is named by its URI behind the alias, a tool or prompt also by its long name where that was cut.
 */
export function canonicalNames (
  kind: 'tools' | 'resources' | 'prompts',
  { name, uri, accessName, scopeNames }: Named
): readonly string[] {
  const own = accessName ?? name ?? uri ?? ''
  if (kind === 'resources') return [scopeNames?.[0] ?? own]
  return scopeNames ?? [own]
}

const PAGE = 'ui://'

/**
 * The URI of the page of an app whose own URI leads to another server: the alias stands behind the scheme, because
 * clients take no page whose URI does not begin with it.
 */
export const qualifiedPage = (upstream: string, uri: string): string => `${PAGE}${upstream}+${uri.slice(PAGE.length)}`

/** The URI as operators write it: behind the alias of the upstream, if it is of one. */
export function qualifiedUri (upstream: string | undefined, uri: string): string {
  if (upstream === undefined || uri.startsWith(`${upstream}+`)) return uri
  const page = qualifiedPage(upstream, PAGE)
  return `${upstream}+${uri.startsWith(page) ? PAGE + uri.slice(page.length) : uri}`
}

/** Suggests values for one argument, given what was typed so far and the other arguments. */
export type Completer = (typed: string, others: Record<string, string>, call: Call) => string[] | Promise<string[]>

export type Completers = Record<string, Completer>
