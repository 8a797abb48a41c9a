import { estimateTokens } from '../../lib/token-estimate.js'
import type { JsonObject } from '../client/contract.js'

/** The tokens of definitions that were estimated already. */
const known = new WeakMap<JsonObject, number>()

/** Estimates the tokens of a definition as it came. */
export function tokensOf (raw: JsonObject): number {
  let tokens = known.get(raw)
  if (tokens === undefined) known.set(raw, tokens = estimateTokens(raw))
  return tokens
}

/** Estimates the tokens of definitions together. */
export const tokensOfAll = (items: ReadonlyArray<{ readonly raw: JsonObject }>): number =>
  items.reduce((sum, { raw }) => sum + tokensOf(raw), 0)

/** Says how many tokens these are. */
export const aboutTokens = (tokens: number): string =>
  `about ${tokens.toLocaleString()} ${tokens === 1 ? 'token' : 'tokens'}`
