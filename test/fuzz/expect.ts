import { isUtf8 } from 'node:buffer'

export type Id = string | number
type Json = Record<string, unknown>

/** How often something may be answered. */
export interface Range { min: number, max: number }
/** Which answers there may be: by id, and without one that could be read. */
export interface Tally { ids: Map<Id, Range>, blanks: Range }
/** What may follow one message: one of these. */
export type Expectation = Tally[]

/** The largest message the gateways under test take. */
export const MAX_MESSAGE = 65_536

/**
 * Up to here an id, a message and its nesting are nothing special; beyond, a limit may refuse them before the id is
 * read.
 */
const ORDINARY = { id: 128, bytes: 16_384, depth: 16, keys: 100, values: 500, opened: 32 }
const MAX_IDS = 8

const silence: Tally = { ids: new Map(), blanks: { min: 0, max: 0 } }
/** An error that names no id. */
export const blank: Tally = { ids: new Map(), blanks: { min: 1, max: 1 } }
const answerTo = (id: Id): Tally => ({ ids: new Map([[id, { min: 1, max: 1 }]]), blanks: { min: 0, max: 0 } })

/** What may be answered to these bytes, read by the rules of JSON-RPC and not by the code that is under test. */
export function expected (bytes: Buffer, maxMessage = MAX_MESSAGE): Expectation {
  if (bytes.length > maxMessage) return [blank]
  const value = valueOf(bytes)
  if (value === undefined) return [blank, ...unparsed(bytes)]
  if (Array.isArray(value)) {
    return [blank, ...(value.length === 0 ? [] : [sum(value.map(item => widened(expectedOf(item, bytes))))])]
  }
  return [...expectedOf(value, bytes), ...unparsed(bytes)]
}

/** What may be answered to all of them on one wire. */
export function together (expectations: Expectation[]): Tally {
  return sum(expectations.map(widened))
}

/** The ids a client takes back. */
export function cancelled (messages: Buffer[]): Set<Id> {
  return new Set(
    messages
      .flatMap(messagesIn)
      .flatMap(value =>
        value.method === 'notifications/cancelled' && isObject(value.params) ? [value.params.requestId as Id] : []
      )
  )
}

/** The messages in the bytes, as objects. */
export function messagesIn (bytes: Buffer): Json[] {
  const value = valueOf(bytes)
  return (Array.isArray(value) ? value : [value]).filter(isObject)
}

export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function expectedOf (value: unknown, bytes: Buffer): Expectation {
  if (!isObject(value)) return [blank]
  const { id, method } = value
  // Whether it answers a question of the server is not known here; a malformed one is refused without its id.
  if (method === undefined && ('result' in value || 'error' in value)) return [silence, blank]
  if (id === undefined) {
    return value.jsonrpc !== '2.0' || typeof method !== 'string'
      ? [blank]
      : isPlain(value)
        ? [silence]
        : [silence, blank]
  }
  if (!isId(id)) return [blank]
  // It is answered when the client goes, or never.
  const open = method === 'subscriptions/listen' ? [silence] : []
  return isOrdinary(id, value, bytes) ? [answerTo(id), ...open] : [answerTo(id), blank, ...open]
}

/** A notification with nothing in it that could be refused. */
function isPlain (value: Json): boolean {
  if (depthOf(value, 8) > 8 || ('params' in value && !isObject(value.params))) return false
  const text = JSON.stringify(value)
  return text.length < 300 && !/__proto__|prototype|null/.test(text)
}

function isOrdinary (id: Id, value: Json, bytes: Buffer): boolean {
  return (
    String(id).length <= ORDINARY.id &&
    bytes.length <= ORDINARY.bytes &&
    depthOf(value, ORDINARY.depth) <= ORDINARY.depth &&
    isModest(bytes)
  )
}

/**
 * True for bytes that have no more of anything than any limit allows, whether or not they are JSON: such a message is
 * parsed before it is refused.
 */
function isModest (bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  return (
    text.split('":').length <= ORDINARY.keys &&
    text.split(',').length <= ORDINARY.values &&
    text.split(/[[{]/).length <= ORDINARY.opened
  )
}

/**
 * Answers to a message that is refused for its size before it is parsed: its id is unknown, if it is JSON
 * at all.
 */
function unparsed (bytes: Buffer): Expectation {
  if (isModest(bytes)) return []
  const written = [...bytes.toString().matchAll(/"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\deE]+)/g)].map(([, json = '']) =>
    parsed(json)
  )
  return [blank, ...[...new Set(written.filter(isId))].slice(0, MAX_IDS).map(answerTo)]
}

function depthOf (value: unknown, atMost: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (atMost <= 0) return 1
  return 1 + Math.max(0, ...Object.values(value).map(inner => depthOf(inner, atMost - 1)))
}

/** One tally that allows all of them. */
function widened (expectation: Expectation): Tally {
  const ids = new Map<Id, Range>()
  for (const tally of expectation) {
    for (const [id, { max }] of tally.ids) {
      const min = Math.min(...expectation.map(other => other.ids.get(id)?.min ?? 0))
      ids.set(id, { min, max: Math.max(max, ids.get(id)?.max ?? 0) })
    }
  }
  const ranges = expectation.map(({ blanks }) => blanks)
  return {
    ids,
    blanks: { min: Math.min(...ranges.map(({ min }) => min)), max: Math.max(...ranges.map(({ max }) => max)) }
  }
}

function sum (tallies: Tally[]): Tally {
  const ids = new Map<Id, Range>()
  for (const { ids: own } of tallies) {
    for (const [id, { min, max }] of own) {
      const so = ids.get(id) ?? { min: 0, max: 0 }
      ids.set(id, { min: so.min + min, max: so.max + max })
    }
  }
  const blanks = tallies.reduce((so, tally) => ({ min: so.min + tally.blanks.min, max: so.max + tally.blanks.max }), {
    min: 0,
    max: 0
  })
  return { ids, blanks }
}

/** Everybody asks for the same ones again and again. */
const read = new WeakMap<Buffer, { value: unknown }>()

function valueOf (bytes: Buffer): unknown {
  const known = read.get(bytes)
  if (known !== undefined) return known.value
  const value = isUtf8(bytes) ? parsed(bytes.toString().replace(/^\ufeff/, '')) : undefined
  read.set(bytes, { value })
  return value
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
