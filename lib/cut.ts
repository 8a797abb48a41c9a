/**
 * The beginning of a text, as a text of its own: a slice keeps all of what it was cut from in memory, as long as it is
 * kept itself.
 */
export const cutTo = (text: string, max: number): string =>
  text.length > max ? Buffer.from(text.slice(0, max), 'utf16le').toString('utf16le') : text
