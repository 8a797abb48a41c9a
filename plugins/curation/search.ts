import fp from 'fastify-plugin'
import type { SearchIndex } from './search/search-index.js'
import type { SearchSettings, ViewSearch } from './search/view-search.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Search in the views that have it. All of them share one index, which is there while one has. */
    search: {
      /** Loads the code of search, which `open` needs. */
      load: () => Promise<void>
      /** Begins search in a view; it ends with its `close`. */
      open: (view: string, settings: SearchSettings) => ViewSearch
    }
  }
}

type Code = typeof import('./search/search-index.js') & typeof import('./search/view-search.js')

/** Lets callers find tools by what they do. Its code is loaded with the first view that has search. */
export default fp(
  async ({ mcp }) => {
    let code: Code | undefined
    let index: SearchIndex | undefined
    const opened = new Set<ViewSearch>()

    mcp.provide('search', {
      load: async () => {
        if (code !== undefined) return
        const parts = await Promise.all([import('./search/search-index.js'), import('./search/view-search.js')])
        code = { ...parts[0], ...parts[1] }
      },
      open: (view, settings) => {
        if (code === undefined) throw new Error('search is not loaded')
        index ??= new code.SearchIndex(mcp.tools.source)
        const search = new code.ViewSearch(mcp, index, view, settings, () => end(search))
        opened.add(search)
        return search
      }
    })

    function end (search: ViewSearch): void {
      opened.delete(search)
      if (opened.size > 0) return
      index?.close()
      index = undefined
    }
  },
  {
    name: 'patchbay-search',
    dependencies: ['patchbay-mcp', 'patchbay-scopes', 'patchbay-tools', 'patchbay-upstreams', 'patchbay-views']
  }
)
