import { isObject } from '../../../protocol/wire/json.js'

/** The paths to all objects in a schema, as JSON Pointers in a URI; of several that are sought, the first counts. */
export class SchemaPaths {
  readonly #ofParts = new Map<unknown, string>()
  readonly #ofIds = new Map<unknown, string>()
  readonly #ofNames = new Map<unknown, string>()

  constructor (schema: unknown) {
    this.#add(schema, '')
  }

  /** The path to this very object. */
  to (part: object): string | undefined {
    return this.#ofParts.get(part)
  }

  toId (id: string): string | undefined {
    return this.#ofIds.get(id)
  }

  /** The path to the part with this anchor, or with an id that is `#` and the name. */
  toName (name: string): string | undefined {
    return this.#ofNames.get(name)
  }

  #add (value: unknown, path: string): void {
    if (typeof value !== 'object' || value === null || this.#ofParts.has(value)) return
    this.#ofParts.set(value, path)
    if (isObject(value)) this.#addNames(value, path)
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object') this.#add(member, `${path}/${segmentOf(name)}`)
    }
  }

  #addNames ({ $id, $anchor }: Record<string, unknown>, path: string): void {
    if (typeof $id === 'string' && !this.#ofIds.has($id)) this.#ofIds.set($id, path)
    const name = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined
    for (const each of [name, $anchor]) {
      if (typeof each === 'string' && !this.#ofNames.has(each)) this.#ofNames.set(each, path)
    }
  }
}

const segmentOf = (name: string): string =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$')

/** The part that a path leads to; undefined where there is none. */
export function valueAt (whole: unknown, path: string): unknown {
  return path.split('/').slice(1).reduce<unknown>((value, segment) => {
    const name = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? (value as Record<string, unknown>)[name]
      : undefined
  }, whole)
}
