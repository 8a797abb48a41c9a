import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Mcp } from '../../core/mcp.js'
import type { Kind } from '../../core/scopes.js'
import type { Selected, View } from '../../core/views.js'
import { chooseNames, projected, projectedResource, type Clash } from './projected.js'
import { excludes, includes, mayShow, type ViewDefinition } from './selection.js'

type Whole = Pick<Mcp, 'tools' | 'prompts' | 'resources'>

/** Makes the tools that a view has besides those of the whole gateway. */
export type ToolsOfView = (definition: ViewDefinition) => Tool[]

/** Keeps the collections of one view equal to a part of those of the whole gateway. */
export class CuratedView {
  readonly #view: View
  readonly #whole: Whole
  readonly definition: ViewDefinition
  /** The tools that only the view has. */
  readonly #own: Tool[]
  /** The items of the whole that were looked at: true for those that are in the view. */
  readonly #included = new WeakMap<object, boolean>()
  /** The items of the view, by those of the whole that they were made of. */
  readonly #projected = new WeakMap<object, Tool | Prompt | Resource>()
  readonly #shown = {
    tools: new Map<string, Tool>(),
    prompts: new Map<string, Prompt>(),
    fixed: new Map<string, Resource>(),
    templates: new Map<string, Resource>()
  }
  readonly #clashes: { tools: Clash[], prompts: Clash[] } = { tools: [], prompts: [] }

  /** `former` is the view of the same name before its definition changed: what is the same in both stays. */
  constructor (view: View, definition: ViewDefinition, whole: Whole, toolsOf: ToolsOfView, former?: CuratedView) {
    this.#view = view
    this.#whole = whole
    this.definition = definition
    if (former !== undefined) this.#shown = former.#shown
    const isIncluded = (kind: Kind, item: Selected): boolean => this.#includes(kind, item)
    Object.assign(view, {
      description: definition.description,
      instructions: definition.instructions,
      scopes: definition.scopes,
      selection: {
        hasShortNames: definition.names === 'short',
        includes: isIncluded,
        excludes: (kind, item) => excludes(definition, kind, item),
        mayShow: upstream => mayShow(definition, upstream),
        has: alias => this.#has(alias)
      }
    } satisfies Partial<View>)
    const { results, ...own } = definition
    this.#own = toolsOf(definition).map(each => projected(each, each.name, own))
    view.resources.findUnlistedWith((uri, call, template) => {
      const found = whole.resources.findUnlisted(uri, call, template)
      return found !== undefined && includes(definition, 'resources', found)
        ? projectedResource(found, definition)
        : undefined
    })
  }

  /** The short names that two items would have. */
  get clashes (): Clash[] {
    return [...this.#clashes.tools, ...this.#clashes.prompts]
  }

  /** Takes over the present items of one kind. Clients of the view hear of it if something is different for them. */
  sync (kind: Kind): void {
    if (kind === 'resources') this.#syncResources()
    else if (kind === 'tools') { this.#syncNamed(kind, this.#whole.tools.source.values(), this.#shown.tools, this.#view.tools) } else this.#syncNamed(kind, this.#whole.prompts.source.values(), this.#shown.prompts, this.#view.prompts)
  }

  /** Takes over how long clients may keep lists. */
  limitCaching (): void {
    const { tools, prompts, resources } = this.#whole
    this.#view.tools.limitCaching(tools.source.mostHints)
    this.#view.prompts.limitCaching(prompts.source.mostHints)
    this.#view.resources.limitCaching(resources.sources.templates.mostHints)
  }

  #syncNamed<T extends Tool | Prompt> (kind: 'tools' | 'prompts', items: Iterable<T>, shown: Map<string, T>, registry: { relay: (removed: readonly T[], put: readonly T[]) => unknown }): void {
    const included = [...items].filter(item => this.#includes(kind, item))
    const { names, clashes } = chooseNames(included, this.definition.names === 'short', this.#view.name)
    this.#clashes[kind] = clashes
    const next = new Map(included.map(item => {
      const name = names.get(item) ?? item.name
      return [name, this.#project(item, known => known.name === name, () => projected(item, name, this.definition))]
    }))
    // They win over others of their names.
    if (kind === 'tools') for (const own of this.#own) next.set(own.name, own as T)
    const { removed, put } = difference(shown, next)
    if (removed.length + put.length > 0) registry.relay(removed, put)
  }

  #syncResources (): void {
    const { fixed, templates } = this.#whole.resources.sources
    const changes = [
      difference(this.#shown.fixed, this.#resourcesOf(fixed.values())),
      inOrder(this.#shown.templates, this.#resourcesOf(templates.values()))
    ]
    const [removed, put] = [changes.flatMap(({ removed }) => removed), changes.flatMap(({ put }) => put)]
    if (removed.length + put.length > 0) this.#view.resources.relay(removed, put)
  }

  #resourcesOf (items: Iterable<Resource>): Map<string, Resource> {
    const included = [...items].filter(item => this.#includes('resources', item))
    return new Map(
      included.map(item => [
        item.uri,
        this.#project(
          item,
          () => true,
          () => projectedResource(item, this.definition)
        )
      ])
    )
  }

  #includes (kind: Kind, item: Selected): boolean {
    let is = this.#included.get(item)
    if (is === undefined) this.#included.set(item, is = includes(this.definition, kind, item))
    return is
  }

  /** An item that did not change stays the same object. */
  #project<T extends Tool | Prompt | Resource> (item: T, fits: (known: T) => boolean, make: () => T): T {
    const known = this.#projected.get(item) as T | undefined
    if (known !== undefined && fits(known)) return known
    const made = make()
    this.#projected.set(item, made)
    return made
  }

  #has (alias: string): boolean {
    return Object.values(this.#shown).some(items => [...items.values()].some(({ upstream }) => upstream === alias))
  }
}

/** Finds what differs, and makes `shown` equal to `next`. */
function difference<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): { removed: T[], put: T[] } {
  const removed = [...shown].filter(([key]) => !next.has(key)).map(([, item]) => item)
  const put = [...next].filter(([key, item]) => shown.get(key) !== item).map(([, item]) => item)
  replaceAll(shown, next)
  return { removed, put }
}

/** The first template that matches a URI serves it: where one differs, all are put again, in the order of the whole. */
function inOrder<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): { removed: T[], put: T[] } {
  const [before, after] = [[...shown.values()], [...next.values()]]
  replaceAll(shown, next)
  return before.length === after.length && before.every((item, index) => item === after[index])
    ? { removed: [], put: [] }
    : { removed: before, put: after }
}

function replaceAll<T> (shown: Map<string, T>, next: ReadonlyMap<string, T>): void {
  shown.clear()
  for (const [key, item] of next) shown.set(key, item)
}
