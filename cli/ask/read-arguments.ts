import { didYouMean } from '../../lib/nearest-name.js'
import { isObject } from '../../protocol/wire/json.js'
import { typeInWords, type Fields, type Shape } from './shape.js'

/** Reads what arguments refer to. */
export interface Sources {
  /** The text of a file that `key=@FILE` names. Throws a sentence. */
  file (path: string): string
}

/** The longest value that a sentence repeats. */
const SHOWN = 60

/**
 * Makes the arguments of a call from words: `key=value` by the schema, `key:=JSON`, `key=@FILE`, `key=@@text` for a
 * text that begins with `@`. `given` has those that were written as JSON, which words override. Throws a sentence for
 * each mistake, one a line.
 */
export function readArguments (
  words: readonly string[],
  given: Readonly<Record<string, unknown>>,
  shape: Fields,
  sources: Sources
): Record<string, unknown> {
  const mistakes: string[] = []
  const texts = new Map<string, string[]>()
  const read: Record<string, unknown> = { ...given }
  const put = (key: string, value: unknown): void => {
    Object.defineProperty(read, key, { value, enumerable: true, configurable: true, writable: true })
  }
  for (const word of words) {
    try {
      readWord(word, sources, {
        raw: put,
        text: (key, text) => { texts.set(key, [...(texts.get(key) ?? []), text]) }
      }, shape)
    } catch (error) {
      mistakes.push((error as Error).message)
    }
  }
  for (const [key, values] of texts) {
    try {
      const known = shape.fields.get(key)
      if (known === undefined) refuseUnknown(key, shape)
      put(key, known === undefined ? guessAll(values) : valueOf(key, values, known))
    } catch (error) {
      mistakes.push((error as Error).message)
    }
  }
  const missing = [...shape.required].filter(name => !Object.hasOwn(read, name) && !texts.has(name))
  if (missing.length > 0) mistakes.push(describeMissing(missing, shape))
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
  return read
}

interface Taking {
  raw: (key: string, value: unknown) => void
  text: (key: string, text: string) => void
}

function readWord (word: string, sources: Sources, { raw, text }: Taking, { fields }: Fields): void {
  const [, key, sign, value = ''] = /^(.+?)(:?=)([^]*)$/.exec(word) ?? []
  if (key === undefined) {
    const isFlag = fields.get(word)?.types.has('boolean') === true
    throw new Error(
      `"${shorten(word)}" has no value: write ${isFlag ? `${word}=true` : `${/\s/.test(word) ? 'NAME' : word}=VALUE`}`
    )
  }
  if (sign === ':=') return raw(key, parse(value, key))
  if (!value.startsWith('@') || value.length === 1) return text(key, value)
  text(key, value.startsWith('@@') ? value.slice(1) : sources.file(value.slice(1)))
}

function refuseUnknown (key: string, { fields, takesOthers }: Fields): void {
  const names = [...fields.keys()]
  const hint = meantBy(key, names)
  if (takesOthers && hint === '') return
  throw new Error(
    `there is no argument "${shorten(key)}"${hint || `; there ${names.length === 0 ? 'are none' : `is ${names.join(', ')}`}`}`
  )
}

/** "; did you mean ...?", or nothing. Every name is like one of two letters. */
const meantBy = (name: string, names: readonly string[]): string => (name.length < 3 ? '' : didYouMean(name, names))

function describeMissing (missing: readonly string[], { fields }: Fields): string {
  const parts = missing.map(name => {
    const shape = fields.get(name)
    const words = shape === undefined ? '' : typeInWords(shape)
    return words === '' ? name : `${name} (${words})`
  })
  return `${parts.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`
}

function valueOf (key: string, texts: readonly string[], shape: Shape): unknown {
  if (!shape.types.has('array')) {
    if (texts.length > 1 && shape.types.size > 0) throw new Error(`argument ${key} is given ${texts.length} times, and is no list`)
    return texts.length > 1 ? guessAll(texts) : toValue(texts[0] ?? '', shape, `argument ${key}`)
  }
  const [only = ''] = texts
  if (texts.length === 1) {
    const list = only.trimStart().startsWith('[') ? tryJson(only) : undefined
    if (Array.isArray(list)) {
      refuseChanged(only, `argument ${key}`)
      return list
    }
    if (shape.types.size > 1) {
      const { types, ...rest } = shape
      const others = new Set([...types].filter(type => type !== 'array'))
      try {
        return toValue(only, { ...rest, types: others, items: undefined }, key)
      } catch { /* It is an element of a list, then. */ }
    }
  }
  return texts.map(text => (shape.items === undefined ? guess(text) : toValue(text, shape.items, `argument ${key}`)))
}

