import { text, type CallToolResult, type ContentBlock } from '../wire/content.js'
import { isObject } from '../wire/json.js'

/** The return value of a tool without an output schema: text is made from it, and structured content from an object. */
export type ToolValue = string | number | boolean | null | undefined | void | object | ContentBlock[] | CallToolResult

/** The result of a call from what a tool returned; `render` makes the text for people. */
export function toResult (value: unknown, structured: boolean, render?: () => string): CallToolResult {
  if (!structured) {
    if (typeof value === 'string' && render === undefined) return { content: [text(value)] }
    if (isResult(value)) return value
    if (isBlock(value)) return { content: [value] }
    if (Array.isArray(value) && value.every(isBlock)) return { content: value }
  }
  if (value === undefined || value === null) return { content: [] }
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(`a ${typeof value} is no result`)
  const json = JSON.stringify(value)
  const shown = render?.() ?? (typeof value === 'object' ? json : String(value))
  // The JSON text decides: a date is an object here and text there.
  return structured || /^[[{]/.test(json)
    ? { content: [text(shown)], structuredContent: value }
    : { content: [text(shown)] }
}

/**
 * Makes a function that gives one hint about the first results of a tool, and none after it. Members are looked at in
 * the very first only.
 */
export function hinter (): (value: unknown) => string | undefined {
  let left = MAX_RESULTS
  return value => {
    if (left === 0) return undefined
    const hint = hintAbout(value) ?? (left === MAX_RESULTS ? hintAboutMembers(value) : undefined)
    left = hint === undefined ? left - 1 : 0
    return hint
  }
}

/** How many results of a tool are looked at: looking at each would add 80 ns to every call that returns an object. */
const MAX_RESULTS = 100

/**
 * A sentence about a value of which JSON keeps nothing, or something that was not meant; undefined for others. Ordinary
 * values cost one comparison.
 */
function hintAbout (value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
    ? undefined
    : hintByClass(value)
}

/**
 * The hint about members of an object or list. A date is left out: as a member it becomes the text that people expect.
 */
function hintAboutMembers (value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    const hint = classOf(member) === 'Date' ? undefined : hintAbout(member)
    if (hint !== undefined) return `in "${name}" ${hint}`
  }
}

/** How many members of the first result are looked at. */
const MAX_MEMBERS = 100

const BYTES =
  "bytes, which JSON cannot hold; return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: 'image/png' }, or text"

const HINTS: Record<string, string> = {
  Map: 'a Map, of which JSON keeps nothing; return Object.fromEntries(map)',
  Set: 'a Set, of which JSON keeps nothing; return [...set]',
  Date: 'a Date, which arrives as text in quotes; return date.toISOString()',
  Error: 'an Error, of which JSON keeps nothing; throw new ToolError(error.message)',
  RegExp: 'a RegExp, of which JSON keeps nothing; return regexp.source',
  Promise: 'a Promise, of which JSON keeps nothing; await it',
  ArrayBuffer: BYTES,
  SharedArrayBuffer: BYTES,
  Blob: BYTES
}

const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

function hintByClass (value: object): string | undefined {
  if (ArrayBuffer.isView(value)) return BYTES
  const known = HINTS[classOf(value)]
  if (known !== undefined) return known
  const { constructor: { name = '' } = {} } = value as { constructor?: { name?: string } }
  const isLost = !('toJSON' in value) && !Array.isArray(value) && Object.keys(value).length === 0
  return isLost
    ? `an instance of ${name === '' ? 'a class' : name}, of which JSON keeps nothing; return an object with its values, or give the class a toJSON()`
    : undefined
}

const BLOCKS: Record<string, string[]> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource: ['resource'],
  resource_link: ['uri', 'name']
}

// Data may have a `type` of its own, so the rest must fit too.
const isBlock = (value: unknown): value is ContentBlock =>
  isObject(value) &&
  BLOCKS[String(value.type)]?.every(member =>
    member === 'resource' ? isObject(value[member]) : typeof value[member] === 'string'
  ) === true

const isResult = (value: unknown): value is CallToolResult =>
  isObject(value) && Array.isArray(value.content) && value.content.every(isBlock)
