import type { ViewDefinition } from '../../../../plugins/curation/views/selection.js'
import type { Configuration, Item, Kind } from './configuration.js'
import { ruledOf } from './ruled.js'

/** The fate of a thing for a caller: it is seen, or a scope is missing, or it does not exist. */
export type Fate = 'seen' | 'forbidden' | 'unknown'

/** The rules once more, written apart from the product: each thing of a kind, its name for the caller, and its fate. */
export function referenceOf (
  configuration: Configuration,
  kind: Kind
): Array<{ item: Item, name: string, fate: Fate, isDenied: boolean }> {
  const { items, view = {}, operator, granted, narrow, hasStatus } = configuration
  const fits = (globs: readonly string[] | undefined, ...names: string[]): boolean =>
    (globs ?? []).some(glob => {
      const text = glob.replace(/[+.]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')
      return names.some(name => new RegExp(`^${text}$`).test(name))
    })
  const isNamed = [view.tools, view.prompts, view.resources].some(globs => (globs ?? []).length > 0)
  const isReadOnly = ({ canonical, readOnly }: Item): boolean =>
    (view.override?.[canonical]?.annotations?.readOnlyHint ?? readOnly) === true
  const inView = items.filter(item => item.kind === kind).filter(({ canonical, upstream, ...rest }) =>
    view[kind]?.length !== 0 && !fits(view.exclude, canonical) &&
    (kind !== 'tools' || view.readOnly !== true || isReadOnly({ canonical, upstream, ...rest })) &&
    ((view.servers === undefined && !isNamed) || fits(view.servers, upstream ?? '') || fits(view[kind], canonical)))
  const names = namesIn(inView, view)
  return inView.map(item => {
    const { canonical, upstream = '' } = item
    const { query = [], tools = [], exclude = [], toolsets = [], readonly = false } = narrow
    // Of narrowing, `?` is no pattern.
    const named = (globs: readonly string[], ...names: string[]): boolean =>
      fits(globs.filter(glob => !glob.includes('?')), ...names)
    const [name, isOfSet] = [names.get(item) ?? '', toolsets.includes('all') || toolsets.includes(upstream)]
    const isTool = (query.length === 0 || named(query, name, canonical)) && !named(exclude, name, canonical) &&
      (tools.length + toolsets.length === 0 || named(tools, name, canonical) || isOfSet) &&
      (!readonly || isReadOnly(item))
    const isKept = kind === 'tools' ? isTool : toolsets.length === 0 || isOfSet
    const needed = [...(operator[`${kind}/${canonical}`] ?? item.scopes ?? ['mcp']), ...(view.scopes ?? [])]
    const isGranted = granted.includes('admin') || needed.every(scope => granted.includes(scope))
    const readOnly = kind === 'tools' ? isReadOnly(item) : undefined
    const { isShown, isDenied } = ruledOf(configuration, { ...item, readOnly }, sentOf(item, view))
    const fate = !isKept || !isShown ? 'unknown' : isGranted ? 'seen' : hasStatus ? 'forbidden' : 'unknown'
    return { item, name, fate, isDenied }
  })
}

/** New or short names, except where two would be the same, or one that of another: these have their long ones. */
function namesIn (items: Item[], { names: form, override }: ViewDefinition): Map<Item, string> {
  const wanted = ({ kind, canonical, own }: Item): string =>
    (kind === 'tools' ? override?.[canonical]?.name : undefined) ?? (form === 'short' ? own : canonical)
  const names = new Map(items.map(item => [item, item.kind === 'resources' ? uriOf(item) : wanted(item)]))
  if (items[0]?.kind === 'resources') return names
  const takes = (one: Item, other: Item): boolean =>
    names.get(one) !== one.canonical && [names.get(other), other.canonical].includes(names.get(one))
  const clashes = (one: Item): boolean =>
    items.some(other => other !== one && (takes(one, other) || takes(other, one)))
  for (let found = items.filter(clashes); found.length > 0; found = items.filter(clashes)) {
    for (const item of found) names.set(item, item.canonical)
  }
  return names
}

/** The argument that a tool gets of a caller who sends none. */
function sentOf ({ kind, canonical }: Item, { override }: ViewDefinition): unknown {
  const { value, default: preset } = override?.[canonical]?.arguments?.['index'] ?? {}
  return kind === 'tools' ? value ?? preset : undefined
}

/** The answer of a thing: its canonical name, and for a tool the argument that a caller does not send. */
export function answerOf ({ kind, canonical }: Item, { override }: ViewDefinition = {}): string {
  const { value = '', default: preset = '' } = override?.[canonical]?.arguments?.['index'] ?? {}
  return kind === 'tools' ? `${canonical}${String(value)}${String(preset)}` : canonical
}

/** The URI of a resource, which has no alias in front. */
export const uriOf = ({ upstream = 'own', own }: Item): string => `${upstream}:${own}`

/** The tools of search that a caller may use: narrowing takes away those that it excludes, and no others. */
export function searchToolsOf (configuration: Configuration): string[] {
  const { view, granted, narrow: { exclude = [] } } = configuration
  const needed = ['mcp', ...(view?.scopes ?? [])]
  if (!granted.includes('admin') && needed.some(scope => !granted.includes(scope))) return []
  const isOut = (name: string): boolean => exclude.includes('*') || (exclude.includes('*e*') && name.includes('e'))
  return ['call_tool', 'describe_tools', 'find_tools'].filter(name => !isOut(name) && ruledOf(configuration, { canonical: name, readOnly: undefined }, undefined).isShown)
}
