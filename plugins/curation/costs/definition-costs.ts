import { isDeepStrictEqual } from 'node:util'
import { Slices } from '../../../lib/slices.js'
import { CHARACTERS_OF_TOKEN, estimateTokens, isEstimated } from '../../../lib/token-estimate.js'
import type { Tool } from '../../../protocol/definitions/tool.js'

/** A tool as it is listed in a view, and what that costs. */
export interface ToolCost {
  /** The name that clients see. */
  readonly name: string
  /** The name that it has in options, logs and metrics. */
  readonly canonical: string
  /** The upstream that it is of; absent for one of the gateway itself. */
  readonly server?: string
  /** An estimate of the tokens of its definition. */
  readonly tokens: number
  /** The members of the definition that are others than in the original one. */
  readonly changed?: readonly string[]
  /** An estimate of the tokens of the original definition, where it is another one. */
  readonly originalTokens?: number
}

/** A tool of a view, and the same one of the whole gateway. */
export interface ListedTool { readonly tool: Tool, readonly whole: Tool | undefined }

/** Estimates the tokens of definitions together, over several turns of the event loop. */
export async function sumOfTokens (tools: Iterable<Pick<Tool, 'listed'>>): Promise<number> {
  const slices = new Slices()
  let sum = 0
  for (const { listed } of tools) {
    const isKnown = isEstimated(listed)
    const tokens = estimateTokens(listed)
    sum += tokens
    const pause = slices.spend(isKnown ? 0 : tokens * CHARACTERS_OF_TOKEN)
    if (pause !== undefined) await pause
  }
  return sum
}

/** Estimates the costs of each tool, over several turns of the event loop. */
export async function costsOf (shown: readonly ListedTool[]): Promise<ToolCost[]> {
  const slices = new Slices()
  const costs: ToolCost[] = []
  for (const each of shown) {
    const cost = costOf(each)
    costs.push(cost)
    const pause = slices.spend(cost.tokens * CHARACTERS_OF_TOKEN)
    if (pause !== undefined) await pause
  }
  return costs
}

/** Estimates the costs of one tool. */
export function costOf (shown: ListedTool): ToolCost {
  const { name, accessName = name, upstream, listed } = shown.tool
  const original = originalOf(shown)
  const changed = original === listed ? [] : changesIn(original, listed)
  return {
    name,
    canonical: accessName,
    ...(upstream !== undefined && { server: upstream }),
    tokens: estimateTokens(listed),
    ...(changed.length > 0 && { changed, originalTokens: estimateTokens(original) })
  }
}

/** The definition of a tool before views and overrides changed it. */
export function originalOf ({ tool, whole = tool }: ListedTool): Record<string, unknown> {
  let source = tool.original === undefined ? whole : tool
  while (source.original !== undefined) source = source.original.tool
  return source.listed
}

/** The members that two definitions have not in common, in the order of the original. */
function changesIn (original: Record<string, unknown>, listed: Record<string, unknown>): string[] {
  const members = new Set([...Object.keys(original), ...Object.keys(listed)])
  return [...members].filter(member => !isDeepStrictEqual(original[member], listed[member]))
}
