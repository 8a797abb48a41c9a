import { isObject } from '../../../protocol/wire/json.js'

type Schema = Record<string, unknown>

/** Members of a schema that hold data, not schemas. */
const DATA = new Set(['default', 'examples', 'example', 'const', 'enum'])
const ID = /^([^#]+)(?:#(.*))?$/

/**
 * The definitions that the schemas of one route share: those of the application that they refer to by their ids, and
 * parts that refer to themselves. References lead here.
 */
export class SharedSchemas {
  readonly definitions: Record<string, unknown> = {}
  readonly #known: Readonly<Record<string, unknown>>

  /** `known` are the schemas that the application has added, by their ids. */
  constructor (known: Readonly<Record<string, unknown>>) {
    this.#known = known
  }

  /** The schema itself, where it is no more than a reference to one of the application. */
  resolve (schema: unknown): unknown {
    if (!isObject(schema) || typeof schema.$ref !== 'string') return schema
    const [, id = '', pointer = ''] = ID.exec(schema.$ref) ?? []
    return pointer === '' && Object.hasOwn(this.#known, id) ? this.#known[id] : schema
  }

  /** The schema with its references moved; `root` is the schema that it is a part of, and its name. */
  move (schema: unknown, root: { readonly name: string, readonly schema: unknown }): unknown {
    if (Array.isArray(schema)) return schema.map(each => this.move(each, root))
    if (!isObject(schema)) return schema
    return Object.fromEntries(Object.entries(schema).map(([member, value]) => {
      if (DATA.has(member)) return [member, value]
      if (member === '$ref' && typeof value === 'string') return [member, this.#moveReference(value, root)]
      return [member, this.move(value, root)]
    }))
  }

  #moveReference (reference: string, root: { readonly name: string, readonly schema: unknown }): string {
    if (reference.startsWith('#')) return `${this.#define(root.name, root.schema)}${reference.slice(1)}`
    const [, id = '', pointer = ''] = ID.exec(reference) ?? []
    if (!Object.hasOwn(this.#known, id)) return reference
    return `${this.#define(id.replace(/[^A-Za-z0-9._-]/g, '_'), this.#known[id])}${pointer}`
  }

  #define (name: string, schema: unknown): string {
    if (!Object.hasOwn(this.definitions, name)) {
      this.definitions[name] = true
      const { $id, ...own } = schema as Schema
      this.definitions[name] = this.move(own, { name, schema })
    }
    return `#/$defs/${name}`
  }
}
