import type { Json } from '../../client/contract.js'
import { secretsIn } from './secret.js'
import { below, print, Typed, type Pointer, type Value } from './value.js'

/** Secret values by the text that stands in their place. */
export type Masks = ReadonlyMap<string, Value>

const NO_MASKS: Masks = new Map()
const DOT = '•'
const CHANGED = 'The dots stand for a secret value. Write over all of them to change it, or use the form.'

/** The value with a mask in place of each part that its schema calls secret. What is empty hides nothing. */
export function maskSecrets (value: Value | undefined, schema: Json): { value: Value | undefined, masks: Masks } {
  if (value === undefined || !namesSecrets(schema)) return { value, masks: NO_MASKS }
  const secret = new Set(secretsIn(withTexts(value), schema))
  const masks = new Map<string, Value>()
  const name = maskNames(print(value))
  const hide = (part: Value, at: Pointer): Value => {
    if (!secret.has(at) && !isUnreadable(part)) return withParts(part, at, hide)
    if (isEmpty(part)) return part
    const mask = name(masks.size)
    masks.set(mask, part)
    return mask
  }
  return { value: hide(value, ''), masks }
}

/**
 * The value with the secrets in place of their masks, wherever the schema calls a value secret. In another place, or
 * changed in part, a mask is no value.
 */
export function unmaskSecrets (value: Value, schema: Json, masks: Masks): Value {
  const [dots] = masks.keys()
  if (dots === undefined) return value
  const secret = new Set(secretsIn(withTexts(value), schema))
  const show = (part: Value, at: Pointer): Value => {
    if (typeof part !== 'string') return withParts(part, at, show)
    const hidden = masks.get(part)
    if (hidden !== undefined && (secret.has(at) || isUnreadable(hidden))) return hidden
    return part.includes(dots) || (secret.has(at) && part.includes(DOT))
      ? new Typed(JSON.stringify(part), undefined, CHANGED)
      : part
  }
  return show(value, '')
}

/** True when a text has some of the masks. */
export const hasMasks = (text: string, masks: Masks): boolean => [...masks.keys()].some(mask => text.includes(mask))

/** JSON that a person has not finished, in which secrets cannot be found. */
const isUnreadable = (part: Value): boolean =>
  part instanceof Typed && part.value === undefined && /^\s*[[{]/.test(part.text)

function isEmpty (part: Value): boolean {
  if (part instanceof Typed) return part.text === '' || (part.value !== undefined && isEmpty(part.value))
  return (
    part === null ||
    part === '' ||
    (Array.isArray(part) && part.length === 0) ||
    (part instanceof Map && part.size === 0)
  )
}

/** Most schemas name no secret, and need no search. */
function namesSecrets (schema: Json): boolean {
  const text = JSON.stringify(schema)
  return text.includes('"password"') || text.includes('"writeOnly"')
}

/** Names masks by their number, each with other letters than those that stand in the text. */
function maskNames (text: string): (number: number) => string {
  let dots = DOT.repeat(8)
  while (text.includes(dots)) dots += DOT
  return number => number === 0 ? dots : `${dots} ${number + 1}`
}

function withParts (value: Value, at: Pointer, change: (part: Value, at: Pointer) => Value): Value {
  if (value instanceof Typed) return typedWithParts(value, at, change)
  if (Array.isArray(value)) return value.map((item, index) => change(item, below(at, index)))
  if (value instanceof Map) return new Map([...value].map(([name, member]) => [name, change(member, below(at, name))]))
  return value
}

/** Changes parts of a typed text; it stays as it was typed where none changes. */
function typedWithParts (typed: Typed, at: Pointer, change: (part: Value, at: Pointer) => Value): Value {
  if (typed.value === undefined) return typed
  const parts = withParts(typed.value, at, change)
  return print(parts) === print(typed.value) ? typed : parts
}

/** As JSON, with the letters of what is typed but no value (yet), for these can be secret as well. */
function withTexts (value: Value): Json {
  if (value instanceof Typed) return value.value === undefined ? value.text : withTexts(value.value)
  if (Array.isArray(value)) return value.map(withTexts)
  if (!(value instanceof Map)) return value
  const object: { [name: string]: Json } = Object.create(null)
  for (const [name, member] of value) object[name] = withTexts(member)
  return object
}
