/** True for a source of a content security policy that says an origin and nothing else. */
export const isSource = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9[\]:.-]+(?:\/[\w.~/%-]*)?$/i.test(text)

/** Names of this machine that are different origins to a browser. */
const NAMES: Record<string, string> = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' }

/** Puts the other name of this machine into a URL; undefined where its host has none, such as a public name. */
export function underOtherName (url: string): URL | undefined {
  if (!URL.canParse(url)) return undefined
  const other = new URL(url)
  const name = NAMES[other.hostname]
  if (name === undefined) return undefined
  other.hostname = name
  return other
}
