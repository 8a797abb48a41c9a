import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Registry } from '../../protocol/definitions/definition-registry.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import { mergeResultOptions } from '../../protocol/definitions/result-options.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { Store } from '../../protocol/store.js'
import type { ResourceRegistry } from '../capabilities/resources/resource-part.js'
import type { View } from '../core/views.js'
import type { ResultLimits } from './results/byte-counts.js'
import type { KeptResults } from './results/kept-results.js'
import type { ResultFinisher } from './results/result-finisher.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Results that are longer than clients should get, or have more in them. */
    results: {
      /** Says what is wrong with a JMESPath expression; undefined for a good one. */
      explainExpression: (expression: string) => Promise<string | undefined>
      /** Settles when `read_result` is listed wherever results of a tool may be kept. */
      settle: () => Promise<void>
    }
  }
}

interface Loaded {
  readonly kept: KeptResults
  readonly finisher: ResultFinisher
  readonly tool: Tool
  readonly template: Resource
}

/** The whole gateway or one of its views, and what was added to it. */
interface Place {
  readonly view: View | undefined
  readonly tools: Pick<Registry<Tool>, 'get' | 'relay' | 'source'>
  readonly resources: Pick<ResourceRegistry, 'replace' | 'remove'>
  tool: Tool | undefined
  template: Resource | undefined
}

/**
 * Projects and shortens the results of tools that have options for them, and serves the whole ones. The code is loaded
 * with the first such tool.
 */
export default fp(
  async (fastify, limits: ResultLimits) => {
    const { mcp, log } = fastify
    const places = new Set<Place>()
    let loading: Promise<Loaded> | undefined
    const load = async (): Promise<Loaded> => await (loading ??= loadParts(mcp.store, limits, log))
    const renewAll = async (): Promise<void> => {
      if (loading === undefined && ![...places].some(applies)) return
      const loaded = await load()
      for (const place of places) renew(place, loaded)
    }
    const watch = ({ tools, resources }: Pick<View, 'tools' | 'resources'>, view: View | undefined): void => {
      // One of the name may have been closed.
      for (const former of places) if (former.view?.name === view?.name) places.delete(former)
      places.add({ view, tools, resources, tool: undefined, template: undefined })
      tools.source.onChange(renewSoon)
    }

    // Once for all changes of a turn: a gateway with thousands of tools of its own adds them one by one.
    let isScheduled = false
    const renewSoon = (): void => {
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => {
        isScheduled = false
        renewAll().catch(error => log.error(error))
      })
    }

    watch(mcp, undefined)
    mcp.views.onOpen(view => watch(view, view))
    mcp.tools.finishResultsWith(async (result, tool, call) => await (await load()).finisher.finish(result, tool, call))
    mcp.provide('results', {
      explainExpression: async expression => {
        const { loadProjections } = await import('./results/projections.js')
        return (await loadProjections()).explain(expression)
      },
      settle: renewAll
    })
    fastify.addHook('onClose', async () => (await loading)?.kept.close())
  },
  {
    name: 'patchbay-results',
    dependencies: ['patchbay-mcp', 'patchbay-resources', 'patchbay-tools', 'patchbay-views']
  }
)

async function loadParts (store: Store, limits: ResultLimits, log: FastifyBaseLogger): Promise<Loaded> {
  const [{ KeptResults }, { ResultFinisher }, { readResultTool, resultTemplate }] = await Promise.all([
    import('./results/kept-results.js'),
    import('./results/result-finisher.js'),
    import('./results/read-result.js')
  ])
  const kept = new KeptResults(store, limits)
  return { kept, finisher: new ResultFinisher(kept, log), tool: readResultTool(kept), template: resultTemplate(kept) }
}

/** Adds what reads kept results to a place where results are shortened, and removes it from others. */
function renew (place: Place, { tool, template }: Loaded): void {
  const isUsed = applies(place)
  renewTool(place, isUsed ? tool : undefined)
  renewTemplate(place, isUsed ? template : undefined)
}

/** True where results of a tool may be kept. */
function applies ({ tools }: Place): boolean {
  for (const { results } of tools.source.values()) {
    if (results !== undefined && mergeResultOptions(results).max !== undefined) return true
  }
  return false
}

/** Any other tool of the name wins. */
function renewTool (place: Place, wanted: Tool | undefined): void {
  const { view, tools } = place
  const present = tools.get('read_result')
  const isOurs = present !== undefined && present === place.tool
  const next = wanted === undefined || view?.selection?.excludes('tools', wanted) === true ? undefined : wanted
  if (next === undefined) {
    if (isOurs) tools.relay([present], [])
    place.tool = undefined
  } else if (present === undefined || (isOurs && present.viewScopes !== view?.scopes)) {
    place.tool = { ...next, viewScopes: view?.scopes }
    tools.relay([], [place.tool])
  }
}

/** It wins over a template of an upstream. */
function renewTemplate (place: Place, wanted: Resource | undefined): void {
  const { view, resources, template: present } = place
  const next = wanted === undefined || view?.selection?.excludes('resources', wanted) === true ? undefined : wanted
  if (present !== undefined && (next === undefined || present.viewScopes !== view?.scopes)) {
    resources.remove(present.uri)
    place.template = undefined
  }
  if (next !== undefined && place.template === undefined) {
    place.template = { ...next, viewScopes: view?.scopes }
    resources.replace(place.template)
  }
}
