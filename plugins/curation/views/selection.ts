import { fitsGlob, mayFitFrom } from '../../../lib/glob.js'
import { tryDecode } from '../../../lib/network.js'
import type { ToolOverride, ToolOverrides } from '../../../protocol/definitions/overrides/override.js'
import type { ResultOptions } from '../../../protocol/definitions/result-options.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Kind } from '../../core/scopes.js'
import type { Selected, UpstreamNames } from '../../core/views.js'

/** One view, as the option `views` has it. */
export interface ViewDefinition {
  readonly description?: string
  readonly servers?: readonly string[]
  readonly tools?: readonly string[]
  readonly resources?: readonly string[]
  readonly prompts?: readonly string[]
  readonly exclude?: readonly string[]
  readonly readOnly?: boolean
  readonly names?: 'long' | 'short'
  readonly scopes?: readonly string[]
  readonly instructions?: string
  readonly resourcesAsTools?: boolean
  readonly results?: ResultOptions
  readonly search?: boolean | { readonly always?: readonly string[], readonly limit?: number }
  readonly override?: ToolOverrides
}

/** How the tools of a view are found: those that are listed all the same, and how many a search finds. */
export interface SearchDefinition { readonly always: readonly string[], readonly limit: number }

/** How many tools a search finds where neither it nor the view says. */
const DEFAULT_HITS = 8

/** The views of a gateway, by name. */
export type ViewDefinitions = Readonly<Record<string, ViewDefinition>>

/** True for an item of the whole gateway that is in a view. */
export function includes (definition: ViewDefinition, kind: Kind, item: Selected): boolean {
  return isNamed(definition, kind, canonicalNames(kind, item), item.upstream) && !excludes(definition, kind, item)
}

/** True for an item that `exclude` or `readOnly` takes away. */
export function excludes (definition: ViewDefinition, kind: Kind, item: Selected): boolean {
  const { exclude = [], readOnly = false } = definition
  return (kind === 'tools' && readOnly && !isReadOnly(definition, item)) || fitAny(exclude, canonicalNames(kind, item))
}

/** False when nothing of an upstream can be in a view. */
export function mayShow (
  { servers, tools = [], prompts = [], resources = [], ...rest }: ViewDefinition,
  { alias, prefix = `${alias}__` }: UpstreamNames
): boolean {
  return (
    namesNothing({ servers, tools, prompts, resources, ...rest } as ViewDefinition) ||
    fitAny(servers ?? [], [alias]) ||
    [...tools, ...prompts].some(pattern => mayFitFrom(pattern, prefix)) ||
    resources.some(pattern => mayFitFrom(pattern, `${alias}+`))
  )
}

/**
 * The names that an item has in the operator's options, the first of which is the one in the audit log. A resource of
 * an upstream is named by its URI behind the alias, a tool or prompt also by its long name where that was cut.
 */
export function canonicalNames (kind: Kind, { name, uri, accessName, scopeNames }: Selected): readonly string[] {
  const own = accessName ?? name ?? uri ?? ''
  if (kind === 'resources') return [scopeNames?.[0] ?? own]
  return scopeNames ?? [own]
}

/** How a view changes the look of an item; undefined where it does not. Only tools are changed. */
export function overrideOf (
  { override }: ViewDefinition,
  item: Selected & { readonly kind?: string }
): ToolOverride | undefined {
  if (override === undefined || (item.kind ?? 'tool') !== 'tool') return undefined
  const name = canonicalNames('tools', item).find(each => Object.hasOwn(override, each))
  return name === undefined ? undefined : override[name]
}

/** True for a URI behind a template that is not in the view, though the template is; however it is spelled. */
export function excludesUri ({ exclude = [] }: ViewDefinition, upstream: string | undefined, uri: string): boolean {
  return exclude.length > 0 && fitAny(exclude, spellingsOf(uri).map(spelling => qualified(upstream, spelling)))
}

