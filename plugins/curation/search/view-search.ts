import type { Call } from '../../../protocol/dispatch/call.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { DEFAULT_SCOPES, grants, type Identity } from '../../../protocol/wire/identity.js'
import type { Mcp } from '../../core/mcp.js'
import { canonicalName, type SearchIndex } from './search-index.js'
import { describeFinding, SEARCH_TOOLS, searchTools } from './search-tools.js'
import { showingSchema } from './shown-schema.js'
import { describeServers } from './signature.js'
import { splitName } from './terms.js'

/** How many characters the servers have in the description of `find_tools`. */
const MAX_SERVERS = 1_000
/** How many descriptions for callers that may not know all servers are remembered. */
const MAX_DESCRIPTIONS = 64

/** How many tools a search finds unless it asks for another number, and if all of them only read. */
export interface SearchSettings { readonly limit: number, readonly isReadOnly: boolean }

/** Search in one view: its tools are found and called by three others, and not listed. */
export class ViewSearch {
  readonly #mcp: Mcp
  readonly #index: SearchIndex
  readonly #view: string
  readonly #ended: () => void
  /** The tools of the view, by their keys in the index. */
  readonly #byKey = new Map<string, Tool>()
  readonly #own: ReturnType<typeof searchTools>
  /** How many tools of the view each server has. */
  readonly #servers = new Map<string, number>()
  #find: Tool
  /** Definitions of `find_tools` by what it says, for callers that may not know all servers. */
  readonly #described = new Map<string, Tool['listed']>()

  /** `ended` is called when it is closed. */
  constructor (
    mcp: Mcp,
    index: SearchIndex,
    view: string,
    { limit, isReadOnly }: SearchSettings,
    ended: () => void
  ) {
    this.#ended = ended
    this.#mcp = mcp
    this.#index = index
    this.#view = view
    this.#own = searchTools({
      find: async (query, most = limit, call) => await this.#found(query, most, call),
      get: async (names, call) => await this.#named(names, call)
    }, isReadOnly)
    this.#find = this.#own.find
  }

  /** True for the name of a tool by which others are found. */
  has (name: string): boolean {
    return SEARCH_TOOLS.has(name)
  }

  /**
   * The tools by which others are found. `find_tools` is another one where servers came, went or changed their words.
   */
  tools (): Tool[] {
    const description = this.#describe(() => true)
    if (description !== this.#find.listed.description) {
      this.#described.clear()
      this.#find = {
        ...this.#own.find,
        listed: { ...this.#own.find.listed, description },
        listedFor: identity => this.#listedFor(identity)
      }
    }
    return [this.#find, this.#own.describe, this.#own.call]
  }

  /** The tool that a call in the view runs. */
  asCalled (tool: Tool): Tool {
    return showingSchema(tool)
  }

  /** Finds tools of the view from now on, and others no more. */
  change (removed: Iterable<Tool>, put: readonly Tool[]): void {
    const gone = new Set<string>()
    for (const tool of removed) this.#forget(tool, gone)
    const own = []
    for (const tool of put) {
      if (tool.ofSearch === true) continue
      this.#forget(tool, gone)
      const name = canonicalName(tool)
      const key = this.#hasOwnText(tool) ? this.#ownKey(tool) : name
      this.#byKey.set(key, tool)
      this.#count(tool, 1)
      if (key !== name) own.push({ key, name, listed: tool.listed })
    }
    this.#index.change(gone, own)
  }

  /** Takes what only this view has out of the index. */
  close (): void {
    this.#index.change([...this.#byKey.values()].map(tool => this.#ownKey(tool)), [])
    this.#byKey.clear()
    this.#ended()
  }

  #forget (tool: Tool, gone: Set<string>): void {
    const [name, own] = [canonicalName(tool), this.#ownKey(tool)]
    for (const key of [name, own]) {
      const known = this.#byKey.get(key)
      if (known === undefined) continue
      this.#count(known, -1)
      this.#byKey.delete(key)
      if (key === own) gone.add(own)
    }
  }

  #count ({ upstream }: Tool, change: 1 | -1): void {
    if (upstream === undefined) return
    const count = (this.#servers.get(upstream) ?? 0) + change
    if (count > 0) this.#servers.set(upstream, count)
    else this.#servers.delete(upstream)
  }

  #ownKey (tool: Tool): string {
    return `${canonicalName(tool)}\n${this.#view}`
  }

  /** True for a tool that says something else here than in the whole gateway, or is called otherwise. */
  #hasOwnText (tool: Tool): boolean {
    const name = canonicalName(tool)
    const { listed } = this.#mcp.tools.get(name) ?? {}
    if (listed === tool.listed) return false
    const isCalledSo = tool.name === name || tool.name === splitName(name)[1]
    return !isCalledSo || listed === undefined || TEXTS.some(member => listed[member] !== tool.listed[member])
  }

  async #found (query: string, limit: number, call: Call): Promise<Tool[]> {
    await this.#mcp.upstreams.firstLists(call)
    const keys = await this.#index.find(query, limit, key => this.#isFor(call, this.#byKey.get(key)))
    return keys.flatMap(key => this.#byKey.get(key) ?? [])
  }

  async #named (names: readonly string[], call: Call): Promise<Array<Tool | undefined>> {
    await this.#mcp.upstreams.firstLists(call)
    const { tools } = this.#mcp.views.get(this.#view) ?? {}
    return names.map(name => {
      const tool = tools?.get(name)
      return this.#isFor(call, tool) ? tool : undefined
    })
  }

  #isFor (call: Call, tool: Tool | undefined): boolean {
    return tool !== undefined && this.#mcp.scopes.allows(call, 'tools', tool.name, tool)
  }

  #listedFor (identity: Identity): Tool['listed'] {
    const { views } = this.#mcp
    const description = this.#describe(server => grants(identity, views.get(server)?.scopes ?? DEFAULT_SCOPES))
    const known = this.#described.get(description)
    if (known !== undefined) return known
    if (this.#described.size >= MAX_DESCRIPTIONS) this.#described.clear()
    const listed = { ...this.#find.listed, description }
    this.#described.set(description, listed)
    return listed
  }

  #describe (isKnown: (server: string) => boolean): string {
    const { views } = this.#mcp
    const known = [...this.#servers.keys()].filter(isKnown)
    const words = known.map(name => ({ name, instructions: views.get(name)?.instructions }))
    return describeFinding(describeServers(words, MAX_SERVERS))
  }
}

const TEXTS = ['title', 'description', 'annotations', 'inputSchema']
