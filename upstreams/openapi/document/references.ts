import { isObject } from '../../../protocol/wire/json.js'

export type Json = Readonly<Record<string, unknown>>

/** How many references may follow each other. */
const MAX_CHAIN = 32

/** The parts of a document that its references name. No other document is looked into. */
export class References {
  readonly #root: Json
  /** The values that were looked for: a long pointer may be followed from everywhere. */
  readonly #found = new Map<string, unknown>()

  constructor (root: Json) {
    this.#root = root
  }

  /** The value at a pointer such as `#/components/schemas/Pet`; undefined where there is none. */
  find (reference: string): unknown {
    if (!this.#found.has(reference)) this.#found.set(reference, this.#find(reference))
    return this.#found.get(reference)
  }

  #find (reference: string): unknown {
    if (!reference.startsWith('#')) return undefined
    let value: unknown = this.#root
    for (const part of partsOf(reference)) {
      if ((!isObject(value) && !Array.isArray(value)) || !Object.hasOwn(value, part)) return undefined
      value = (value as Json)[part]
    }
    return value
  }

  /** The object itself, or the one that its reference leads to; undefined where that is none. */
  follow (value: unknown): Json | undefined {
    for (let links = 0; isObject(value) && links < MAX_CHAIN; links++) {
      if (typeof value['$ref'] !== 'string') return value
      value = this.find(value['$ref'])
    }
    return undefined
  }
}

/** The names in a pointer, decoded. */
export const partsOf = (reference: string): string[] =>
  reference.split('/').slice(1).map(part => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))

function decode (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The elements of a value that should be a list; none where it is something else. */
export const listOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []

/** The text, unless it is something else or empty. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** Sets a member whatever its name: `__proto__` is one like others. */
export function setMember (target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
