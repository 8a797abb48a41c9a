import type { FastifyInstance } from 'fastify'

export interface Inventory {
  /** The servers behind the gateway. */
  upstreams: string[]
  /** Without those of upstreams, which come and go. */
  tools: string[]
  resources: string[]
  prompts: string[]
  /** What is not served or does not work now, and why. */
  unavailable: Array<[name: string, why: string]>
}

/** What a gateway serves, by name. */
export function inventoryOf ({ mcp: { tools, resources, prompts, unavailable, upstreams } }: FastifyInstance): Inventory {
  return {
    upstreams: upstreams.status().map(({ alias, state }) => describeUpstream(alias, state === 'disabled')),
    tools: tools.names(),
    resources: resources.uris(),
    prompts: prompts.names(),
    unavailable: [...unavailable]
  }
}

export const describeUpstream = (alias: string, disabled: boolean): string => disabled ? `${alias} (disabled)` : alias
