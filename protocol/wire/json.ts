import { isUtf8 } from 'node:buffer'
import { errors } from './errors.js'
import { LIMITS, type MessageLimits } from './limits.js'

/** Bytes to a JSON value, or those from `start` to `end`: strict UTF-8, strict JSON, nothing repaired. Throws a parse error otherwise. */
export function parseJson (input: Uint8Array | string, start = 0, end = input.length): unknown {
  const text = typeof input === 'string' ? input.slice(start, end) : utf8(input, start, end)
  try {
    return JSON.parse(text)
  } catch {
    throw errors.parse(text.trim() === '' ? 'the message is empty' : 'the message is not valid JSON')
  }
}

/**
 * Refuses what JSON allows but a program should not take: keys that reach prototypes, deep nesting, many members, numbers that do not fit.
 * Gives the number of values there are.
 */
export function inspect (value: unknown, limits: MessageLimits = LIMITS): number {
  const inspection = new Inspection(limits)
  inspection.visit(value, 1)
  return inspection.values
}

/** JSON with sorted keys: equal values give equal text. */
export function canonicalJson (value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => isObject(inner)
    ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
    : inner)
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class Inspection {
  readonly #limits: MessageLimits
  #keys = 0
  values = 0

  constructor (limits: MessageLimits) {
    this.#limits = limits
  }

  visit (value: unknown, depth: number): void {
    this.values++
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw errors.invalidParams('a number is too large to be represented')
    } else if (typeof value === 'object' && value !== null) {
      const { maxDepth } = this.#limits
      if (depth > maxDepth) throw errors.tooDeep(maxDepth)
      if (Array.isArray(value)) for (const item of value) this.visit(item, depth + 1)
      else this.#members(value as Record<string, unknown>, depth)
    }
  }

  #members (value: Record<string, unknown>, depth: number): void {
    for (const key in value) {
      if (++this.#keys > this.#limits.maxKeys) throw errors.tooManyKeys(this.#limits.maxKeys)
      if (key === '__proto__') throw errors.invalidRequest('the key "__proto__" is not allowed')
      const inner = value[key]
      if (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype')) {
        throw errors.invalidRequest('the key "constructor.prototype" is not allowed')
      }
      this.visit(inner, depth + 1)
    }
  }
}

/** A Buffer over the same memory; nothing is copied. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Where a message begins that may have a byte order mark before it. */
export function skipByteOrderMark (input: Uint8Array | string, start: number): number {
  if (typeof input === 'string') return input.charCodeAt(start) === 0xfeff ? start + 1 : start
  return input[start] === 0xef && input[start + 1] === 0xbb && input[start + 2] === 0xbf ? start + 3 : start
}

/** What stands in a text for bytes that are none, and sometimes for itself. */
const REPLACEMENT = '\ufffd'

function utf8 (bytes: Uint8Array, start: number, end: number): string {
  const text = asBuffer(bytes).toString('utf8', start, end)
  if (text.includes(REPLACEMENT) && !isUtf8(bytes.subarray(start, end))) throw errors.parse('the message is not valid UTF-8')
  return text
}
