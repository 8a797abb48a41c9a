import { canonicalNames } from '../../../protocol/definitions/common-members.js'
import type { Registry } from '../../../protocol/definitions/definition-registry.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { ViewSearch } from '../search/view-search.js'
import { projectItem } from './projection.js'
import { excludes, fitAny, searchIn, type ViewDefinition } from './selection.js'

/** The tools of a view where they are registered: those that only it has, and others, which search hides from lists. */
export class ToolsOfView {
  readonly #definition: ViewDefinition
  readonly #registry: Registry<Tool>
  readonly #shown: Map<string, Tool>
  readonly #own: Tool[]
  readonly search: ViewSearch | undefined
  readonly #projected = new WeakMap<Tool, Tool>()

  /** `shown` has the tools that clients see, by name, and `own` are those that only the view has. */
  constructor (
    definition: ViewDefinition,
    registry: Registry<Tool>,
    shown: Map<string, Tool>,
    own: readonly Tool[],
    search: ViewSearch | undefined
  ) {
    this.#definition = definition
    this.#registry = registry
    this.#shown = shown
    this.#own = own.filter(each => !excludes(definition, 'tools', each))
    this.search = search
  }

  get (name: string): Tool | undefined {
    return this.#registry.get(name)
  }

  /** True for the name of a tool that only the view has. */
  hasOwn (name: string): boolean {
    return this.search?.has(name) === true || this.#own.some(own => own.name === name)
  }

  /** Sentences about overrides that do not fit their tool, by its canonical name. */
  get oddities (): Array<{ readonly name: string, readonly problem: string }> {
    return Object.entries(this.#definition.override ?? {}).flatMap(([name, { name: newName = '' }]) => {
      const { original: { problems = [] } = {} } = this.get(name) ?? {}
      const taken = this.hasOwn(newName) ? [`it keeps its name, because the view itself has "${newName}"`] : []
      return [...taken, ...problems].map(problem => ({ name, problem }))
    })
  }

  /** The tools that only the view has, as they are now. */
  own (): Tool[] {
    return [...this.#own, ...this.search?.tools() ?? []].map(tool => this.#project(tool))
  }

  /** Registers a change of the tools that clients see. */
  relay (removed: readonly Tool[], put: readonly Tool[]): void {
    const { always = [] } = searchIn(this.#definition) ?? {}
    const isListed = (tool: Tool): boolean => this.hasOwn(tool.name) || fitAny(always, canonicalNames('tools', tool))
    const replaced = this.search === undefined ? [] : put.flatMap(({ name }) => this.#getListed(name) ?? [])
    this.#registry.relay(removed, put, tool => this.search !== undefined && !isListed(tool))
    this.search?.change([...removed, ...replaced], put)
    this.renew()
  }

  /** Takes over the words of servers, in views with search. */
  renew (): void {
    if (this.search === undefined) return
    const changed = this.own().filter(own => this.#shown.get(own.name) !== own)
    for (const own of changed) this.#shown.set(own.name, own)
    if (changed.length > 0) this.#registry.relay([], changed)
  }

  /** The tool that is listed by this name, not one that has it as another spelling. */
  #getListed (name: string): Tool | undefined {
    const tool = this.#registry.get(name)
    return tool?.name === name ? tool : undefined
  }

  #project (own: Tool): Tool {
    const { results, override, ...definition } = this.#definition
    const made = this.#projected.get(own) ?? projectItem(own, own.name, definition)
    this.#projected.set(own, made)
    return made
  }
}
