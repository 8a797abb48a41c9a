import { fitsGlob, mayFitFrom } from '../../../lib/glob.js'
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
}

/** The views of a gateway, by name. */
export type ViewDefinitions = Readonly<Record<string, ViewDefinition>>

/** True for an item of the whole gateway that is in a view. */
export function includes (definition: ViewDefinition, kind: Kind, item: Selected): boolean {
  return isNamed(definition, kind, canonicalNames(kind, item), item.upstream) && !excludes(definition, kind, item)
}

/** True for an item that `exclude` or `readOnly` takes away. */
export function excludes (
  { exclude = [], readOnly = false }: ViewDefinition,
  kind: Kind,
  item: Selected
): boolean {
  return (kind === 'tools' && readOnly && !isReadOnly(item)) || fitAny(exclude, canonicalNames(kind, item))
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

/** True for a URI behind a template that is not in the view, though the template is. */
export function excludesUri ({ exclude = [] }: ViewDefinition, upstream: string | undefined, uri: string): boolean {
  const qualified = upstream === undefined || uri.startsWith(`${upstream}+`) ? uri : `${upstream}+${uri}`
  return fitAny(exclude, [qualified])
}

/** The patterns of a view that are compared with names, by the field that has them. */
export function patternsOf (
  definition: ViewDefinition
): Array<{ field: Kind | 'servers' | 'exclude'; pattern: string }> {
  return (['servers', 'tools', 'resources', 'prompts', 'exclude'] as const).flatMap(field =>
    (definition[field] ?? []).map(pattern => ({ field, pattern }))
  )
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

const isReadOnly = ({ listed: { annotations } }: Selected): boolean =>
  isObject(annotations) && annotations.readOnlyHint === true

const fitAny = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some(pattern => names.some(name => fitsGlob(pattern, name)))
