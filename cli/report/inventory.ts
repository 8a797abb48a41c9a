import type { FastifyInstance } from 'fastify'

export interface Inventory {
  /** The servers behind the gateway. */
  upstreams: string[]
  /** The views of option `views`. */
  views: string[]
  /** Without those of upstreams, which come and go. */
  tools: string[]
  resources: string[]
  prompts: string[]
  /** The number of all tools, those of upstreams included, as far as they are known. */
  toolCount: number
  /** False while the lists of an upstream may be other than those that are served. */
  isComplete: boolean
  /** Things that are not served or do not work now, and why. */
  unavailable: Array<[name: string, why: string]>
}

/** Lists what a gateway serves, by name. */
export function inventoryOf ({
  mcp: { tools, resources, prompts, unavailable, upstreams, views }
}: FastifyInstance): Inventory {
  const status = upstreams.status()
  return {
    upstreams: status.map(({ alias, state }) => describeUpstream(alias, state === 'disabled')),
    views: views.names().filter(name => views.get(name)?.selection !== undefined),
    toolCount: tools.names().length,
    isComplete: status.every(({ state, stale }) => state === 'disabled' || !stale),
    tools: tools.names().filter(name => tools.get(name)?.relay === undefined),
    resources: resources.uris().filter(uri => resources.get(uri)?.relay === undefined),
    prompts: prompts.names().filter(name => prompts.get(name)?.relay === undefined),
    unavailable: [...unavailable]
  }
}

export const describeUpstream = (alias: string, disabled: boolean): string => disabled ? `${alias} (disabled)` : alias
