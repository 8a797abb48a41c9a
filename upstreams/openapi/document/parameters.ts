import { isObject } from '../../../protocol/wire/json.js'
import { quote } from '../../lists/reading/warnings.js'
import { cutText } from '../schema/keywords.js'
import type { Converted, Schemas } from '../schema/schemas.js'
import { listOf, textOf, type Json, type References } from './references.js'

export type Place = 'path' | 'query' | 'header' | 'cookie'

/** How a value is written where it is more than one text. */
export interface Style {
  readonly style: 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'tabDelimited' | 'pipeDelimited' | 'deepObject'
  readonly explode: boolean
  /** True where characters such as `/` and `:` stay as they are. */
  readonly allowReserved: boolean
}

/** A parameter of an operation. */
export interface Parameter extends Style {
  readonly in: Place
  readonly name: string
  readonly required: boolean
  readonly description: string | undefined
  readonly schema: Converted
  /** True where the value is written as JSON. */
  readonly isJson: boolean
}

/** The most parameters of an operation. */
export const MAX_PARAMETERS = 256
const MAX_DESCRIPTION = 1_000

const STYLES: Readonly<Record<Place, readonly Style['style'][]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form']
}

/** The `collectionFormat` of Swagger 2.0. */
const COLLECTIONS: Readonly<Record<string, Pick<Style, 'style' | 'explode'>>> = {
  __proto__: null as never,
  ssv: { style: 'spaceDelimited', explode: false },
  tsv: { style: 'tabDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
  multi: { style: 'form', explode: true }
}

/** The parameters of an operation and of its path, as objects; those of the operation win. */
export function rawParameters (path: Json, operation: Json, references: References): Json[] {
  const given = [...listOf(path['parameters']), ...listOf(operation['parameters'])]
  if (given.length > MAX_PARAMETERS) throw new Error(`it has more than ${MAX_PARAMETERS} parameters`)
  const found = new Map<string, Json>()
  for (const one of given) {
    const raw = references.follow(one)
    if (raw === undefined) throw new Error(`a parameter is a reference that leads nowhere${named(one)}`)
    found.set(`${String(raw['in'])}:${String(raw['name'])}`, raw)
  }
  return [...found.values()]
}

/** The reference of a value, as a sentence about it ends. */
export const named = (value: unknown): string =>
  isObject(value) && typeof value['$ref'] === 'string' ? ` (${quote(value['$ref'])})` : ''

/** Reads a parameter; undefined where it is none of those that are sent beside the body. */
export function readParameter (raw: Json, schemas: Schemas, references: References): Parameter | undefined {
  const { in: place, name } = raw
  if (!isPlace(place) || typeof name !== 'string' || name === '') return undefined
  const [type, content] = Object.entries(isObject(raw['content']) ? raw['content'] : {})[0] ?? []
  const media = references.follow(content)
  const schema = media?.['schema'] ?? raw['schema'] ?? schemaOfSwagger(raw)
  const description = textOf(raw['description'])
  return {
    in: place,
    name,
    required: place === 'path' || raw['required'] === true,
    description: description && cutText(description, MAX_DESCRIPTION),
    schema: schemas.convert(schema),
    isJson: type !== undefined && /json/i.test(type),
    ...styleOf(raw, place)
  }
}

/** How the value is written, by `style` and `explode`, or by `collectionFormat`. */
export function styleOf (raw: Json, place: Place): Style {
  const { style: given, explode, collectionFormat, allowReserved } = raw
  const usual = STYLES[place][0] as Style['style']
  const isSwagger = raw['schema'] === undefined && raw['content'] === undefined && raw['type'] !== undefined
  if (isSwagger) {
    const collection = { style: usual, explode: false, ...COLLECTIONS[String(collectionFormat)] }
    return place === 'query' ? { ...collection, allowReserved: false } : { style: usual, explode: false, allowReserved: false }
  }
  const style = STYLES[place].find(known => known === given) ?? usual
  return { style, explode: typeof explode === 'boolean' ? explode : style === 'form', allowReserved: allowReserved === true }
}

const isPlace = (place: unknown): place is Place => typeof place === 'string' && Object.hasOwn(STYLES, place)

const OF_PARAMETER = new Set([
  'name', 'in', 'description', 'required', 'collectionFormat', 'allowEmptyValue', 'style', 'explode', 'example', 'examples'
])

const swaggerSchemas = new WeakMap<Json, Json>()

/** In Swagger 2.0, a parameter is its own schema. */
export function schemaOfSwagger (raw: Json): Json {
  const known = swaggerSchemas.get(raw)
  if (known !== undefined) return known
  const schema = Object.fromEntries(Object.entries(raw).filter(([keyword]) => !OF_PARAMETER.has(keyword)))
  swaggerSchemas.set(raw, schema)
  return schema
}
