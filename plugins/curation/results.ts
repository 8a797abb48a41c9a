import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { ResultLimits } from '../../protocol/byte-counts.js'
import { mergeResultOptions } from '../../protocol/definitions/result-options.js'
import type { Added, Addition } from './additions.js'
import type { KeptResults } from './results/kept-results.js'
import type { ResultFinisher } from './results/result-finisher.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Results that are longer than clients should get, or have more in them. */
    results: {
      /** Says what is wrong with a JMESPath expression; undefined for a good one. */
      explainExpression: (expression: string) => Promise<string | undefined>
    }
  }
}

interface Loaded extends Added {
  readonly kept: KeptResults
  readonly finisher: ResultFinisher
}

/**
 * Projects and shortens the results of tools that have options for them, and serves the whole ones. The code is loaded
 * with the first such tool.
 */
export default fp(
  async (fastify, limits: ResultLimits) => {
    const { mcp } = fastify
    let loading: Promise<Loaded> | undefined
    const load = async (): Promise<Loaded> => await (loading ??= loadParts(fastify, limits, addition))
    const addition: Addition = {
      isFor: ({ results }) => results !== undefined && mergeResultOptions(results).max !== undefined,
      load
    }

    mcp.additions.add(addition)
    mcp.tools.finishResultsWith(async (result, tool, call) => await (await load()).finisher.finish(result, tool, call))
    mcp.provide('results', {
      explainExpression: async expression => {
        const { loadProjections } = await import('./results/projections.js')
        return (await loadProjections()).explain(expression)
      }
    })
    fastify.addHook('onClose', async () => (await loading)?.kept.close())
  },
  {
    name: 'patchbay-results',
    dependencies: ['patchbay-mcp', 'patchbay-additions', 'patchbay-tools']
  }
)

async function loadParts ({ mcp, log }: FastifyInstance, limits: ResultLimits, addition: Addition): Promise<Loaded> {
  const [{ KeptResults }, { ResultFinisher }, { READ_RESULT, readResultTool, resultTemplate }] = await Promise.all([
    import('./results/kept-results.js'),
    import('./results/result-finisher.js'),
    import('./results/read-result.js')
  ])
  const kept = new KeptResults(mcp.store, limits)
  const isListed = (view: string | undefined): boolean => mcp.additions.isListed(addition, READ_RESULT, view)
  const finisher = new ResultFinisher(kept, log, isListed)
  return { kept, finisher, tools: [readResultTool(kept)], template: resultTemplate(kept) }
}
