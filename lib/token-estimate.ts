/** The characters that stand for one token: about what tokenizers make of English text and JSON. */
export const CHARACTERS_OF_TOKEN = 4

const known = new WeakMap<object, number>()

/**
 * Estimates the tokens that a definition costs a model which is given it: the characters of its JSON, divided by four.
 * Each model counts otherwise. A definition is not changed afterwards: it is estimated once.
 */
export function estimateTokens (definition: object): number {
  let tokens = known.get(definition)
  if (tokens === undefined) {
    tokens = Math.ceil(JSON.stringify(definition).length / CHARACTERS_OF_TOKEN)
    known.set(definition, tokens)
  }
  return tokens
}

/** True where the estimate of a definition costs nothing. */
export const isEstimated = (definition: object): boolean => known.has(definition)
