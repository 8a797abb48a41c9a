import { isObject } from '../../protocol/wire/json.js'
import { isForReaders } from './schema-change.js'

/** How references change what a change of a schema means. */
export interface References {
  /** Says whether a reference may lead to a shared schema, such as `$defs/x`. */
  readonly leadTo: (name: string) => boolean
  /** Says whether one is left to a shared schema. */
  readonly stillLeadTo: (name: string) => boolean
  /** Keywords that references lead through, and that are not made for that. */
  readonly through: ReadonlySet<string>
  /** True where one does not name a place in the same schema. */
  readonly areUnsure: boolean
  /** True where one stands beside keywords that another dialect passes over. */
  readonly haveSiblings: boolean
  /** True where a schema counts what others have allowed that it may refer to. */
  readonly areCounted: boolean
  /** The schemas that may be used the other way round, so that fewer values there are more elsewhere. */
  readonly turned: 'none' | 'shared' | 'all'
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']
/** Keywords of which more or fewer values inside can be fewer or more outside. */
const TURNING = new Set(['not', 'if', 'oneOf', 'contains'])
/** Keywords that depend on which other ones have been used, also behind references. */
const COUNTING = ['unevaluatedProperties', 'unevaluatedItems']
/** Keywords with schemas by name. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
const LISTS = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems', 'items'])
const INNER = new Set([
  ...COUNTING, 'items', 'additionalProperties', 'additionalItems', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'
])
/** Keywords that make references lead to other places than those that they name. */
const MOVES_REFERENCES = ['$id', 'id', '$dynamicRef', '$recursiveRef']
const TO_SHARED = /^#\/((?:\$defs|definitions)\/[^/%]+)(?=\/|$)/
const TO_OTHERS = /^#(?:\/(?!\$defs|definitions)[^%]*)?$/
const TO_PLACE = /^#(?:\/|$)/

/** Reads the references of two whole schemas. */
export function readReferences (before: unknown, after: unknown): References {
  const [was, is] = [referencedIn(before), referencedIn(after)]
  const through = new Set<string>()
  let [areUnsure, haveSiblings, isCounting] = [false, false, false]
  let [turnsShared, turnsOthers, hasOthers, hasAny] = [false, false, false, false]
  for (const { schema, isTurned } of [...schemasIn(before), ...schemasIn(after)]) {
    isCounting ||= COUNTING.some(key => Object.hasOwn(schema, key))
    for (const key of REFERENCES) {
      const reference = Object.hasOwn(schema, key) ? schema[key] : undefined
      if (typeof reference !== 'string') continue
      const isToShared = key === '$ref' && TO_SHARED.test(reference)
      hasAny = true
      hasOthers ||= !isToShared
      turnsShared ||= isTurned
      turnsOthers ||= isTurned && !isToShared
      areUnsure ||= key !== '$ref' || !TO_PLACE.test(reference)
      haveSiblings ||= Object.keys(schema).some(sibling => sibling !== key && !isHarmlessBeside(sibling))
      const keyword = keywordOn(reference)
      if (keyword !== undefined) through.add(keyword)
    }
  }
  const areCounted = isCounting && hasAny
  const [shared, all] = [turnsShared || areCounted, turnsOthers || (areCounted && hasOthers)]
  return {
    leadTo: name => [was, is].some(names => names === undefined || names.has(name)),
    stillLeadTo: name => is === undefined || is.has(name),
    through,
    areUnsure,
    haveSiblings,
    areCounted,
    turned: all ? 'all' : shared ? 'shared' : 'none'
  }
}

const isHarmlessBeside = (key: string): boolean =>
  isForReaders(key) || key === '$schema' || key === '$defs' || key === 'definitions'

interface Part { readonly schema: Record<string, unknown>, readonly isTurned: boolean }

/** All schemas in a whole one, with those that only a reference could lead to. */
function schemasIn (whole: unknown): Part[] {
  const waiting: Array<{ value: unknown, isTurned: boolean }> = [{ value: whole, isTurned: false }]
  const found: Part[] = []
  for (const { value, isTurned } of waiting) {
    if (Array.isArray(value)) for (const item of value) waiting.push({ value: item, isTurned })
    if (!isObject(value)) continue
    found.push({ schema: value, isTurned })
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'object') continue
      const inner = NAMED.has(key) && isObject(member) ? Object.values(member) : member
      waiting.push({ value: inner, isTurned: isTurned || TURNING.has(key) })
    }
  }
  return found
}

/** Says whether a keyword has a list of schemas. */
export const isList = (key: string): boolean => LISTS.has(key)

/** The first keyword on the way of a reference that holds no schemas, or a list of them, whose order may change. */
function keywordOn (reference: string): string | undefined {
  const parts = reference.slice(reference.indexOf('#') + 1).split('/').slice(1).map(decode)
  for (let index = 0; index < parts.length; index++) {
    const key = parts[index] ?? ''
    if (LISTS.has(key) && /^\d+$/.test(parts[index + 1] ?? '')) return key
    if (NAMED.has(key)) index++
    else if (!INNER.has(key)) return key
  }
  return undefined
}

function decode (part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

/**
 * The shared schemas of a whole one that its references lead to, such as `$defs/x`; undefined where that is not sure.
 */
function referencedIn (schema: unknown): ReadonlySet<string> | undefined {
  if (!isObject(schema)) return new Set()
  const { $defs: _, definitions: __, ...rest } = schema
  const names = new Set<string>()
  const waiting: unknown[] = [rest]
  for (const value of waiting) {
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'string') waiting.push(member)
      else if (MOVES_REFERENCES.includes(key)) return undefined
      else if (key === '$ref') {
        const name = TO_SHARED.exec(member)?.[1]
        if (name === undefined && !TO_OTHERS.test(member)) return undefined
        if (name === undefined || names.has(name)) continue
        names.add(name)
        waiting.push(sharedSchema(schema, name))
      }
    }
  }
  return names
}

function sharedSchema (schema: Record<string, unknown>, pointer: string): unknown {
  const [keyword = '', name = ''] = pointer.split('/')
  const shared = schema[keyword]
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
  return isObject(shared) && Object.hasOwn(shared, key) ? shared[key] : undefined
}
