import type { Source } from '../../../protocol/definitions/collection.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { rank } from './ranker.js'
import type { SearchedTool } from './terms.js'
import { ToolIndex } from './tool-index.js'

/**
 * Keeps one index of all tools of the gateway, for the views that have search. A view adds the tools that have other
 * texts in it.
 */
export class SearchIndex {
  readonly #index = new ToolIndex()
  readonly #source: Source<Tool>
  readonly #off: () => void
  /** The definitions that were given to the index, by canonical name. */
  #known = new Map<string, Tool['listed']>()
  #later: NodeJS.Immediate | undefined

  constructor (source: Source<Tool>) {
    this.#source = source
    this.#off = source.onChange(() => this.#followSoon())
    this.#follow()
  }

  /** Adds tools and replaces them; takes others away by their keys. */
  change (removed: Iterable<string>, put: Iterable<SearchedTool>): void {
    this.#index.change(removed, put)
  }

  /** Settles with the keys of the tools that fit best and that `accepts` does not refuse. */
  async find (query: string, limit: number, accepts: (key: string) => boolean): Promise<string[]> {
    if (this.#later !== undefined) this.#follow()
    await this.#index.settled()
    return rank(this.#index, query, limit, accepts)
  }

  /** Does not follow the tools of the gateway any more. */
  close (): void {
    this.#off()
    clearImmediate(this.#later)
  }

  /** In a turn of its own, and once for all changes of one. */
  #followSoon (): void {
    this.#later ??= setImmediate(() => this.#follow())
  }

  #follow (): void {
    clearImmediate(this.#later)
    this.#later = undefined
    const next = new Map([...this.#source.values()].map(tool => [canonicalName(tool), tool.listed]))
    const removed = [...this.#known.keys()].filter(name => !next.has(name))
    const put = [...next].filter(([name, listed]) => this.#known.get(name) !== listed)
    this.#known = next
    this.#index.change(removed, put.map(([name, listed]) => ({ name, listed })))
  }
}

/** The name that operators know a tool by. */
export const canonicalName = ({ accessName, name }: Pick<Tool, 'accessName' | 'name'>): string => accessName ?? name
