import { errors, type McpError } from './errors.js'
import type { MessageLimits } from './limits.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d]
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d]
/** The first bytes of a string are read one by one; beyond that `indexOf` is faster, despite the cost of the call. */
const SHORT = 64

/** True where a message may hold more values than allowed: each takes two bytes at least. */
export const needsScan = (size: number, { maxValues }: MessageLimits): boolean => size > 2 * maxValues

/**
 * The error for the first limit that a message exceeds, found by counting in its bytes before they are parsed;
 * undefined when it exceeds none. It does not check that the bytes are JSON.
 */
export function findExceededLimit (
  bytes: Buffer,
  start: number,
  end: number,
  { maxValues, maxKeys, maxDepth, option }: MessageLimits
): McpError | undefined {
  let values = 1
  let keys = 0
  let depth = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = closingQuote(bytes, at + 1, end)
    else if (byte === COMMA) {
      if (++values > maxValues) return errors.tooManyValues(maxValues, option)
    } else if (byte === COLON) {
      if (++keys > maxKeys) return errors.tooManyKeys(maxKeys, option)
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > maxDepth) return errors.tooDeep(maxDepth, option === undefined)
      // One more than there are commas, unless it is empty.
      if (!isClosing(afterSpace(bytes, at + 1, end)) && ++values > maxValues) {
        return errors.tooManyValues(maxValues, option)
      }
    } else if (isClosing(byte)) depth--
  }
  return undefined
}

/**
 * The JSON text of the id of a request that is not read otherwise; undefined for what has none, or no method: the id of
 * a response is one of the server's own.
 */
export function scanRequestId (bytes: Buffer, start: number, end: number): string | undefined {
  const { id, hasMethod } = scanEnvelope(bytes, start, end)
  return hasMethod ? id : undefined
}

/**
 * The id, as JSON text, and whether there is a method, of a message that is not read otherwise, or of which only the
 * beginning is there.
 */
export function scanEnvelope (
  bytes: Buffer,
  start: number,
  end: number
): { id: string | undefined, hasMethod: boolean } {
  let id: string | undefined
  let hasMethod = false
  let depth = 0
  let isKey = false
  for (let at = start; at < end && !(hasMethod && id !== undefined); at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      const close = closingQuote(bytes, at + 1, end)
      if (isKey && close - at === 3 && bytes.toString('latin1', at + 1, close) === 'id') {
        id ??= scalarAt(bytes, close + 1, end)
      }
      if (isKey && close - at === 7 && bytes.toString('latin1', at + 1, close) === 'method') hasMethod = true
      isKey = false
      at = close
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) isKey = ++depth === 1 && byte === OPEN_OBJECT
    else if (isClosing(byte)) depth--
    else if (byte === COMMA) isKey = depth === 1
    // A list of messages has no id of its own.
    if (depth === 1 && byte === OPEN_LIST) return { id: undefined, hasMethod: false }
  }
  return { id, hasMethod }
}

/** The first byte from `at` on that is not white space. */
function afterSpace (bytes: Buffer, at: number, end: number): number | undefined {
  while (at < end && (bytes[at] as number) <= 0x20) at++
  return bytes[at]
}

const isClosing = (byte: number | undefined): boolean => byte === CLOSE_LIST || byte === CLOSE_OBJECT

/** Where the string ends whose first character is at `from`; the end of all when it does not. */
function closingQuote (bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end;) {
    for (const soon = at + SHORT; at < soon; at++) {
      if (at >= end) return end
      if (bytes[at] === QUOTE) return at
      if (bytes[at] === BACKSLASH) at++
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1 || quote >= end) return end
    if (!isEscaped(bytes, at, quote)) return quote
    at = quote + 1
  }
  return end
}

function isEscaped (bytes: Buffer, from: number, quote: number): boolean {
  let at = quote
  while (at > from && bytes[at - 1] === BACKSLASH) at--
  return (quote - at) % 2 === 1
}

/** The text or number behind a colon, as it is written. */
function scalarAt (bytes: Buffer, from: number, end: number): string | undefined {
  const colon = bytes.indexOf(COLON, from)
  if (colon === -1) return undefined
  let at = colon + 1
  while (at < end && (bytes[at] as number) <= 0x20) at++
  if (bytes[at] === QUOTE) return bytes.toString('utf8', at, Math.min(end, closingQuote(bytes, at + 1, end) + 1))
  let last = at
  while (last < end && bytes[last] !== COMMA && !isClosing(bytes[last]) && (bytes[last] as number) > 0x20) last++
  return bytes.toString('latin1', at, last)
}
