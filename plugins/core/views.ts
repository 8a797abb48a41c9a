import fp from 'fastify-plugin'
import { Listeners } from '../../lib/listeners.js'
import type { Relayed } from '../../protocol/definitions/common-members.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { Kind } from './scopes.js'
import { ByView } from './views/by-view.js'

declare module './mcp.js' {
  interface Mcp {
    /**
     * The views of the gateway: what clients see that connect to a URL with its name, such as `/mcp/ALIAS`. Only
     * plugins of Patchbay open one: upstreams have one each, and the option `views` has others.
     */
    views: {
      /** Opens an empty view; the one that is open already, if there is one. */
      open: (name: string) => View
      /** Removes everything from a view. Its clients stay connected and see empty lists. */
      close: (name: string) => void
      get: (name: string) => View | undefined
      /** Runs when a view was opened, before anything is in it. Returns how to remove it. */
      onOpen: (listener: (view: View) => void) => () => void
      names: () => string[]
      /** False when nothing of an upstream can be in a view; `undefined` stands for the whole gateway. */
      mayShow: (view: string | undefined, upstream: UpstreamNames) => boolean
      /** Tells that the lists of an upstream were read. */
      noteListsRead: () => void
      /** Runs when the lists of an upstream were read, also where they did not change. Returns how to remove it. */
      onListsRead: (listener: () => void) => () => void
      /** Texts in values that views fix for tools, or did before: they are hidden where servers repeat them. */
      fixedTexts: () => readonly string[]
      /** Adds such texts, before a server gets them. */
      addFixedTexts: (texts: readonly string[]) => void
      /**
       * Makes one part of the gateway: for the whole and, whenever a view is opened, for the view, where `registry`
       * becomes the member of that name.
       */
      divide: <Name extends PartName, T extends Part<View[Name]>>(
        name: Name,
        make: (view: string | undefined) => T
      ) => ByView<T>
    }
  }
}

/**
 * The part of the gateway that clients of a view see. Each capability declares its own member beside the code that
 * provides it.
 */
export interface View {
  readonly name: string
  /** A text for people who choose a view. */
  description: string | undefined
  /** Instructions that `initialize` and `server/discover` give the clients of the view. */
  instructions: string | undefined
  /** Scopes that a caller must have been granted to see them; `mcp` when absent. */
  scopes: readonly string[] | undefined
  /** The part of the whole gateway that the operator chose for it; undefined for the view of an upstream. */
  selection: Selection | undefined
}

/** The part of the whole gateway that is in a view. */
export interface Selection {
  /** True when tools and prompts of upstreams may have names there that do not begin with that of the upstream. */
  readonly hasOwnNames: boolean
  /** True for an item of the whole gateway that is in the view. */
  includes: (kind: Kind, item: Selected) => boolean
  /** True for an item that the operator took away, whatever adds it. */
  excludes: (kind: Kind, item: Selected) => boolean
  /** True for a URI, however it is spelled, that the operator took away; undefined where nothing is taken away. */
  readonly excludesUri?: ((upstream: string | undefined, uri: string) => boolean) | undefined
  /** False when nothing of an upstream can be in the view. */
  mayShow: (upstream: UpstreamNames) => boolean
  /** True when something of the upstream of that alias is in the view now. */
  has: (alias: string) => boolean
  /** Finds the tool that a call in the view runs, where that is another one than is in it. */
  readonly asCalled?: ((tool: Tool) => Tool) | undefined
}

/** The members of an item by which it is selected: its names for operators, its upstream, its annotations. */
export interface Selected extends Pick<Relayed, 'upstream' | 'accessName' | 'scopeNames'> {
  readonly name?: string
  readonly uri?: string
  readonly listed: Record<string, unknown>
}

/** The alias of an upstream, and what stands before the names of its tools and prompts where that is something else. */
export interface UpstreamNames { readonly alias: string, readonly prefix?: string | undefined }

type PartName = Exclude<keyof View, 'name' | 'description' | 'instructions' | 'scopes' | 'selection'>

interface Part<Registry> {
  readonly registry: Registry
  /** Removes everything. */
  clear: () => void
}

/** How many texts that views fixed are remembered at least: those of removed views are in lines of before. */
const MAX_FIXED = 1_000

/** Keeps the views, which the capabilities divide their collections by. */
export default fp(async ({ mcp }) => {
  const parts = new Map<PartName, ByView<Part<unknown>>>()
  const views = new Map<string, View>()
  let fixed: readonly string[] = []
  const openListeners = new Listeners<[view: View]>(mcp.dispatcher.observers.reporter('views.onOpen'))
  const readListeners = new Listeners<[]>(mcp.dispatcher.observers.reporter('views.onListsRead'))

  mcp.provide('views', {
    open: name => views.get(name) ?? open(name),
    close: name => {
      views.delete(name)
      for (const part of parts.values()) part.close(name)?.clear()
    },
    get: name => views.get(name),
    onOpen: listener => openListeners.add(listener),
    names: () => [...views.keys()].sort(),
    mayShow: (name, upstream) => {
      if (name === undefined) return true
      const { selection } = views.get(name) ?? {}
      return selection === undefined ? name === upstream.alias : selection.mayShow(upstream)
    },
    noteListsRead: () => readListeners.notify(),
    onListsRead: listener => readListeners.add(listener),
    fixedTexts: () => fixed,
    addFixedTexts: texts => {
      // The new ones last, because the first ones are forgotten.
      const added = new Set(texts)
      if (texts.every(text => fixed.includes(text))) return
      fixed = [...fixed.filter(text => !added.has(text)), ...added].slice(-Math.max(added.size, MAX_FIXED))
    },
    divide: (name, make) => {
      const part = new ByView(make)
      parts.set(name, part)
      return part
    }
  })

  function open (name: string): View {
    const members = [...parts].map(([member, part]) => [member, part.open(name).registry] as const)
    const view = {
      name,
      description: undefined,
      instructions: undefined,
      scopes: undefined,
      selection: undefined,
      ...Object.fromEntries(members)
    } as unknown as View
    views.set(name, view)
    openListeners.notify(view)
    return view
  }
}, { name: 'patchbay-views', dependencies: ['patchbay-mcp'] })
