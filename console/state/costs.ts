import { estimateTokens } from '../../lib/token-estimate.js'
import type { JsonObject } from '../client/contract.js'

export { estimateTokens }

/** Estimates the tokens of definitions together. */
export const tokensOfAll = (items: ReadonlyArray<{ readonly raw: JsonObject }>): number =>
  items.reduce((sum, { raw }) => sum + estimateTokens(raw), 0)

/** Says how many tokens these are. */
export const aboutTokens = (tokens: number): string =>
  `about ${tokens.toLocaleString()} ${tokens === 1 ? 'token' : 'tokens'}`
