import { isObject } from '../wire/json.js'

type Field = Record<string, unknown>

/** Finds the mistake in a value of a field; undefined where there is none. */
type Check = (value: unknown, field: Field) => string | undefined

/** The characters that a format needs at least, and which no pattern has to be compiled for. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  __proto__: null as never,
  email: text => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: text => URL.canParse(text),
  date: text => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': text => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text))
}

const CHECKS: Readonly<Record<string, Check>> = {
  __proto__: null as never,
  string: (value, field) => typeof value === 'string' ? inText(value, field) : 'must be a text',
  number: (value, field) => typeof value === 'number' ? inNumber(value, field) : 'must be a number',
  integer: (value, field) => Number.isInteger(value) ? inNumber(value as number, field) : 'must be a whole number',
  boolean: value => typeof value === 'boolean' ? undefined : 'must be true or false',
  array: (value, field) => Array.isArray(value) ? inList(value, field) : 'must be a list'
}

/**
 * Finds the first mistake in the content of a form, whose schema may be one of another server: it is read as the forms
 * of MCP are, flat, and nothing of it is compiled. Undefined where the content fits. A field that is not in the form is
 * a mistake of a person; `isLoose` is for programs, which may send more where the schema does not forbid it.
 */
export function mistakeInForm (
  schema: unknown,
  content: Readonly<Record<string, unknown>>,
  isLoose = false
): string | undefined {
  const { properties = {}, required = [], additionalProperties } = isObject(schema) ? schema : {}
  const mayHaveMore = isLoose && additionalProperties !== false
  const fields = isObject(properties) ? properties : {}
  const needed: unknown[] = Array.isArray(required) ? required : []
  const missing = needed.find(name => !Object.hasOwn(content, String(name)))
  if (missing !== undefined) return `the field "${String(missing)}" is missing`
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined && mayHaveMore) continue
    if (!isObject(field)) return `the form has no field "${name}"`
    const wrong = mistakeIn(value, field)
    if (wrong !== undefined) return `the field "${name}" ${wrong}`
  }
  return undefined
}

function mistakeIn (value: unknown, field: Field): string | undefined {
  const wrong = CHECKS[String(field.type)]?.(value, field)
  if (wrong !== undefined) return wrong
  const choices = choicesOf(field)
  if (choices === undefined || choices.includes(value)) return undefined
  return `must be one of ${choices.map(String).join(', ')}`
}

function inText (text: string, { minLength, maxLength, format }: Field): string | undefined {
  const { length } = [...text]
  if (typeof minLength === 'number' && length < minLength) return `must have at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength) return `must have at most ${maxLength} characters`
  return typeof format === 'string' && FORMATS[format]?.(text) === false ? `must be of the format ${format}` : undefined
}

function inNumber (number: number, { minimum, maximum }: Field): string | undefined {
  if (typeof minimum === 'number' && number < minimum) return `must be at least ${minimum}`
  return typeof maximum === 'number' && number > maximum ? `must be at most ${maximum}` : undefined
}

function inList (list: readonly unknown[], { items, minItems, maxItems }: Field): string | undefined {
  if (typeof minItems === 'number' && list.length < minItems) return `must have at least ${minItems} values`
  if (typeof maxItems === 'number' && list.length > maxItems) return `must have at most ${maxItems} values`
  const choices = isObject(items) ? choicesOf(items) : undefined
  const isWrong = (value: unknown): boolean => typeof value !== 'string' || choices?.includes(value) === false
  if (!list.some(isWrong)) return undefined
  return `must be a list of ${choices === undefined ? 'texts' : choices.map(String).join(', ')}`
}

/** The values that a field allows; undefined where it allows any. */
function choicesOf ({ enum: values, oneOf, anyOf }: Field): unknown[] | undefined {
  if (Array.isArray(values)) return values
  const titled = [oneOf, anyOf].find(Array.isArray) as unknown[] | undefined
  return titled?.map(choice => isObject(choice) ? choice.const : undefined)
}
