import type { ItemChange, Source } from '../../../protocol/definitions/collection.js'
import { canonicalName } from '../../../protocol/definitions/common-members.js'
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
  readonly #off: () => void

  constructor (source: Source<Tool>) {
    const toSearched = (tool: Tool): SearchedTool => ({ name: canonicalName(tool), listed: tool.listed })
    const follow = ({ removed, put }: ItemChange<Tool>): void =>
      this.#index.change(removed.map(canonicalName), put.map(toSearched))
    this.#off = source.onItems(follow)
    follow({ removed: [], put: [...source.values()] })
  }

  /** Adds tools and replaces them; takes others away by their keys. */
  change (removed: Iterable<string>, put: Iterable<SearchedTool>): void {
    this.#index.change(removed, put)
  }

  /** Settles with the keys of the tools that fit best and that `accepts` does not refuse. */
  async find (query: string, limit: number, accepts: (key: string) => boolean): Promise<string[]> {
    await this.#index.settled()
    return rank(this.#index, query, limit, accepts)
  }

  /** Does not follow the tools of the gateway any more. */
  close (): void {
    this.#off()
  }
}
