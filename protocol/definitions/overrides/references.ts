import { isObject } from '../../wire/json.js'

type Members = Record<string, unknown>

/** Where definitions are: pointers to them stay right when the rest of a schema changes. */
const DEFINITIONS = ['$defs', 'definitions'] as const

/** Keywords that have data, not schemas, and those that have schemas by names of their own. */
const DATA = new Set(['default', 'examples', 'const', 'enum'])
const BY_NAME = new Set<string>(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', ...DEFINITIONS])

/** How many references may lead from one to the next. */
const MAX_DEPTH = 32
/** Characters that may be written in place of references, besides four times those of the schema. */
const MAX_INLINED = 65_536

/** The error for references that lead to ever more others. */
export class TooLong extends Error {}

/** Limits what is written in place of references: each could lead to two others, and these to four. */
export class ReferenceBudget {
  readonly #schema: Members
  readonly #sizes = new Map<string, number>()
  /** How many characters may still be written; undefined until there is a reference. */
  #left: number | undefined

  constructor (schema: Members) {
    this.#schema = schema
  }

  /** Counts what a reference points to, behind so many others. Throws `TooLong` when it is too much. */
  spend (reference: string, target: Members, depth: number): void {
    let size = this.#sizes.get(reference)
    if (size === undefined) this.#sizes.set(reference, size = JSON.stringify(target).length)
    this.#left = (this.#left ?? MAX_INLINED + 4 * JSON.stringify(this.#schema).length) - size
    if (this.#left < 0 || depth >= MAX_DEPTH) throw new TooLong()
  }
}

/** Finds the schema that a reference within the same document points to; undefined where there is none. */
export function resolvePointer (root: Members, reference: string): unknown {
  return segmentsOf(reference)?.reduce<unknown>(
    (at, segment) =>
      (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, segment) ? Reflect.get(at, segment) : undefined,
    root
  )
}

/**
 * Mends the references of a schema whose arguments were renamed or removed: those to the former root, and to an
 * argument that is gone, find a copy among the definitions. Definitions that were only written in other places are left
 * out.
 */
export function hoistReferences (
  schema: Members,
  original: Members,
  { renamed, fixed }: { readonly renamed: ReadonlyMap<string, string>, readonly fixed: ReadonlyMap<string, unknown> },
  inlined: ReadonlySet<string>
): Members {
  const copies: Members = {}
  const taken = new Set(DEFINITIONS.flatMap(key => Object.keys(Object(original[key]) as Members)))
  const copied = new Map<string, string>()
  /** The place of a copy of a part of the original. */
  const copyOf = (pointer: string, part: unknown): string => {
    const known = copied.get(pointer)
    if (known !== undefined) return known
    const name = freeName(taken)
    copied.set(pointer, `#/$defs/${name}`)
    copies[name] = mapReferences(part, place)
    return `#/$defs/${name}`
  }
  const place = (reference: string): string => {
    const segments = segmentsOf(reference)
    if (segments === undefined || isDefinition(segments[0])) return reference
    const [first, name = '', ...rest] = segments
    if (first === 'properties' && segments.length > 1) {
      if (!fixed.has(name)) return pointerTo(['properties', renamed.get(name) ?? name, ...rest])
      const own = pointerTo(['properties', name])
      return copyOf(own, resolvePointer(original, own)) + pointerTo(rest).slice(1)
    }
    const { $defs, definitions, $schema, $id, ...root } = original
    return copyOf('#', root) + pointerTo(segments).slice(1)
  }
  const mended = mapReferences(schema, place) as Members
  return withoutUnused(
    Object.keys(copies).length === 0 ? mended : { ...mended, $defs: { ...(mended.$defs as Members), ...copies } },
    inlined
  )
}

/** The name of a definition that the schema has not. */
function freeName (taken: Set<string>): string {
  let number = 1
  while (taken.has(`original${number}`)) number++
  taken.add(`original${number}`)
  return `original${number}`
}

/** Leaves out the definitions in question that nothing refers to. */
function withoutUnused (schema: Members, inQuestion: ReadonlySet<string>): Members {
  if (inQuestion.size === 0) return schema
  const used = new Set<string>()
  const { $defs, definitions, ...rest } = schema
  const left: unknown[] = [rest]
  while (left.length > 0) {
    mapReferences(left.pop(), reference => {
      const whole = definitionOf(reference)
      if (whole !== undefined && !used.has(whole)) {
        used.add(whole)
        left.push(resolvePointer(schema, whole))
      }
      return reference
    })
  }
  const out: Members = { ...rest }
  for (const key of DEFINITIONS) {
    const all = schema[key]
    if (!isObject(all)) continue
    const kept = Object.entries(all).filter(([name]) => {
      const pointer = pointerTo([key, name])
      return !inQuestion.has(pointer) || used.has(pointer)
    })
    if (kept.length > 0) out[key] = Object.fromEntries(kept)
  }
  return out
}

/** A copy of a value with other references; parts without any are the same objects. */
function mapReferences (value: unknown, map: (reference: string) => string, isByName = false): unknown {
  if (Array.isArray(value)) {
    const mapped = value.map(item => mapReferences(item, map))
    return mapped.every((item, index) => item === value[index]) ? value : mapped
  }
  if (!isObject(value)) return value
  let out: Members | undefined
  for (const [key, inner] of Object.entries(value)) {
    const mapped = !isByName && key === '$ref' && typeof inner === 'string'
      ? map(inner)
      : !isByName && DATA.has(key) ? inner : mapReferences(inner, map, !isByName && BY_NAME.has(key))
    if (mapped !== inner) (out ??= { ...value })[key] = mapped
  }
  return out ?? value
}

const isDefinition = (segment: string | undefined): boolean => segment === '$defs' || segment === 'definitions'

/** The definition that a reference points into, as a reference; undefined where it points to something else. */
export function definitionOf (reference: string): string | undefined {
  const [first, name] = segmentsOf(reference) ?? []
  return name !== undefined && isDefinition(first) ? pointerTo([first as string, name]) : undefined
}

/** The segments of a JSON pointer behind `#`; undefined for a reference to anything else. */
function segmentsOf (reference: string): string[] | undefined {
  if (reference === '#' || reference === '#/') return []
  if (!reference.startsWith('#/')) return undefined
  try {
    const parts = decodeURIComponent(reference.slice(2)).split('/')
    return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    return undefined
  }
}

const pointerTo = (segments: readonly string[]): string =>
  ['#', ...segments.map(part => encodeURI(Buffer.from(part).toString().replaceAll('~', '~0').replaceAll('/', '~1')))].join('/')
