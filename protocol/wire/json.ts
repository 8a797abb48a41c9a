import { isUtf8 } from 'node:buffer'
import { errors } from './errors.js'
import { LIMITS, type MessageLimits } from './limits.js'

/** Bytes to a JSON value: strict UTF-8, strict JSON, nothing repaired. Throws a parse error otherwise. */
export function parseJson (input: Uint8Array | string): unknown {
  const text = typeof input === 'string' ? input : utf8(input)
  try {
    return JSON.parse(text)
  } catch {
    throw errors.parse(text.trim() === '' ? 'the message is empty' : 'the message is not valid JSON')
  }
}

/**
 * Refuses what JSON allows but a program should not take: keys that reach prototypes, deep nesting, many members,
 * numbers that do not fit. Gives the number of values there are.
 */
export function inspect (value: unknown, limits: MessageLimits = LIMITS): number {
  return examine(value, limits).values
}

/**
 * Checks a value against the limits. Where the limits let forbidden keys and numbers pass, `forbidden` says in words
 * which is the first.
 */
export function examine (
  value: unknown,
  limits: MessageLimits
): { readonly values: number; readonly forbidden: string | undefined } {
  const inspection = new Inspection(limits)
  inspection.visit(value, 1)
  return inspection
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
  forbidden: string | undefined

  constructor (limits: MessageLimits) {
    this.#limits = limits
  }

  visit (value: unknown, depth: number): void {
    this.values++
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) this.#forbid('a number is too large to be represented', errors.invalidParams)
    } else if (typeof value === 'object' && value !== null) {
      const { maxDepth, option } = this.#limits
      if (depth > maxDepth) throw errors.tooDeep(maxDepth, option === undefined)
      if (Array.isArray(value)) for (const item of value) this.visit(item, depth + 1)
      else this.#members(value as Record<string, unknown>, depth)
    }
  }

  #members (value: Record<string, unknown>, depth: number): void {
    for (const key in value) {
      if (++this.#keys > this.#limits.maxKeys) throw errors.tooManyKeys(this.#limits.maxKeys, this.#limits.option)
      if (key === '__proto__') this.#forbid('the key "__proto__" is not allowed', errors.invalidRequest)
      const inner = value[key]
      if (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype')) {
        this.#forbid('the key "constructor.prototype" is not allowed', errors.invalidRequest)
      }
      this.visit(inner, depth + 1)
    }
  }

  #forbid (why: string, error: (why: string) => Error): void {
    if (this.#limits.allowsUnsafeKeys !== true) throw error(why)
    this.forbidden ??= why
  }
}

/** A Buffer over the same memory; nothing is copied. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The message without the byte order mark that may precede it. */
export function withoutByteOrderMark<T extends Uint8Array | string> (input: T): T {
  if (typeof input === 'string') return (input.charCodeAt(0) === 0xfeff ? input.slice(1) : input) as T
  return (input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf ? input.subarray(3) : input) as T
}

/**
 * U+FFFD, which the decoder substitutes for invalid bytes. It is legal in text, too, so a text that has it is checked
 * again.
 */
const REPLACEMENT = '\ufffd'

function utf8 (bytes: Uint8Array): string {
  const text = asBuffer(bytes).toString()
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw errors.parse('the message is not valid UTF-8')
  return text
}
