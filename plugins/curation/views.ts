import fp from 'fastify-plugin'
import type { CuratedViews } from './views/curated-views.js'
import type { Clash } from './views/projection.js'
import type { ViewDefinition, ViewDefinitions } from './views/selection.js'
import type { MissingVariable } from './views/variables.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Parts of the gateway that the operator chose, each with a URL of its own. */
    curation: {
      /**
       * The names that two things would have in these views, as far as is known now. Views that are served, or were at
       * an earlier start, as they are given are left out.
       */
      clashesIn: (views: ViewDefinitions) => Promise<Clash[]>
      /** The variables in these views that have no value. */
      missingIn: (views: ViewDefinitions) => Promise<MissingVariable[]>
      /** Closes the views that have none of these names. */
      closeOthers: (names: readonly string[]) => Promise<void>
      /** Serves these views, and no others: clients of one that is gone see empty lists. */
      configure: (views: ViewDefinitions) => Promise<void>
      /** Sentences for operators about names that clash, by view. */
      clashes: () => Record<string, string[]>
    }
  }
}

/** Serves the views of the option `views`. Their code is loaded with the first of them. */
export default fp(
  async ({ mcp, log }, { maxMcpConfig }: { maxMcpConfig: number }) => {
    let loading: Promise<CuratedViews> | undefined
    let loaded: CuratedViews | undefined

    mcp.provide('curation', {
      clashesIn: async views => (isEmpty(views) ? [] : await (await load()).clashesIn((await expand(views)).views)),
      configure: async views => {
        if (loading === undefined && isEmpty(views)) return
        if (Object.values(views).some(hasSearch)) await mcp.search.load()
        await (await load()).configure((await expand(views)).views)
      },
      closeOthers: async names => (await loading)?.closeOthers(names),
      missingIn: async views => (await expand(views)).missing,
      clashes: () => loaded?.clashes() ?? {}
    })

    async function expand (views: ViewDefinitions): Promise<{ views: ViewDefinitions, missing: MissingVariable[] }> {
      return Object.values(views).some(({ override }) => override !== undefined)
        ? (await import('./views/variables.js')).expandViews(views, maxMcpConfig)
        : { views, missing: [] }
    }

    async function load (): Promise<CuratedViews> {
      loading ??= import('./views/curated-views.js').then(
        ({ CuratedViews }) => (loaded = new CuratedViews(mcp, log))
      )
      return await loading
    }
  },
  {
    name: 'patchbay-curation',
    dependencies: [
      'patchbay-mcp',
      'patchbay-health',
      'patchbay-prompts',
      'patchbay-resources',
      'patchbay-search',
      'patchbay-tools',
      'patchbay-upstreams',
      'patchbay-views'
    ]
  }
)

const hasSearch = ({ search = false }: ViewDefinition): boolean => search !== false

const isEmpty = (views: ViewDefinitions): boolean => Object.keys(views).length === 0
