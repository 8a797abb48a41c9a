import { pagesIn } from '../../../protocol/definitions/app.js'
import type { ToolOverrides } from '../../../protocol/definitions/overrides/override.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Repair } from '../../ports.js'
import type { ServerEntry } from '../../server-entry.js'
import type { Registries } from '../gateway.js'
import { ALL_KINDS, KINDS } from '../reading/kinds.js'
import { EMPTY, NOTHING_HELD, type Offerable, type Snapshot } from '../snapshot.js'
import { unmatchedTemplates, type ListedNames } from '../unmatched-names.js'
import type { Origin } from './definitions.js'
import { MergedList, type OwnerOf, type Show } from './merged-list.js'
import { OfferedList } from './offered-list.js'
import type { Definitions } from './offered.js'
import { isHeldBack, mistakeOfContents } from './held-back.js'
import type { ReservedNames } from './reserved-names.js'

/** The lists of the gateway, each merged from those of all upstreams. */
export type MergedLists = { [K in keyof Definitions]: MergedList<Definitions[K]> }

export function createMergedLists (registries: Registries, reserved: ReservedNames): MergedLists {
  const { tools, prompts, resources, skills } = registries
  const ownerOfName: OwnerOf = name => reserved.ownerOfName(name)
  const ownerOfUri: OwnerOf = uri => reserved.ownerOfUri(uri)
  return {
    tools: new MergedList((hidden, shown) => tools.relay(hidden, shown), ownerOfName),
    prompts: new MergedList((hidden, shown) => prompts.relay(hidden, shown), ownerOfName),
    resources: new MergedList((hidden, shown) => resources.relay(hidden, shown), ownerOfUri),
    templates: new MergedList((hidden, shown) => resources.relay(hidden, shown), ownerOfUri),
    skills: new MergedList((hidden, shown) => skills.relay(hidden, shown), ownerOfUri)
  }
}

/** Settles to what clients get of lists that were read; undefined where that is all of them. */
export type Review = (read: Snapshot) => Promise<Offerable | undefined> | undefined

/** The offers of one upstream of every kind, and the snapshot of its lists that they are made of. */
export class OfferedLists {
  readonly tools: OfferedList<'tools'>
  readonly prompts: OfferedList<'prompts'>
  readonly resources: OfferedList<'resources'>
  readonly templates: OfferedList<'templates'>
  readonly skills: OfferedList<'skills'>
  #snapshot: Snapshot = EMPTY
  #shown: Offerable = { snapshot: EMPTY, heldBack: NOTHING_HELD }
  #pages: ReadonlySet<string> = new Set()
  #unmatched: readonly string[] = []
  #isClosed = false
  readonly #origin: Origin
  readonly #serverOf: () => ServerEntry
  readonly #review: Review
  /** The overrides that were offered last. */
  #overrides: ToolOverrides | undefined

  constructor (
    origin: Origin,
    serverOf: () => ServerEntry,
    { tools, prompts, resources, templates, skills }: MergedLists,
    view: Registries,
    review: Review
  ) {
    this.#origin = origin
    this.#serverOf = serverOf
    this.#review = review
    this.#overrides = serverOf().override
    const showTools: Show<Tool> = (hidden, shown) => view.tools.relay(hidden, shown)
    const showPrompts: Show<Prompt> = (hidden, shown) => view.prompts.relay(hidden, shown)
    const showResources: Show<Resource> = (hidden, shown) => view.resources.relay(hidden, shown)
    this.tools = new OfferedList('tools', origin, serverOf, tools, showTools)
    this.prompts = new OfferedList('prompts', origin, serverOf, prompts, showPrompts)
    this.resources = new OfferedList('resources', origin, serverOf, resources, showResources)
    this.templates = new OfferedList('templates', origin, serverOf, templates, showResources)
    this.skills = new OfferedList('skills', origin, serverOf, skills, (hidden, shown) =>
      view.skills.relay(hidden, shown))
  }

