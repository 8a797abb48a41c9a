import { isObject, type Json } from '../../client/contract.js'
import { listOf, type Schema } from './schema.js'
import type { Fields, Value } from './value.js'

export interface Member { name: string, schema: Json, required: boolean, declared: boolean }

/** The fields of an object: those its schema declares, then whatever else the value has. */
export function membersOf (schema: Schema, value: Fields | undefined): Member[] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = new Set(listOf(schema.required))
  const declared = Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.has(name),
    declared: true
  }))
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
      declared.push({ name, schema: extraSchema(schema), required: true, declared: true })
    }
  }
  const names = new Set(declared.map(({ name }) => name))
  const others = [...value?.keys() ?? []].filter(name => !names.has(name))
  return [...declared, ...others.map(name => ({ name, schema: extraSchema(schema), required: false, declared: false }))]
}

/** True when a form offers to add fields that the schema does not name. */
export function takesMore (schema: Schema): boolean {
  const more = schema.additionalProperties
  return (
    more === true ||
    isObject(more) ||
    (more === undefined && (schema.properties === undefined || schema.patternProperties !== undefined))
  )
}

const extraSchema = (schema: Schema): Json => isObject(schema.additionalProperties) ? schema.additionalProperties : true

/**
 * The fields with one set, or left out when `value` is undefined; declared fields stay in the order of their schema.
 */
export function withField (fields: Fields, schema: Schema, name: string, value: Value | undefined): Fields {
  const changed = new Map(fields)
  if (value === undefined) changed.delete(name)
  else changed.set(name, value)
  if (value === undefined || fields.has(name)) return changed
  const ordered: Fields = new Map()
  for (const member of membersOf(schema, changed)) {
    const kept = changed.get(member.name)
    if (kept !== undefined) ordered.set(member.name, kept)
  }
  return ordered
}

/** The schema of an item of a list; undefined when the list may not be that long. */
export function itemSchema (schema: Schema, index: number): Json | undefined {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : []
  if (index < tuple.length) return tuple[index]
  if (numberAbove(index, schema.maxItems)) return undefined
  const rest = (Array.isArray(schema.items) ? schema.additionalItems : schema.items) ?? true
  return rest === false ? undefined : rest
}

const numberAbove = (index: number, max: Json | undefined): boolean => typeof max === 'number' && index >= max
