import { tryDecode } from './network.js'

/**
 * A URI, and what a server may take it for: decoded, decoded twice, without its dot segments, doubled slashes, query
 * and fragment.
 */
export function spellingsOf (uri: string): string[] {
  const once = decode(uri)
  const texts = [uri, once, decode(once)]
  const shorter = texts.map(text => text.replace(/[?#].*$/s, ''))
  return [...new Set([...texts, ...shorter].flatMap(text => [text, withoutDots(text)]))]
}

/** All URIs that a server may take one for, also one that is careless. */
export const allSpellingsOf = (uri: string): string[] => {
  const spellings = spellingsOf(uri)
  return [...new Set([...spellings, ...spellings.flatMap(looserSpellings)])]
}

/**
 * Other URIs that a server may take one for: with more or fewer slashes after the scheme, without one at the end,
 * without characters that are dropped, or up to one at which it ends.
 */
function looserSpellings (uri: string): string[] {
  const [untilNull = ''] = uri.split('\0', 1)
  return [untilNull, uri].flatMap(text => {
    const [start, path] = splitPath(withoutDots(text.replace(/[\0-\x20\x7f]/g, '')))
    const [scheme, rest] = [start.replace(/\/+$/, ''), path.replace(/^\/+|\/+$/g, '')]
    const starts = start.endsWith('/') ? ['/', '//', '///'] : ['']
    return starts.map(slashes => `${scheme}${slashes}${rest}`)
  })
}

/** Decodes what can be decoded. */
const decode = (uri: string): string => uri.replace(/(?:%[0-9a-f]{2})+/gi, encoded => tryDecode(encoded) ?? encoded)

/** The URI without the segments `.` and `..` and without empty ones in its path. */
function withoutDots (uri: string): string {
  const [start, path] = splitPath(uri)
  const segments: string[] = []
  for (const segment of path.split(/[/\\]+/)) {
    if (segment === '..') segments.pop()
    else if (segment !== '.') segments.push(segment)
  }
  return start + segments.join('/')
}

/** The scheme with its slashes, and the rest. */
function splitPath (uri: string): [start: string, path: string] {
  const { length } = /^[^/]*:\/*/.exec(uri)?.[0] ?? ''
  return [uri.slice(0, length), uri.slice(length)]
}
