import { isObject } from '../../../protocol/wire/json.js'
import { SchemaPaths, valueAt } from './schema-paths.js'

/** A schema in which references begin: a whole one, or a part of one that has an id of its own. */
interface Base {
  readonly name: string
  readonly whole: unknown
  readonly part: unknown
  /** Leads from the whole to the part, as a JSON Pointer. */
  readonly path: string
}

/** A schema, and where its references begin. */
export interface Placed {
  readonly schema: unknown
  readonly base: Base
}

/** Members of a schema that hold data, not schemas. */
const DATA = new Set(['default', 'examples', 'example', 'const', 'enum'])
/** Members of a schema whose own members are schemas, under any names. */
const MAPS = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'])
/** Members that name a schema: references lead by paths, and two tools may have the same schema. */
const NAMES = new Set(['$id', '$anchor', '$schema'])
/** So many references in a row are followed. */
const MAX_STEPS = 16

/** A schema that is no part of another. */
export function place (name: string, schema: unknown): Placed {
  return { schema, base: { name, whole: schema, part: schema, path: '' } }
}

/**
 * The definitions that the schemas of one route share: those of the application that they refer to by their ids, and
 * parts that refer to themselves. References lead here.
 */
export class SharedSchemas {
  readonly definitions: Record<string, unknown> = {}
  readonly #known: Readonly<Record<string, unknown>>
  readonly #names = new Map<unknown, string>()
  readonly #paths = new Map<unknown, SchemaPaths>()

  /** `known` are the schemas that the application has added, by their ids. */
  constructor (known: Readonly<Record<string, unknown>>) {
    this.#known = known
  }

  /** The schema that references lead to from here; the last one that is found. */
  follow (placed: Placed): Placed {
    let last = this.#enter(placed)
    for (let step = 0; step < MAX_STEPS && isObject(last.schema) && typeof last.schema.$ref === 'string'; step++) {
      const found = this.#find(last.schema.$ref, last.base)
      if (found === undefined) return last
      last = this.#enter({ schema: valueAt(found.base.part, found.path), base: found.base })
    }
    return last
  }

  /** The schema with its references moved, and without names of its own. */
  move (placed: Placed): unknown {
    const { schema, base } = this.#enter(placed)
    if (Array.isArray(schema)) return schema.map(each => this.move({ schema: each, base }))
    if (!isObject(schema)) return schema
    const members = Object.entries(schema).filter(([name, value]) => !NAMES.has(name) || typeof value !== 'string')
    return Object.fromEntries(members.map(([name, value]) => {
      if (DATA.has(name)) return [name, value]
      if (name === '$ref' && typeof value === 'string') return [name, this.#moveReference(value, base)]
      if (!MAPS.has(name) || !isObject(value)) return [name, this.move({ schema: value, base })]
      return [name, mapMembers(value, each => this.move({ schema: each, base }))]
    }))
  }

  #moveReference (reference: string, from: Base): string {
    const found = this.#find(reference, from)
    return found === undefined ? reference : `${this.#define(found.base)}${found.base.path}${found.path}`
  }

  /** Where a reference leads: a path in the schema that it names. */
  #find (reference: string, from: Base): { readonly base: Base, readonly path: string } | undefined {
    const [, id = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(reference) ?? []
    const base = id === '' ? from : this.#baseOf(id, from)
    if (base === undefined) return undefined
    const isPath = fragment === '' || fragment.startsWith('/')
    const path = isPath ? fragment : this.#pathsIn(base.part).toName(fragment)
    return path === undefined || valueAt(base.part, path) === undefined ? undefined : { base, path }
  }

  #baseOf (id: string, { name, whole }: Base): Base | undefined {
    if (Object.hasOwn(this.#known, id)) return place(id.replace(/[^A-Za-z0-9._-]/g, '_'), this.#known[id]).base
    const path = this.#pathsIn(whole).toId(id)
    return path === undefined ? undefined : { name, whole, part: valueAt(whole, path), path }
  }

  /** References in a schema with an id of its own begin there. */
  #enter ({ schema, base }: Placed): Placed {
    if (!isObject(schema) || typeof schema.$id !== 'string' || schema.$id.startsWith('#') || schema === base.part) {
      return { schema, base }
    }
    const path = this.#pathsIn(base.whole).to(schema)
    return { schema, base: path === undefined ? base : { ...base, part: schema, path } }
  }

  #pathsIn (schema: unknown): SchemaPaths {
    const known = this.#paths.get(schema) ?? new SchemaPaths(schema)
    this.#paths.set(schema, known)
    return known
  }

  #define ({ name, whole }: Base): string {
    let known = this.#names.get(whole)
    if (known === undefined) {
      known = name
      while (Object.hasOwn(this.definitions, known)) known += '_'
      this.#names.set(whole, known)
      this.definitions[known] = true
      this.definitions[known] = this.move(place(name, whole))
    }
    return `#/$defs/${known}`
  }
}

const mapMembers = (value: object, change: (member: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]))
