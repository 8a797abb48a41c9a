import { pagesIn } from '../../../protocol/definitions/app.js'
import type { ItemChange } from '../../../protocol/definitions/collection.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Mcp } from '../../core/mcp.js'
import type { Kind } from '../../core/scopes.js'
import type { Selected, View } from '../../core/views.js'
import type { ViewSearch } from '../search/view-search.js'
import { changeShown, replaceInOrder, replaceShown, type Difference } from './difference.js'
import { ProjectedItems } from './projected-items.js'
import { chooseNames, hasOwnNames, nameIn, projectResource, type Clash } from './projection.js'
import { excludes, excludesUri, excludesUriIn, includes, includesUri, mayShow, type ViewDefinition } from './selection.js'
import { ToolsOfView } from './tools-of-view.js'

type Whole = Pick<Mcp, 'tools' | 'prompts' | 'resources'>

type Named = 'tools' | 'prompts'

/** The tools or prompts of a view: as they are shown by name, and where they are registered. */
interface ShownList<T> {
  readonly shown: Map<string, T>
  readonly registry: {
    get: (key: string) => T | undefined
    relay: (removed: readonly T[], put: readonly T[]) => unknown
  }
}

/** Keeps the collections of one view equal to a part of those of the whole gateway. */
export class CuratedView {
  readonly #view: View
  readonly #whole: Whole
  readonly definition: ViewDefinition
  readonly tools: ToolsOfView
  /** The items of the whole that were looked at: true for those that are in the view. */
  readonly #included = new WeakMap<object, boolean>()
  readonly #projected: ProjectedItems
  readonly #shown = {
    tools: new Map<string, Tool>(),
    prompts: new Map<string, Prompt>(),
    fixed: new Map<string, Resource>(),
    templates: new Map<string, Resource>()
  }

  /** True until all tools were shown as search demands, or as they are without it. */
  #isSearchNew: boolean
  readonly #clashes: { tools: Clash[], prompts: Clash[] } = { tools: [], prompts: [] }
  /** The aliases of the upstreams that something in the view is of; undefined until they are asked for. */
  #aliases: ReadonlySet<string | undefined> | undefined

  /**
   * `own` are the tools that only the view has. `former` is the view of the same name before its definition changed:
   * what is the same in both stays.
   */
  constructor (
    view: View,
    definition: ViewDefinition,
    whole: Whole,
    own: readonly Tool[],
    former?: CuratedView,
    search?: ViewSearch
  ) {
    this.#view = view
    this.#isSearchNew = search !== undefined || former?.hasSearch === true
    this.#whole = whole
    this.definition = definition
    this.#projected = new ProjectedItems(definition)
    if (former !== undefined) this.#shown = former.#shown
    Object.assign(view, {
      description: definition.description,
      instructions: definition.instructions,
      scopes: definition.scopes,
      selection: {
        hasOwnNames: hasOwnNames(definition),
        includes: (kind, item) => this.#includes(kind, item),
        excludes: (kind, item) => excludes(definition, kind, item),
        excludesUri: excludesUriIn(definition),
        mayShow: upstream => mayShow(definition, upstream),
        has: alias => this.#has(alias),
        asCalled: search && (tool => search.asCalled(tool))
      }
    } satisfies Partial<View>)
    this.tools = new ToolsOfView(definition, view.tools, this.#shown.tools, own, search)
    view.resources.findUnlistedWith((uri, call, template) => {
      const found = whole.resources.findUnlisted(uri, call, template)
      return found !== undefined && (includesUri(definition, found, uri) || this.#isPage(found, uri))
        ? projectResource(found, definition)
        : undefined
    })
  }

  /** The names that two items would have. */
  get clashes (): Clash[] {
    return [...this.#clashes.tools, ...this.#clashes.prompts]
  }

  /** Sentences about items that are left out. */
  get failures (): string[] {
    return this.#projected.failures
  }

  /** True when the view has templates whose resources are listed. */
  get listsBehindTemplates (): boolean {
    return [...this.#shown.templates.values()].some(({ list }) => list !== undefined)
  }

  /** Takes over the present items of one kind. Clients of the view hear of it if something is different for them. */
  sync (kind: Kind): void {
    const { tools, prompts } = this.#whole
    if (kind === 'resources') this.#syncResources()
    else if (kind === 'tools') this.#syncNamed(kind, tools.source.values(), this.#shownTools)
    else this.#syncNamed(kind, prompts.source.values(), this.#shownPrompts)
  }

  /** Takes over changed tools. */
  applyTools (change: ItemChange<Tool>): void {
    if (!this.#apply('tools', change, this.#shownTools)) this.sync('tools')
  }

  /** Takes over changed prompts. */
  applyPrompts (change: ItemChange<Prompt>): void {
    if (!this.#apply('prompts', change, this.#shownPrompts)) this.sync('prompts')
  }

  get hasSearch (): boolean {
    return this.tools.search !== undefined
  }

  /** Takes over the words of servers, in views with search. */
  renewSearch (): void {
    this.tools.renew()
  }

  /** Ends what is kept for the view besides its collections. */
  close (): void {
    this.tools.search?.close()
  }

  /** Takes over how long clients may keep lists. */
  limitCaching (): void {
    const { tools, prompts, resources } = this.#whole
    this.#view.tools.limitCaching(tools.source.mostHints)
    this.#view.prompts.limitCaching(prompts.source.mostHints)
    this.#view.resources.limitCaching(resources.sources.templates.mostHints)
  }

  /** True for a page that a tool of its server in the view names, unless the view takes the page away. */
  #isPage ({ upstream }: Resource, uri: string): boolean {
    return !excludesUri(this.definition, upstream, uri) &&
      [...this.#shown.tools.values()].some(tool =>
        tool.upstream === upstream && pagesIn(tool.listed._meta).includes(uri))
  }

  get #shownTools (): ShownList<Tool> {
    return { shown: this.#shown.tools, registry: this.tools }
  }

  get #shownPrompts (): ShownList<Prompt> {
    return { shown: this.#shown.prompts, registry: this.#view.prompts }
  }

  #syncNamed<T extends Tool | Prompt> (kind: Named, items: Iterable<T>, { shown, registry }: ShownList<T>): void {
    const included = [...items].filter(item => this.#includes(kind, item))
    const { names, clashes } = chooseNames(included, this.definition, this.#view.name)
    this.#clashes[kind] = clashes
    this.#projected.begin(kind)
    const next = new Map(
      included.flatMap(item => {
        const chosen = names.get(item) ?? item.name
        // No short or new name hides a tool of the view itself.
        const name = kind === 'tools' && this.tools.hasOwn(chosen) ? item.name : chosen
        const made = this.#projected.named(item, name)
        return made === undefined ? [] : [[name, made] as const]
      })
    )
    // They win over others of their names.
    if (kind === 'tools') for (const own of this.tools.own()) next.set(own.name, own as T)
    const { removed, put } = replaceShown(shown, next)
    const isNew = kind === 'tools' && this.#isSearchNew
    if (isNew) this.#isSearchNew = false
    this.#relay(registry, { removed, put: isNew ? [...next.values()] : put })
  }

  /**
   * Takes over the changed items alone: of 5,000 tools one changes at a time. False where a name is taken, or was, so
   * that all names have to be chosen again; nothing has changed then.
   */
  #apply<T extends Tool | Prompt> (kind: Named, change: ItemChange<T>, { shown, registry }: ShownList<T>): boolean {
    if (this.#clashes[kind].length > 0) return false
    const next = new Map<string, T | undefined>()
    const gone = new Set<T>()
    for (const item of change.removed) {
      const known = this.#projected.get(item)
      if (known === undefined || shown.get(known.name) !== known) continue
      next.set(known.name, undefined)
      gone.add(known)
    }
    const taken = new Set<string>()
    const isTaken = (name: string): boolean => {
      const item = registry.get(name)
      return taken.has(name) || (item !== undefined && !gone.has(item))
    }
    for (const item of change.put) {
      if (!this.#includes(kind, item)) continue
      const name = nameIn(this.definition, item)
      if (isTaken(name) || isTaken(item.name)) return false
      taken.add(name).add(item.name)
      const made = this.#projected.named(item, name)
      if (made !== undefined) next.set(name, made)
    }
    this.#relay(registry, changeShown(shown, next))
    return true
  }

  #relay<T> (registry: ShownList<T>['registry'], { removed, put }: Difference<T>): void {
    if (removed.length + put.length === 0) return
    this.#aliases = undefined
    registry.relay(removed, put)
  }

  #syncResources (): void {
    const { fixed, templates } = this.#whole.resources.sources
    const changes = [
      replaceShown(this.#shown.fixed, this.#resourcesOf(fixed.values())),
      replaceInOrder(this.#shown.templates, this.#resourcesOf(templates.values()))
    ]
    this.#relay(this.#view.resources, {
      removed: changes.flatMap(({ removed }) => removed),
      put: changes.flatMap(({ put }) => put)
    })
  }

  #resourcesOf (items: Iterable<Resource>): Map<string, Resource> {
    const included = [...items].filter(item => this.#includes('resources', item))
    return new Map(included.map(item => [item.uri, this.#projected.resource(item)]))
  }

  #includes (kind: Kind, item: Selected): boolean {
    let is = this.#included.get(item)
    if (is === undefined) this.#included.set(item, is = includes(this.definition, kind, item))
    return is
  }

  #has (alias: string): boolean {
    this.#aliases ??= new Set(
      Object.values(this.#shown).flatMap(items => [...items.values()].map(({ upstream }) => upstream))
    )
    return this.#aliases.has(alias)
  }
}
