import { tryDecode } from '../../lib/network.js'
import type { Truth } from './three-valued.js'

interface Place {
  /** The scheme, host and port of a URL, the drive of a Windows path, or nothing. */
  readonly root: string
  readonly segments: readonly string[]
}

const WINDOWS = /^[A-Za-z]:[\\/]/
const URL_LIKE = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//
const CONTROL = /\p{Cc}/u

/**
 * Compiles a test for paths or URLs that are the base or lie below it, after dot segments, percent escapes and the case
 * of scheme and host. Open for a value that programs read in more than one way. Throws for a base that is none.
 */
export function isUnder (base: string): (value: unknown) => Truth {
  const flavour = URL_LIKE.test(base) ? readUrl : WINDOWS.test(base) ? readWindows : readPosix
  const place = flavour(base)
  if (place === undefined || CONTROL.test(base)) throw new Error('must be an absolute path or a URL')
  return value => {
    if (typeof value !== 'string' || CONTROL.test(value)) return undefined
    const found = flavour(value)
    if (found === undefined) return undefined
    const is = isBelow(found, place, exact)
    return is === isBelow(found, place, folded) ? is : undefined
  }
}

function isBelow (found: Place, base: Place, fold: (text: string) => string): boolean {
  return fold(found.root) === fold(base.root) &&
    found.segments.length >= base.segments.length &&
    base.segments.every((segment, index) => fold(segment) === fold(found.segments[index] ?? ''))
}

const exact = (text: string): string => text
/** File systems may take names for one that differ in case or in the composition of characters. */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

function readUrl (text: string): Place | undefined {
  if (/[\s\\]/.test(text) || !URL_LIKE.test(text) || !URL.canParse(text)) return undefined
  const { protocol, host, username, password, pathname } = new URL(text)
  // A host with a dot at its end, or with escapes, is another spelling of one without.
  if (username !== '' || password !== '' || /\.$|\.:|%/.test(host)) return undefined
  const segments = segmentsOf(pathname, decodeSegment)
  return segments && { root: `${protocol}//${host.toLowerCase()}`, segments }
}

function readPosix (text: string): Place | undefined {
  if (!text.startsWith('/') || text.startsWith('//') || text.includes('\\')) return undefined
  const segments = segmentsOf(text, plainSegment)
  return segments && { root: '', segments }
}

function readWindows (text: string): Place | undefined {
  if (!WINDOWS.test(text)) return undefined
  const path = text.slice(2).replaceAll('\\', '/').toLowerCase()
  // Other names of a file: its short one, and its streams.
  if (/[~:]/.test(path)) return undefined
  const segments = segmentsOf(path, plainSegment)
  return segments && { root: text.slice(0, 2).toLowerCase(), segments }
}

/** The segments without dots; undefined where escapes, empty segments or ends can be read in more than one way. */
function segmentsOf (path: string, read: (part: string) => string | undefined): string[] | undefined {
  const segments: string[] = []
  const parts = path.slice(1).split('/')
  for (const [index, part] of parts.entries()) {
    if (part === '' && index < parts.length - 1) return undefined
    if (part === '..') segments.pop()
    else if (part !== '.' && part !== '') {
      const segment = read(part)
      if (segment === undefined) return undefined
      segments.push(segment)
    }
  }
  return segments
}

/** Some programs decode the escapes of paths, and some take them as they are. */
const plainSegment = (part: string): string | undefined => /%[0-9a-f]{2}|[. ]$/i.test(part) ? undefined : part

function decodeSegment (part: string): string | undefined {
  const decoded = tryDecode(part)
  return decoded === undefined || CONTROL.test(decoded) || /[/\\%]|[. ]$/.test(decoded) ? undefined : decoded
}
