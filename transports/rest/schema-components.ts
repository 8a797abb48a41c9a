import { isObject } from '../../protocol/wire/json.js'

type Schema = Record<string, unknown>

/** Members of a schema that hold data, not schemas. */
const DATA = new Set(['default', 'examples', 'example', 'const', 'enum'])
/** Members of a schema that hold schemas by names. */
const BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas'])
/** Members of a schema that hold only what references lead to. */
const DEFINITIONS = new Set(['$defs', 'definitions'])

const AGAIN = 'Nested further: it has again the form of a part of the schema that it stands in'
const TOO_LONG = 'Anything: its description would be too long here'
const ELSEWHERE = 'Anything: the description of it is not a part of this document'

/**
 * The schema as it stands in an OpenAPI document, where `#` is the document and not the schema. Each part of it that a
 * reference leads to is put into `components`; in its place there is a reference. With `isInput` no part leads back to
 * itself, or to very many: importers follow references of arguments to their ends, and have schemas as objects only.
 */
export function placeSchema (
  schema: unknown,
  name: string,
  components: Map<string, unknown>,
  { isInput }: { readonly isInput: boolean }
): unknown {
  if (!isObject(schema)) return schema === undefined ? {} : schema
  const { $schema, $id, ...own } = schema
  return new Placement(own, componentKey(name), components, isInput).place()
}

/** The key of a component, which has fewer characters than a name may have. */
export const componentKey = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '_')

/** How many parts a reference of arguments may stand for, those of its own references included. */
const MAX_PARTS = 2_000

/** A part of a schema whose parts and reference are looked at. */
interface Visit { readonly node: Schema, readonly parts: Schema[] }

/** One schema on its way into a document. */
class Placement {
  readonly #root: Schema
  readonly #key: string
  readonly #components: Map<string, unknown>
  readonly #isInput: boolean
  /** The component that a reference leads to, by the part of the schema that has the reference. */
  readonly #targets = new Map<Schema, Schema>()
  /** The references that are left out, and what stands there instead. */
  readonly #leftOut = new Map<Schema, string>()
  /** How many parts a part is, with those of its references, once they were visited. */
  readonly #sizes = new Map<Schema, number>()
  readonly #names = new Map<Schema, string>()
  readonly #parents = new Map<object, object>()
  readonly #seen = new Set<Schema>()
  /** How many visits there are now inside of a part, itself included. */
  readonly #visits = new Map<object, number>()

  constructor (root: Schema, key: string, components: Map<string, unknown>, isInput: boolean) {
    this.#root = root
    this.#key = key
    this.#components = components
    this.#isInput = isInput
  }

  place (): unknown {
    this.#adopt(this.#root)
    this.#scan()
    if (this.#names.size === 0) return this.#write(this.#root)
    this.#nameOf(this.#root, [])
    for (const [part, name] of this.#names) this.#components.set(name, this.#write(part, true))
    return this.#write(this.#root)
  }

  #adopt (value: object): void {
    for (const inner of Object.values(value)) {
      if (typeof inner !== 'object' || inner === null) continue
      this.#parents.set(inner as object, value)
      this.#adopt(inner as object)
    }
  }

  /** Visits all parts that are reached from the root, depth first. Chains of references may be long: no recursion. */
  #scan (): void {
    const visits = [this.#enter(this.#root)]
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const part = visit.parts.pop()
      if (part === undefined) {
        this.#leave(visit.node)
        visits.pop()
      } else if (!this.#seen.has(part)) visits.push(this.#enter(part))
    }
  }

  #enter (node: Schema): Visit {
    this.#seen.add(node)
    this.#count(node, 1)
    const parts = partsOf(node)
    const path = typeof node.$ref === 'string' ? pathOf(node.$ref) : undefined
    const target = path === undefined ? undefined : this.#find(path)
    if (path === undefined || target === undefined) return { node, parts }
    if (this.#isInput && (this.#visits.get(target) ?? 0) > 0) {
      this.#leftOut.set(node, AGAIN)
      return { node, parts }
    }
    this.#targets.set(node, target)
    this.#nameOf(target, path)
    return { node, parts: [...parts, target] }
  }

  #leave (node: Schema): void {
    this.#count(node, -1)
    const size = partsOf(node).reduce((sum, part) => sum + (this.#sizes.get(part) ?? 0), 1)
    const target = this.#targets.get(node)
    const more = target === undefined ? 0 : this.#sizes.get(target) ?? 0
    const isTooLong = this.#isInput && more > MAX_PARTS
    if (isTooLong) this.#leftOut.set(node, TOO_LONG)
    this.#sizes.set(node, isTooLong ? size : size + more)
  }

  #count (node: Schema, difference: number): void {
    for (let at: object | undefined = node; at !== undefined; at = this.#parents.get(at)) {
      this.#visits.set(at, (this.#visits.get(at) ?? 0) + difference)
    }
  }

  #find (path: readonly string[]): Schema | undefined {
    const found = path.reduce<unknown>((at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? at[part as never] : undefined, this.#root)
    return isObject(found) ? found : undefined
  }

  #nameOf (part: Schema, path: readonly string[]): string {
    const known = this.#names.get(part)
    if (known !== undefined) return known
    const last = path.findLast(each => !/^\d+$/.test(each))
    const wanted = part === this.#root ? this.#key : `${this.#key}.${componentKey(last ?? 'part')}`
    let name = this.#components.has(wanted) ? `${wanted}.${this.#names.size}` : wanted
    while (this.#components.has(name)) name += '_'
    this.#components.set(name, {})
    this.#names.set(part, name)
    return name
  }

  /** The value as it stands in the document; `isComponent` is true for a part that is not referred to here. */
  #write (value: unknown, isComponent = false): unknown {
    if (Array.isArray(value)) return value.map(each => this.#write(each))
    if (!isObject(value)) return value
    const name = isComponent ? undefined : this.#names.get(value)
    if (name !== undefined) return referenceTo(name)
    const written = Object.entries(value).flatMap(([member, inner]): Array<[string, unknown]> => {
      if (DEFINITIONS.has(member)) return []
      if (member === '$ref' && typeof inner === 'string') return this.#writeReference(value)
      if (DATA.has(member)) return [[member, inner]]
      if (!BY_NAME.has(member) || !isObject(inner)) return [[member, member === 'items' ? this.#writePart(inner) : this.#write(inner)]]
      return [[member, Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, this.#writePart(each)]))]]
    })
    return Object.fromEntries(written)
  }

  #writePart (part: unknown): unknown {
    return part === true && this.#isInput ? {} : this.#write(part)
  }

  #writeReference (node: Schema): Array<[string, unknown]> {
    const target = this.#targets.get(node)
    const instead = this.#leftOut.get(node) ?? ELSEWHERE
    if (target !== undefined && instead === ELSEWHERE) return Object.entries(referenceTo(this.#nameOf(target, [])))
    return node.description === undefined ? [['description', instead]] : []
  }
}

const referenceTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` })

/** The schemas that stand in another, without its definitions. */
function partsOf (schema: Schema): Schema[] {
  return Object.entries(schema).flatMap(([member, value]) => {
    if (DATA.has(member) || DEFINITIONS.has(member)) return []
    return [BY_NAME.has(member) && isObject(value) ? Object.values(value) : value].flat(2).filter(isObject)
  })
}

/** The names in a pointer that is the fragment of a URI; undefined for another reference. */
function pathOf (reference: string): string[] | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined
  return reference.slice(1).split('/').slice(1).map(part => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decode (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
