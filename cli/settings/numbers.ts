/** The whole number that a text is. Throws a sentence with `name` if it is none. */
export function wholeNumber (name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value)) throw new Error(`${name} must be a whole number, not "${text}"`)
  return value
}

/**
 * The limits of texts such as `maxDepth=32`, each of which may have several with commas or spaces between. Throws a
 * sentence with `name`, where they were set.
 */
export function readLimits (name: string, texts: string[]): Record<string, number> {
  const pairs = texts.flatMap(text => text.split(/[\s,]+/)).filter(text => text !== '').map(text => {
    const [limit = '', ...rest] = text.split('=')
    if (limit === '' || rest.length !== 1) {
      throw new Error(`${name} must be NAME=VALUE, such as maxDepth=32, not "${text}"`)
    }
    return [limit, wholeNumber(`${name} ${limit}`, rest[0] ?? '')] as const
  })
  return Object.fromEntries(pairs)
}
