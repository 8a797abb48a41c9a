/** The characters that stand for one token: about what tokenizers make of English text and JSON. */
const CHARACTERS = 4

/**
 * Estimates the tokens that a definition costs a model which is given it: the characters of its JSON, divided by four.
 * Each model counts otherwise.
 */
export function estimateTokens (definition: object): number {
  return Math.ceil(JSON.stringify(definition).length / CHARACTERS)
}