  /** The lists as they were read. */
  get snapshot (): Snapshot {
    return this.#snapshot
  }

  /** The lists as clients get them. */
  get shown (): Snapshot {
    return this.#shown.snapshot
  }

  /** True for the URI of a resource that is held back, or of what is behind a template or in a skill that is. */
  isHeldBack (uri: string): boolean {
    return !this.#pages.has(uri) && !this.resources.has(uri) && isHeldBack(this.#shown, uri)
  }

  /** Finds why clients must not get the contents of a URI, by what was accepted of its skill. */
  mistakeOfContents (uri: string, contents: unknown): string | undefined {
    return mistakeOfContents(this.#shown, uri, contents)
  }

  /** The pages for user interfaces that its tools name. */
  get pages (): ReadonlySet<string> {
    return this.#pages
  }

  names (): ListedNames {
    const own = this.#snapshot.lists.tools.map(({ name }) => name as string)
    const oddities = this.tools
      .items()
      .flatMap(([name, { original }]) => original?.problems.map(problem => ({ name, problem })) ?? [])
    return { own, tools: this.tools.names(), prompts: this.prompts.names(), oddities }
  }

  /** Counts the entries that were repaired. */
  get repaired (): number {
    return ALL_KINDS.reduce((sum, kind) => sum + this[kind].repaired, 0)
  }

  /** Lists the repairs of its entries. */
  repairs (): Repair[] {
    return ALL_KINDS.flatMap(kind =>
      this[kind].repairs().map(([name, changes]) => ({ noun: KINDS[kind].noun, name, changes }))
    )
  }

  /** Sentences about entries that clients do not get, or that no URI leads to. */
  warnings (): string[] {
    return [...this.#unmatched, ...ALL_KINDS.flatMap(kind => this[kind].warnings(KINDS[kind].noun))]
  }

  /**
   * Makes the definitions of the lists that are not as they were, over several turns when they are long. The function
   * that it resolves to offers them in place of the former ones.
   */
  async prepare (snapshot: Snapshot): Promise<() => void> {
    const shown = await this.#review(snapshot) ?? { snapshot, heldBack: NOTHING_HELD }
    const { snapshot: { lists }, heldBack } = shown
    const before = this.#shown
    const changed = ALL_KINDS.filter(
      kind => lists[kind] !== before.snapshot.lists[kind] || heldBack[kind] !== before.heldBack[kind]
    )
    if (changed.includes('tools')) this.#overrides = this.#serverOf().override
    this.#origin.hasTasks = snapshot.tasks === true
    const offers = await Promise.all(changed.map(async kind => await this[kind].prepare(lists[kind], heldBack[kind])))
    return () => {
      if (this.#isClosed) return
      this.#snapshot = snapshot
      this.#shown = shown
      for (const offer of offers) offer()
      this.#unmatched = unmatchedTemplates(lists.templates)
      this.#pages = new Set(lists.tools.flatMap(({ _meta }) => pagesIn(_meta)))
    }
  }

  /** Offers what was read again, as far as clients get it now. */
  async renew (): Promise<void> {
    (await this.prepare(this.#snapshot))()
  }

  /**
   * Offers the tools again whose overrides in the entry of the server are not as they were, or whose pages are found
   * elsewhere. Resolves to false when all are.
   */
  async renewTools (): Promise<boolean> {
    const { override } = this.#serverOf()
    if ((this.#overrides === override && !this.tools.hasMovedPages) || this.#isClosed) return false
    this.#overrides = override
    const { snapshot: { lists }, heldBack } = this.#shown
    const offer = await this.tools.prepare(lists.tools, heldBack.tools)
    if (!this.#isClosed) offer()
    return true
  }

  /** Takes everything back, and offers nothing any more. */
  close (): void {
    this.#isClosed = true
    for (const kind of ALL_KINDS) this[kind].clear()
  }
}
