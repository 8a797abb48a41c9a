import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { parseJson } from '../forms/model/json-text.js'
import { brokenIn, toJson } from '../forms/model/value.js'
import { bareType } from './media.js'

/** Longer texts are shown as texts: to read them as JSON would take too long. */
const MAX_READ = 5_000_000
/** The longest text that is read as JSON although nothing says that it is. */
const MAX_GUESSED = 500_000

/**
 * The value of a text that its type calls JSON; undefined where it is none, or where a tree would not show exactly what
 * it says.
 */
export function jsonContent (text: string, type: string): Json | undefined {
  return /^application\/(?:.+\+)?json$/.test(bareType(type)) ? readExactly(text) : undefined
}

/** The value of a text that is an object or a list as JSON, whatever its type; undefined for others. */
export function jsonText (text: string): Json | undefined {
  return text.length <= MAX_GUESSED && /^\s*[[{]/.test(text) ? readExactly(text) : undefined
}

/**
 * The places in `content` of texts that say the same as `structuredContent`, as tools send them to clients that do not
 * know it.
 */
export function repeatedTexts ({ content, structuredContent }: JsonObject): Set<number> {
  const repeated = new Set<number>()
  if (!Array.isArray(content) || structuredContent === undefined) return repeated
  content.forEach((block, index) => {
    if (
      isObject(block) &&
      block.type === 'text' &&
      typeof block.text === 'string' &&
      isSame(readExactly(block.text), structuredContent)
    ) { repeated.add(index) }
  })
  return repeated
}

function readExactly (text: string): Json | undefined {
  if (text.length > MAX_READ) return undefined
  const read = parseJson(text)
  if ('problem' in read || read.value === undefined || brokenIn(read.value).length > 0) return undefined
  return toJson(read.value)
}

/** The order of members does not matter. */
function isSame (one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(name => Object.hasOwn(other, name) && isSame(Reflect.get(one, name), Reflect.get(other, name)))
  )
}