/** The value that a text stands for, by its shape. Throws a sentence that begins with `what`. */
export function toValue (text: string, { types, choices }: Shape, what: string): unknown {
  if (choices !== undefined) {
    const found = choices.find(({ value, title }) => String(value) === text || title === text)
    if (found !== undefined) return found.value
    const names = choices.map(({ value }) => String(value))
    throw new Error(
      `${what} must be one of ${shorten(names.join(', '), 400)}, not "${shorten(text)}"${meantBy(text, names)}`
    )
  }
  if (types.size === 0) return guess(text)
  const value = strictly(text, types)
  if (value !== undefined) return value
  if (NUMBER.test(text) && (types.has('number') || types.has('integer'))) refuseChanged(text, what)
  throw new Error(`${what} must be ${describeTypes(types)}, not "${shorten(text)}"`)
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** True for a number that would arrive as another one: it is too large, has too many digits, or is too near to 0. */
function isChanged (text: string): boolean {
  const size = Math.abs(Number(text))
  if (size === 0) return /[1-9]/.test(text.replace(/e.*$/i, ''))
  return size === Infinity || (size > Number.MAX_SAFE_INTEGER && !/e/i.test(text))
}

/** Throws a sentence if JSON, or a number, has a number that would arrive as another one. */
function refuseChanged (json: string, what: string): void {
  const numbers = json.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/[+-]?[\d.][\d.e+-]*/gi) ?? []
  const changed = numbers.find(number => NUMBER.test(number) && isChanged(number))
  if (changed === undefined) return
  throw new Error(`${what}: the number ${shorten(changed)} cannot be sent without a change; send it as text, if the tool takes that`)
}

function strictly (text: string, types: Shape['types']): unknown {
  const isNumber = NUMBER.test(text) && !isChanged(text)
  if (types.has('integer') && isNumber && Number.isSafeInteger(Number(text))) return Number(text)
  if (types.has('number') && isNumber) return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.has('null') && text === 'null') return null
  if (types.has('object') || types.has('array')) {
    const value = tryJson(text)
    if (value !== undefined) refuseChanged(text, 'JSON')
    if ((types.has('object') && isObject(value)) || (types.has('array') && Array.isArray(value))) return value
  }
  return types.has('string') ? text : undefined
}

const WORDS: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list as JSON',
  object: 'an object as JSON'
}

const describeTypes = (types: Shape['types']): string => [...types].map(type => WORDS[type]).join(' or ')

/**
 * A value of which nothing is known: JSON where it is a number, a word of JSON, a list or an object, else text, as is a
 * number that would arrive as another one.
 */
function guess (text: string): unknown {
  const value = tryJson(text)
  if (value === undefined || typeof value === 'string' || (typeof value === 'number' && isChanged(text.trim()))) return text
  refuseChanged(text, 'JSON')
  return value
}

const guessAll = (texts: readonly string[]): unknown => (texts.length === 1 ? guess(texts[0] ?? '') : texts.map(guess))

function tryJson (text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function parse (text: string, key: string): unknown {
  const value = parseJson(text, `argument ${key}`)
  refuseChanged(text, `argument ${key}`)
  return value
}

function parseJson (text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new Error(`${what} is not JSON: ${shorten((error as Error).message, 200)}`, { cause: error })
  }
}

/** All arguments as one JSON object. `where` names it in the sentence that is thrown. */
export function parseObject (text: string, where: string): Record<string, unknown> {
  const value = parseJson(text, where)
  refuseChanged(text, where)
  if (!isObject(value)) throw new Error(`${where} must be a JSON object, for example '{"key": "value"}'`)
  return value
}

const shorten = (text: string, max = SHOWN): string => (text.length > max ? `${text.slice(0, max)}…` : text)
