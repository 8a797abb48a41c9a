import { canonicalName, type Relay } from '../../../protocol/definitions/common-members.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { ListedResource, Resource } from '../../../protocol/definitions/resource.js'
import { withResults } from '../../../protocol/definitions/result-options.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { settleNames } from '../../../lib/settle-names.js'
import { derive } from '../../../protocol/definitions/derive.js'
import { mergeOverrides, type ToolOverride } from '../../../protocol/definitions/overrides/override.js'
import { overrideTool } from '../../../protocol/definitions/overrides/override-tool.js'
import { excludesUri, mayExcludeFrom, overrideOf, type ViewDefinition } from './selection.js'

/** A name that several things would have in a view, by their canonical names. */
export interface Clash {
  readonly view: string
  readonly name: string
  readonly canonical: readonly string[]
  /** True when it is a short name, false when an override gives it. */
  readonly isShort: boolean
}

/**
 * The names that items have in a view, by item: those of overrides, or their own ones where names are short. Items that
 * would have the same keep the long ones.
 */
export function chooseNames<T extends Tool | Prompt> (
  items: readonly T[],
  definition: ViewDefinition,
  view: string
): { names: Map<T, string>, clashes: Clash[] } {
  const wanted = new Map(items.map(item => [item, nameIn(definition, item)]))
  if (!hasOwnNames(definition)) return { names: wanted, clashes: [] }
  const spellingsOf = (item: T): string[] => [canonicalName(item), ...item.spellings ?? []]
  const { names, clashes } = settleNames(wanted, ({ name }) => name, spellingsOf)
  return {
    names,
    clashes: clashes.map(({ name, items }) => ({
      view,
      name,
      canonical: items.map(canonicalName),
      isShort: items.every(item => overrideOf(definition, item)?.name !== name)
    }))
  }
}

/** The name that an item has in a view, unless another one has it. */
export function nameIn (definition: ViewDefinition, item: Tool | Prompt): string {
  return overrideOf(definition, item)?.name ?? (definition.names === 'short' ? shortName(item) : item.name)
}

/** True where things can have other names in a view than outside of it. */
export function hasOwnNames ({ names, override = {} }: ViewDefinition): boolean {
  return names === 'short' || Object.values(override).some(({ name }) => name !== undefined)
}

/**
 * A tool or prompt as it is in a view, under that name; the item itself where nothing is different. Its canonical name
 * stays the one that it is scoped, rated, audited and measured by.
 */
export function projectItem<T extends Tool | Prompt> (item: T, name: string, definition: ViewDefinition): T {
  const { scopes, results } = definition
  const override = overrideOf(definition, item)
  const shown = override === undefined ? item : overrideIn(item as Tool, override, name) as T
  const changes = shown.kind === 'tool' ? withResults(shown, { view: results }) : {}
  if (shown === item && name === item.name && scopes === undefined && changes.results === undefined) return item
  const { listed = shown.listed } = changes
  return derive(shown, {
    ...changes,
    name,
    accessName: canonicalName(item),
    listed: name === listed.name ? listed : { ...listed, name },
    spellings: name === item.name ? item.spellings : [item.name, ...item.spellings ?? []],
    viewScopes: scopes
  } as Partial<T>)
}

/** Overrides a tool. The entry of its server may override it already: both are merged, and the view wins. */
function overrideIn (tool: Tool, override: ToolOverride, name: string): Tool {
  const { original } = tool
  return overrideTool(original?.tool ?? tool, mergeOverrides(original?.override, override), name)
}

/** A resource as it is in a view; the resource itself where nothing is different. */
export function projectResource (resource: Resource, definition: ViewDefinition): Resource {
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
    list: list && filterList(list, ({ uri }) => !isOut(uri)),
    complete: isSilent ? {} : complete,
    relayCompletion: isSilent && relayCompletion !== undefined ? completeNothing : relayCompletion
  })
}

const completeNothing: Relay = async () => ({ completion: { values: [] } })

/**
 * The tools of the gateway that its results tell of, and the one that stands for a server before anyone has signed in
 * to it: no tool of a server has these names in place of its long one.
 */
const OURS = new Set(['read_result', 'get_result', 'cancel_result', 'sign_in'])

/** The own name of an item of an upstream, where every client takes it. */
function shortName ({ name, ownName }: Tool | Prompt): string {
  return ownName !== undefined && !OURS.has(ownName) && /^[A-Za-z0-9_-]{1,64}$/.test(ownName) ? ownName : name
}

/** Goes on to read until there are as many as were asked for. */
function filterList (
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
