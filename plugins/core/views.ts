import fp from 'fastify-plugin'
import { ByView } from './views/by-view.js'

declare module './mcp.js' {
  interface Mcp {
    /**
     * The views of the gateway: what clients see that connect to a URL with its name, such as `/mcp/ALIAS`. Only
     * plugins of Patchbay open one.
     */
    views: {
      /** Opens an empty view; the one that is open already, if there is one. */
      open: (name: string) => View
      /** Removes everything from a view. Its clients stay connected and see empty lists. */
      close: (name: string) => void
      get: (name: string) => View | undefined
      names: () => string[]
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
  /** Instructions that `initialize` and `server/discover` give the clients of the view. */
  instructions: string | undefined
  /** Scopes that a caller must have been granted to see them; `mcp` when absent. */
  scopes: readonly string[] | undefined
}

type PartName = Exclude<keyof View, 'name' | 'instructions' | 'scopes'>

interface Part<Registry> {
  readonly registry: Registry
  /** Removes everything. */
  clear: () => void
}

/** Keeps the views, which the capabilities divide their collections by. */
export default fp(async ({ mcp }) => {
  const parts = new Map<PartName, ByView<Part<unknown>>>()
  const views = new Map<string, View>()

  mcp.provide('views', {
    open: name => views.get(name) ?? open(name),
    close: name => {
      views.delete(name)
      for (const part of parts.values()) part.close(name)?.clear()
    },
    get: name => views.get(name),
    names: () => [...views.keys()].sort(),
    divide: (name, make) => {
      const part = new ByView(make)
      parts.set(name, part)
      return part
    }
  })

  function open (name: string): View {
    const members = [...parts].map(([member, part]) => [member, part.open(name).registry] as const)
    const view = { name, instructions: undefined, scopes: undefined, ...Object.fromEntries(members) } as unknown as View
    views.set(name, view)
    return view
  }
}, { name: 'patchbay-views', dependencies: ['patchbay-mcp'] })
