import type { Json } from '../../client/contract.js'

/**
 * The value of a form. Objects are Maps, so that `__proto__` and `constructor` are names like others.
 * `undefined` in place of a value: the field is left out.
 */
export type Value = null | boolean | number | string | Typed | Value[] | Fields
export type Fields = Map<string, Value>

/** A text as a person typed it, where its letters matter: `1.50`, or something that is no value (yet) and says why. */
export class Typed {
  constructor (readonly text: string, readonly value: Value | undefined, readonly problem?: string) {}
}

/** Where in a value, as a JSON pointer: `''` is all of it, `/list/0/name` a part. */
export type Pointer = string

export const below = (at: Pointer, name: string | number): Pointer =>
  `${at}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

export function namesOf (at: Pointer): string[] {
  return at.split('/').slice(1).map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function fromJson (json: Json): Value {
  if (Array.isArray(json)) return json.map(fromJson)
  if (json === null || typeof json !== 'object') return json
  return new Map(Object.entries(json).map(([name, member]) => [name, fromJson(member)]))
}

/** The JSON that is sent. What is typed but no value is left out; `brokenIn` tells of it. */
export function toJson (value: Value): Json | undefined {
  if (value instanceof Typed) return value.value === undefined ? undefined : toJson(value.value)
  if (Array.isArray(value)) return value.map(item => toJson(item) ?? null)
  if (!(value instanceof Map)) return value
  const object: { [name: string]: Json } = Object.create(null)
  for (const [name, member] of value) {
    const json = toJson(member)
    if (json !== undefined) object[name] = json
  }
  return object
}

/** Finds typed texts that are no values, and their places. */
export function brokenIn (value: Value | undefined, at: Pointer = ''): Array<{ at: Pointer, message: string }> {
  if (value instanceof Typed) return value.problem === undefined ? [] : [{ at, message: value.problem }]
  if (Array.isArray(value)) return value.flatMap((item, index) => brokenIn(item, below(at, index)))
  if (value instanceof Map) return [...value].flatMap(([name, member]) => brokenIn(member, below(at, name)))
  return []
}

/** The value as JSON text of two spaces a level, with everything typed as it was typed. */
export function print (value: Value | undefined, indent = ''): string {
  if (value === undefined) return ''
  if (value instanceof Typed) return value.text
  const deeper = `${indent}  `
  if (Array.isArray(value)) return list('[', value.map(item => print(item, deeper)), ']', indent)
  if (value instanceof Map) {
    return list(
      '{',
      [...value].map(([name, member]) => `${JSON.stringify(name)}: ${print(member, deeper)}`),
      '}',
      indent
    )
  }
  return JSON.stringify(value)
}

function list (open: string, parts: string[], close: string, indent: string): string {
  if (parts.length === 0) return open + close
  return `${open}\n${parts.map(part => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`
}
