import { fitsGlob, mayFitFrom } from '../../../lib/glob.js'
import { allSpellingsOf, spellingsOf } from '../../../lib/uri-spellings.js'
import { canonicalNames, qualifiedUri } from '../../../protocol/definitions/common-members.js'
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
  if (exclude.length === 0) return false
  return fitAny(exclude, allSpellingsOf(uri).map(spelling => qualifiedUri(upstream, spelling)))
}

/** Tells the URIs that a view takes away; undefined for a view that takes nothing away. */
export const excludesUriIn = (definition: ViewDefinition) =>
  definition.exclude === undefined || definition.exclude.length === 0
    ? undefined
    : (upstream: string | undefined, uri: string): boolean => excludesUri(definition, upstream, uri)

/** True for a resource that is not listed, by a URI that is in the view however it is spelled. */
export function includesUri (definition: ViewDefinition, item: Selected, uri: string): boolean {
  return !excludesUri(definition, item.upstream, uri) && spellingsOf(uri).every(spelling =>
    includes(definition, 'resources', { ...item, scopeNames: [qualifiedUri(item.upstream, spelling)] })
  )
}

/** True when URIs that begin so may be taken away. */
export function mayExcludeFrom (
  { exclude = [] }: ViewDefinition,
  upstream: string | undefined,
  start: string
): boolean {
  return exclude.some(pattern => mayFitFrom(pattern, qualifiedUri(upstream, start)))
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
