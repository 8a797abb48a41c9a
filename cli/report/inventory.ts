import type { FastifyInstance } from 'fastify'

export interface Inventory {
  tools: string[]
  resources: string[]
  prompts: string[]
  /** What is not served or does not work now, and why. */
  unavailable: Array<[name: string, why: string]>
}

/** What a gateway serves, by name. */
export function inventoryOf ({ mcp: { tools, resources, prompts, unavailable } }: FastifyInstance): Inventory {
  return { tools: tools.names(), resources: resources.uris(), prompts: prompts.names(), unavailable: [...unavailable] }
}
