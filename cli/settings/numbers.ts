/** The whole number that a text is. Throws a sentence with `name` if it is none. */
export function wholeNumber (name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value)) throw new Error(`${name} must be a whole number, not "${text}"`)
  return value
}
