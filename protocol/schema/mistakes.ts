import { shorten, type Mistake } from '../wire/errors.js'
import { isObject } from '../wire/json.js'

/** Everything that is wrong with a value: in words, and one by one. */
export interface Wrong { readonly text: string, readonly mistakes: readonly Mistake[] }

/** A mistake with the sentence about it, which names the place. */
export interface DescribedMistake extends Mistake { readonly sentence: string }

/** An error as Ajv gives it. Its own type would be part of the types of this package, which does not bring Ajv. */
interface AjvError {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  schemaPath: string
  message?: string
}

/** How many mistakes of one value are listed, how long their sentences are together, and how many are looked at. */
const MOST_LISTED = 20
const MOST_TEXT = 4_096
const MOST_READ = 200

/** A longer message about a pattern is not repeated to the client. */
const MAX_PATTERN = 120

/**
 * A value with more elements, members and characters of keys than these is told its first mistake only: each error of
 * Ajv has the whole path to it.
 */
const MOST_VALUES = 1_000
const MOST_KEY_TEXT = 16_384

/** Lists what is wrong, each mistake once, and how many more there are. */
export function listMistakes<E> (errors: readonly E[], read: (error: E) => DescribedMistake): Wrong {
  const distinct = new Map<string, DescribedMistake>()
  for (const error of errors.slice(0, MOST_READ)) {
    const mistake = read(error)
    distinct.set(mistake.sentence, mistake)
  }
  const listed: DescribedMistake[] = []
  let length = 0
  for (const mistake of distinct.values()) {
    length += mistake.sentence.length
    if (listed.length === MOST_LISTED || (listed.length > 0 && length > MOST_TEXT)) break
    listed.push(mistake)
  }
  const more = distinct.size - listed.length + Math.max(0, errors.length - MOST_READ)
  return {
    text: [...listed.map(({ sentence }) => sentence), ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    mistakes: listed.map(({ path, message }) => ({ path, message }))
  }
}

/** One segment of a JSON pointer. */
export const segment = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** True where finding all mistakes of a value costs little more than finding the first. */
export function isSmall (value: unknown): boolean {
  let values = 0
  let keyText = 0
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) {
      if ((values += next.length) > MOST_VALUES) return false
      for (const item of next) waiting.push(item)
    } else if (isObject(next)) {
      for (const key in next) {
        if (++values > MOST_VALUES || (keyText += key.length) > MOST_KEY_TEXT) return false
        waiting.push(next[key])
      }
    }
  }
  return true
}

/** Reads an error of Ajv; `schema` is the one that was broken. */
export function readAjvError (error: AjvError, schema: object): DescribedMistake {
  const { instancePath, keyword, params } = error
  const where = shorten(instancePath.slice(1)).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  if (keyword === 'required') {
    const missing = String(params.missingProperty)
    return {
      path: shorten(instancePath + segment(missing)),
      message: 'is missing',
      sentence: `${where === '' ? '' : `${where}: `}"${missing}" is missing`
    }
  }
  const message = `${messageOf(error, schema)}${detail(keyword, params)}`
  return { path: shorten(instancePath), message, sentence: `${where === '' ? 'it' : where} ${message}` }
}

/**
 * A format says more to a person than the pattern that a schema library gives beside it; a long pattern says nothing.
 */
function messageOf ({ keyword, message = 'does not fit', schemaPath }: AjvError, schema: object): string {
  if (keyword !== 'pattern') return message
  const format = memberAt(schema, schemaPath.replace(/pattern$/, 'format'))
  if (typeof format === 'string') return `must match format "${format}"`
  return message.length <= MAX_PATTERN ? message : 'must match the pattern of its schema'
}

/** Finds the value that a JSON pointer in a URI fragment leads to, such as `#/properties/a/format`. */
function memberAt (schema: unknown, pointer: string): unknown {
  const names = pointer
    .split('/')
    .slice(1)
    .map(name => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>(
    (value, name) => (isObject(value) || Array.isArray(value) ? Reflect.get(value, name) : undefined),
    schema
  )
}

// Ajv's own words leave out the part that a person needs most.
function detail (keyword: string, params: Record<string, unknown>): string {
  if (keyword === 'additionalProperties') return `: "${shorten(String(params.additionalProperty))}"`
  if (keyword === 'unevaluatedProperties') return `: "${shorten(String(params.unevaluatedProperty))}"`
  if (keyword === 'enum') {
    return `: ${(params.allowedValues as unknown[]).map(value => JSON.stringify(value)).join(', ')}`
  }
  return keyword === 'const' ? `: ${JSON.stringify(params.allowedValue)}` : ''
}
