import type { Relay } from '../../../protocol/definitions/common-members.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { ListedResource, Resource } from '../../../protocol/definitions/resource.js'
import { withResults } from '../../../protocol/definitions/result-options.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { excludesUri, mayExcludeFrom, type ViewDefinition } from './selection.js'

/** Names that clash: what would be called so, by their canonical names. */
export interface Clash { readonly view: string, readonly name: string, readonly canonical: readonly string[] }

/**
 * The names that items have in a view, by item: their own ones where `isShort`, unless two items would have the same;
 * these keep the long ones.
 */
export function chooseNames<T extends Tool | Prompt> (
  items: readonly T[],
  isShort: boolean,
  view: string
): { names: Map<T, string>; clashes: Clash[] } {
  const names = new Map(items.map(item => [item, isShort ? shortName(item) : item.name]))
  const clashes: Clash[] = []
  if (!isShort) return { names, clashes }
  for (let clashing = findClashes(names); clashing.size > 0; clashing = findClashes(names)) {
    for (const [name, group] of clashing) {
      clashes.push({ view, name, canonical: group.map(({ name }) => name) })
      for (const item of group) names.set(item, item.name)
    }
  }
  return { names, clashes }
}

/**
 * A tool or prompt as it is in a view, under that name; the item itself where nothing is different. Its canonical name
 * stays the one that it is scoped, rated, audited and measured by.
 */
export function projected<T extends Tool | Prompt> (item: T, name: string, { scopes, results }: ViewDefinition): T {
  const changes = item.kind === 'tool' ? withResults(item, { view: results }) : {}
  if (name === item.name && scopes === undefined && changes.results === undefined) return item
  const { listed = item.listed } = changes
  return derive(item, {
    ...changes,
    name,
    accessName: item.accessName ?? item.name,
    listed: name === item.name ? listed : { ...listed, name },
    spellings: name === item.name ? item.spellings : [item.name, ...item.spellings ?? []],
    viewScopes: scopes
  } as Partial<T>)
}

/** A resource as it is in a view; the resource itself where nothing is different. */
export function projectedResource (resource: Resource, definition: ViewDefinition): Resource {
  const { scopes, exclude = [] } = definition
  const { uri, template, list, upstream, complete, relayCompletion } = resource
  if (template === undefined || exclude.length === 0) {
    return scopes === undefined ? resource : derive(resource, { viewScopes: scopes })
  }
  const isOut = (uri: string): boolean => excludesUri(definition, upstream, uri)
  // Suggestions would name what is taken away.
  const isSilent = mayExcludeFrom(definition, upstream, uri.split('{', 1)[0] ?? '')
  return derive(resource, {
    viewScopes: scopes,
    template: {
      ...template,
      match: uri => {
        const variables = template.match(uri)
        return variables === undefined || isOut(uri) ? undefined : variables
      }
    },
    list: list && filteredList(list, ({ uri }) => !isOut(uri)),
    complete: isSilent ? {} : complete,
    relayCompletion: isSilent && relayCompletion !== undefined ? completeNothing : relayCompletion
  })
}

const completeNothing: Relay = async () => ({ completion: { values: [] } })

/** The own name of an item of an upstream, where every client takes it. */
export function shortName ({ name, ownName }: Tool | Prompt): string {
  return ownName !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(ownName) ? ownName : name
}

/**
 * The items of one name, which may also be the long name of one of them: that is always understood. Those that have
 * their long name already do not clash with each other.
 */
function findClashes<T extends Tool | Prompt> (names: ReadonlyMap<T, string>): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  const add = (name: string, item: T): unknown => groups.get(name)?.push(item) ?? groups.set(name, [item])
  for (const [item, name] of names) {
    add(name, item)
    if (name !== item.name) add(item.name, item)
  }
  const isShort = (name: string) => (item: T): boolean => names.get(item) === name && item.name !== name
  return new Map([...groups].filter(([name, group]) => group.length > 1 && group.some(isShort(name))))
}

/** Copies an item with its getters, some of which are costly, and changes members of it. */
function derive<T extends object> (item: T, changes: Partial<T>): T {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(item), ...Object.getOwnPropertyDescriptors(changes) }
  ) as T
}

/** Goes on to read until there are as many as were asked for. */
function filteredList (
  list: NonNullable<Resource['list']>,
  isWanted: (resource: ListedResource) => boolean
): NonNullable<Resource['list']> {
  return async (after, size, call) => {
    const wanted: ListedResource[] = []
    let from = after
    for (;;) {
      const found = await list(from, size, call)
      wanted.push(...found.filter(isWanted))
      from = found.at(-1)?.uri
      if (found.length < size || wanted.length >= size) return wanted.slice(0, size)
    }
  }
}
