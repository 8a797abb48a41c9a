import { canonicalName } from '../../../protocol/definitions/common-members.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { grants, type Identity } from '../../../protocol/wire/identity.js'
import type { Mcp } from '../../core/mcp.js'
import type { SearchIndex } from './search-index.js'
import { describeFinding, SEARCH_TOOLS, searchTools } from './search-tools.js'
import { showSchema } from './shown-schema.js'
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
  /** The canonical names of those that say something else here than in the whole gateway. */
  readonly #withOwnText = new Set<string>()
  readonly #own: ReturnType<typeof searchTools>
  /** The tools of the view that each server has. */
  readonly #servers = new Map<string, Set<Tool>>()
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
      find: async (query, most = limit, call) => await this.#findFor(query, most, call),
      get: async (names, call) => await this.#getFor(names, call)
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
    return showSchema(tool)
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
      this.#add(tool)
      if (!this.#hasOwnText(tool)) this.#byKey.set(name, tool)
      else {
        const key = this.#ownKey(name)
        this.#withOwnText.add(name)
        this.#byKey.set(key, tool)
        own.push({ key, name, listed: tool.listed })
      }
    }
    this.#index.change(gone, own)
  }

  /** Takes what only this view has out of the index. */
  close (): void {
    this.#index.change([...this.#withOwnText].map(name => this.#ownKey(name)), [])
    this.#byKey.clear()
    this.#withOwnText.clear()
    this.#ended()
  }

  #forget (tool: Tool, gone: Set<string>): void {
    const name = canonicalName(tool)
    const isOwn = this.#withOwnText.delete(name)
    const key = isOwn ? this.#ownKey(name) : name
    const known = this.#byKey.get(key)
    if (known === undefined) return
    this.#remove(known)
    this.#byKey.delete(key)
    if (isOwn) gone.add(key)
  }

  #add (tool: Tool): void {
    if (tool.upstream === undefined) return
    const tools = this.#servers.get(tool.upstream) ?? new Set()
    this.#servers.set(tool.upstream, tools.add(tool))
  }

  #remove (tool: Tool): void {
    const { upstream = '' } = tool
    const tools = this.#servers.get(upstream)
    tools?.delete(tool)
    if (tools?.size === 0) this.#servers.delete(upstream)
  }

  #ownKey (name: string): string {
    return `${name}\n${this.#view}`
  }

  /** True for a tool that says something else here than in the whole gateway, or is called otherwise. */
  #hasOwnText (tool: Tool): boolean {
    const name = canonicalName(tool)
    const { listed } = this.#mcp.tools.get(name) ?? {}
    if (listed === tool.listed) return false
    const isCalledSo = tool.name === name || tool.name === splitName(name)[1]
    return !isCalledSo || listed === undefined || TEXTS.some(member => listed[member] !== tool.listed[member])
  }

  async #findFor (query: string, limit: number, call: Call): Promise<Tool[]> {
    await this.#mcp.upstreams.firstLists(call)
    const keys = await this.#index.find(query, limit, key => this.#isFor(call, this.#byKey.get(key)))
    return keys.flatMap(key => this.#byKey.get(key) ?? [])
  }

  async #getFor (names: readonly string[], call: Call): Promise<Array<Tool | undefined>> {
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
    const { scopes } = this.#mcp
    const mayUse = (tool: Tool): boolean =>
      grants(identity, scopes.target('tools', tool.name, tool).scopes) &&
      !scopes.hides(identity, this.#view, 'tools', tool.name, tool)
    const description = this.#describe(server => [...this.#servers.get(server) ?? []].some(mayUse))
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
