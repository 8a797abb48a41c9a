/** The beginning of a text, with memory of its own: a slice would keep the whole text alive. Never cut inside a character. */
export function shorten (text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return JSON.parse(JSON.stringify(/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut)) as string
}