/** True for a resource that is not listed, by a URI that is in the view however it is spelled. */
export function includesUri (definition: ViewDefinition, item: Selected, uri: string): boolean {
  return spellingsOf(uri).every(spelling =>
    includes(definition, 'resources', { ...item, scopeNames: [qualified(item.upstream, spelling)] })
  )
}

/** True when URIs that begin so may be taken away. */
export function mayExcludeFrom (
  { exclude = [] }: ViewDefinition,
  upstream: string | undefined,
  start: string
): boolean {
  return exclude.some(pattern => mayFitFrom(pattern, qualified(upstream, start)))
}

/** The patterns of a view that are compared with names, by the field that has them. */
export function patternsOf (
  definition: ViewDefinition
): Array<{ field: Kind | 'servers' | 'exclude' | 'search.always' | 'override', pattern: string }> {
  const always = searchIn(definition)?.always ?? []
  return [
    ...(['servers', 'tools', 'resources', 'prompts', 'exclude'] as const).flatMap(field =>
      (definition[field] ?? []).map(pattern => ({ field, pattern }))
    ),
    ...always.map(pattern => ({ field: 'search.always' as const, pattern })),
    ...Object.keys(definition.override ?? {}).map(pattern => ({ field: 'override' as const, pattern }))
  ]
}

/** How the tools of a view are found; undefined where they are listed. */
export function searchIn ({ search = false }: ViewDefinition): SearchDefinition | undefined {
  if (search === false) return undefined
  const { always = [], limit = DEFAULT_HITS } = search === true ? {} : search
  return { always, limit }
}

/** The URI as operators write it: behind the alias of the upstream, if it is of one. */
const qualified = (upstream: string | undefined, uri: string): string =>
  upstream === undefined || uri.startsWith(`${upstream}+`) ? uri : `${upstream}+${uri}`

/**
 * A URI, and what a server may take it for: decoded, decoded twice, without its dot segments, doubled slashes, query
 * and fragment.
 */
function spellingsOf (uri: string): string[] {
  const once = decode(uri)
  const texts = [uri, once, decode(once)]
  const shorter = texts.map(text => text.replace(/[?#].*$/s, ''))
  return [...new Set([...texts, ...shorter].flatMap(text => [text, withoutDots(text)]))]
}

/** Decodes what can be decoded. */
const decode = (uri: string): string => uri.replace(/(?:%[0-9a-f]{2})+/gi, encoded => tryDecode(encoded) ?? encoded)

/** The URI without the segments `.` and `..` and without empty ones in its path. */
function withoutDots (uri: string): string {
  const [start, path] = splitPath(uri)
  const segments: string[] = []
  for (const segment of path.split(/[/\\]+/)) {
    if (segment === '..') segments.pop()
    else if (segment !== '.') segments.push(segment)
  }
  return start + segments.join('/')
}

/** The scheme with its slashes, and the rest. */
function splitPath (uri: string): [start: string, path: string] {
  const { length } = /^[^/]*:\/*/.exec(uri)?.[0] ?? ''
  return [uri.slice(0, length), uri.slice(length)]
}

/** Adds up `servers` and the list of the kind; an empty list is none of it, and a view that names nothing has all. */
function isNamed (
  definition: ViewDefinition,
  kind: Kind,
  names: readonly string[],
  upstream: string | undefined
): boolean {
  const { servers = [], [kind]: listed } = definition
  if (listed?.length === 0) return false
  if (namesNothing(definition)) return true
  return (upstream !== undefined && fitAny(servers, [upstream])) || fitAny(listed ?? [], names)
}

const namesNothing = ({ servers, tools = [], resources = [], prompts = [] }: ViewDefinition): boolean =>
  servers === undefined && tools.length + resources.length + prompts.length === 0

function isReadOnly (definition: ViewDefinition, item: Selected): boolean {
  const { annotations } = item.listed
  const hint = isObject(annotations) ? annotations.readOnlyHint : undefined
  return (overrideOf(definition, item)?.annotations?.readOnlyHint ?? hint) === true
}

/** True when one of the names fits one of the patterns. */
export const fitAny = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some(pattern => names.some(name => fitsGlob(pattern, name)))
