import { isObject, type Json } from '../../client/contract.js'
import { namesOf } from './value.js'

/** A JSON Schema of a stranger: no member has to be what the specification says. */
export type Schema = { [keyword: string]: Json }

export const listOf = (json: Json | undefined): Json[] => Array.isArray(json) ? json : []
export const textOf = (json: Json | undefined): string | undefined => typeof json === 'string' ? json : undefined
export const numberOf = (json: Json | undefined): number | undefined => typeof json === 'number' ? json : undefined

/** More references and parts of one schema than this are not followed: they go in circles. */
const MAX_PARTS = 64
/** How many keywords and fields may be put together for one root. A short schema can stand for millions of them. */
const MAX_WORK = 200_000

/** How much may still be put together; where nothing is left, schemas stay incomplete. */
export interface Work { left: number }

export const newWork = (): Work => ({ left: MAX_WORK })

/**
 * A schema with its local references followed and its `allOf` merged. `false`: nothing fits. Remote references are
 * never fetched; `$ref` stays where one could not be followed.
 */
export function resolve (
  schema: Json | undefined,
  root: Json,
  work = newWork(),
  parts = { left: MAX_PARTS }
): Schema | false {
  if (schema === false) return false
  if (!isObject(schema) || parts.left-- <= 0) return {}
  if (work.left <= 0) return schema.$ref === undefined && schema.allOf === undefined ? schema : {}
  work.left -= 1 + Object.keys(schema).length
  const { $ref, allOf, ...own } = schema
  let merged: Schema | false = {}
  for (const part of listOf(allOf)) {
    if (parts.left <= 0) break
    merged = both(merged, resolve(part, root, work, parts), work)
  }
  merged = both(merged, own, work)
  if (typeof $ref !== 'string') return merged
  const target = targetOf($ref, root)
  return target === undefined ? merged && { ...merged, $ref } : both(resolve(target, root, work, parts), merged, work)
}

const both = (first: Schema | false, second: Schema | false, work: Work): Schema | false =>
  first !== false && second !== false && merge(first, second, work)

/** Merges two schemas; of a keyword that both have, the second counts. */
export function merge (first: Schema, second: Schema, work: Work): Schema {
  const merged: Schema = { ...first, ...second }
  if (
    isObject(first.properties) &&
    isObject(second.properties) &&
    hasWorkFor(first.properties, second.properties, work)
  ) { merged.properties = mergeProperties(first.properties, second.properties) }
  if (
    Array.isArray(first.required) &&
    Array.isArray(second.required) &&
    hasWorkFor(first.required, second.required, work)
  ) { merged.required = [...new Set([...first.required, ...second.required])] }
  return merged
}

function hasWorkFor (first: object, second: object, work: Work): boolean {
  work.left -= Object.keys(first).length + Object.keys(second).length
  return work.left > 0
}

function mergeProperties (first: Schema, second: Schema): Schema {
  const merged: Schema = Object.assign(Object.create(null), first)
  for (const [name, schema] of Object.entries(second)) {
    const before = merged[name]
    merged[name] = before === undefined ? schema : { allOf: [before, schema] }
  }
  return merged
}

/** Follows a local reference such as `#/$defs/a`. */
export function targetOf (reference: string, root: Json): Json | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return memberAt(root, reference.slice(1))
}

export function memberAt (json: Json | undefined, pointer: string): Json | undefined {
  return namesOf(pointer).reduce<Json | undefined>((value, name) => {
    if (typeof value !== 'object' || value === null) return undefined
    const key = decoded(name)
    return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
  }, json)
}

function decoded (name: string): string {
  try { return decodeURIComponent(name) } catch { return name }
}
