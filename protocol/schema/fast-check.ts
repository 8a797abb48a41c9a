import { isObject } from '../wire/json.js'

/** True for a value that surely fits. */
export type Fits = (value: unknown) => boolean

type Json = Record<string, unknown>

/**
 * Makes a quick check of a schema that has common keywords only; undefined for every other schema. A value that it
 * accepts fits the schema. One that it rejects may still fit, as with characters beyond the basic plane, and has to be
 * checked by Ajv.
 */
export function fastCheck (schema: unknown, depth = 0): Fits | undefined {
  if (schema === true) return anything
  if (!isObject(schema) || depth > DEEPEST) return undefined
  const parts: Fits[] = []
  for (const [keyword, given] of Object.entries(schema)) {
    const part =
      given === undefined
        ? undefined
        : keyword.startsWith('x-')
          ? anything
          : KEYWORDS[keyword]?.(given, depth + 1, schema)
    if (part === undefined) return undefined
    if (part !== anything) parts.push(part)
  }
  return every(parts)
}

const DEEPEST = 32

const anything: Fits = () => true

const TYPES: Record<string, Fits> = {
  string: value => typeof value === 'string',
  number: value => Number.isFinite(value),
  integer: value => Number.isInteger(value),
  boolean: value => typeof value === 'boolean',
  null: value => value === null,
  array: value => Array.isArray(value),
  object: value => isObject(value)
}

type Keyword = (given: unknown, depth: number, schema: Json) => Fits | undefined

const note = (type: string): Keyword => given => TYPES[type]?.(given) === true ? anything : undefined

/** Judges values of one type only, as nearly all keywords do. */
const forType =
  <T>(is: (value: unknown) => boolean, fits: (value: T, limit: number) => boolean, limits: Fits = isCount): Keyword =>
    limit =>
      limits(limit) ? value => !is(value) || fits(value as T, limit as number) : undefined

const isCount: Fits = value => Number.isInteger(value) && value as number >= 0
const isString = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number'

const KEYWORDS: Record<string, Keyword> = {
  __proto__: null as never,
  $schema: (_given, depth) => depth === 1 ? anything : undefined,
  $comment: note('string'),
  title: note('string'),
  description: note('string'),
  format: note('string'),
  default: () => anything,
  examples: note('array'),
  deprecated: note('boolean'),
  readOnly: note('boolean'),
  writeOnly: note('boolean'),
  type: given => {
    if (!Array.isArray(given)) return typeOf(given)
    const types = given.map(typeOf)
    return isSet(given) && !types.includes(undefined) ? value => types.some(is => is?.(value)) : undefined
  },
  const: given => isSimple(given) ? value => value === given : undefined,
  enum: given => isEnum(given) ? value => given.includes(value) : undefined,
  anyOf: (given, depth) => {
    const branches = Array.isArray(given) && given.length > 0 ? all(given, depth) : undefined
    return branches && (value => branches.some(fits => fits(value)))
  },
  minLength: forType<string>(isString, (value, least) => value.length >= 2 * least || [...value].length >= least),
  maxLength: forType<string>(isString, (value, most) => value.length <= most),
  pattern: given => {
    const pattern = regular(given)
    return pattern && (value => typeof value !== 'string' || pattern.test(value))
  },
  minimum: forType<number>(isNumber, (value, least) => value >= least, Number.isFinite),
  maximum: forType<number>(isNumber, (value, most) => value <= most, Number.isFinite),
  exclusiveMinimum: forType<number>(isNumber, (value, least) => value > least, Number.isFinite),
  exclusiveMaximum: forType<number>(isNumber, (value, most) => value < most, Number.isFinite),
  minItems: forType<unknown[]>(Array.isArray, (value, least) => value.length >= least),
  maxItems: forType<unknown[]>(Array.isArray, (value, most) => value.length <= most),
  uniqueItems: given => {
    if (given === false) return anything
    return given === true
      ? value => !Array.isArray(value) || (value.every(isSimple) && new Set(value).size === value.length)
      : undefined
  },
  items: (given, depth) => {
    const item = fastCheck(given, depth)
    return item === undefined || item === anything ? item : value => !Array.isArray(value) || value.every(item)
  },
  required: given => {
    if (!Array.isArray(given) || !given.every(isString) || !(given.length === 0 || isSet(given))) return undefined
    return object(value => {
      for (const name of given) if (value[name] === undefined) return false
      return true
    })
  },
  properties: (given, depth) => {
    const members = compileNamed(given, depth)
      ?.filter(([, fits]) => fits !== anything)
      .map(([name, fits]) => ({ name, fits }))
    return members && object(value => {
      for (const { name, fits } of members) if (value[name] !== undefined && !fits(value[name])) return false
      return true
    })
  },
  patternProperties: (given, depth) => {
    const members = compileNamed(given, depth)?.map(([source, fits]) => [regular(source), fits] as const)
    if (members === undefined || members.some(([pattern]) => pattern === undefined)) return undefined
    const picky = members.filter(([, fits]) => fits !== anything)
    if (picky.length === 0) return anything
    return object(value =>
      Object.keys(value).every(name => picky.every(([pattern, fits]) => !pattern?.test(name) || fits(value[name])))
    )
  },
  additionalProperties: (given, depth, { properties, patternProperties }) => {
    const rest = given === false ? nothing : fastCheck(given, depth)
    if (rest === undefined || rest === anything) return rest
    const known = new Set(Object.keys(isObject(properties) ? properties : {}))
    const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {}).map(regular)
    return object(value =>
      Object.keys(value).every(
        name => known.has(name) || patterns.some(pattern => pattern?.test(name)) || rest(value[name])
      )
    )
  }
}

const object = (fits: (value: Json) => boolean): Fits => value => !isObject(value) || fits(value)

const nothing: Fits = () => false

const isSimple: Fits = value =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const isEnum = (given: unknown): given is unknown[] =>
  Array.isArray(given) && given.length > 0 && given.every(isSimple)

const typeOf = (name: unknown): Fits | undefined =>
  typeof name === 'string' && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined

const isSet = (list: unknown[]): boolean => list.length > 0 && new Set(list).size === list.length

function every (parts: Fits[]): Fits {
  const [first = anything, second] = parts
  if (second === undefined) return first
  // Every message goes through here: nothing is made for it.
  return value => {
    for (const fits of parts) if (!fits(value)) return false
    return true
  }
}

function all (schemas: unknown[], depth: number): Fits[] | undefined {
  const made = schemas.map(schema => fastCheck(schema, depth))
  return made.includes(undefined) ? undefined : made as Fits[]
}

function compileNamed (schemas: unknown, depth: number): Array<[string, Fits]> | undefined {
  if (!isObject(schemas) || Object.hasOwn(schemas, '__proto__')) return undefined
  const names = Object.keys(schemas)
  const made = all(Object.values(schemas), depth)
  return made && names.map((name, index) => [name, made[index] as Fits])
}

function regular (source: unknown): RegExp | undefined {
  try {
    return typeof source === 'string' ? new RegExp(source, 'u') : undefined
  } catch {
    return undefined
  }
}
