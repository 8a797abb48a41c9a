import { isWellFormed, TooLarge } from './budget.js'
import type { Changes } from './changes.js'
import type { Members } from './dialects.js'
import { eachInside } from './keywords.js'
import type { Rewriting } from './rewriting.js'

/** The most schemas of one that is listed, counted wherever they are repeated. */
const MAX_SCHEMAS = 5_000
/** The longest pointer, in characters. */
const MAX_POINTER = 1_000
/** How many schemas are put into `$defs` because pointers to them are longer. */
const MAX_LONG = 8
/** The longest reference that is compared with a pointer: a character may be written as nine. */
const MAX_WRITTEN = 9 * MAX_POINTER

const DANGLING = 'dropped, because there is nothing in the schema that it refers to'

/** The schema that another one refers to, and how its author wrote the reference. */
export interface Link { readonly target: Members, readonly written: string }

/** The link of each schema with `$ref`. */
export type Links = Map<Members, Link>

/**
 * Finds what all references refer to. References to nothing in the schema are dropped: clients cannot follow them. The
 * others are the number of what they refer to until `writeReferences`, so that schemas with the same text are the same.
 */
export function link (rewriting: Rewriting): Links {
  const links: Links = new Map()
  const numbers = new Map<Members, number>()
  // Grows while it is read: what is referred to may have references.
  for (const reference of rewriting.references) {
    const { schema, at } = reference
    const target = rewriting.find(reference)
    if (typeof target === 'object' && target !== schema) {
      const number = numbers.get(target) ?? numbers.size
      numbers.set(target, number)
      links.set(schema, { target, written: String(schema.$ref) })
      schema.$ref = `#${number}`
    } else if (target === true) drop(schema, () => rewriting.changes.note(at, 'dropped, because it allows everything'))
    else drop(schema, () => rewriting.changes.loosen(at, DANGLING))
  }
  const circles = new Set(circular(links))
  for (const { schema, at } of circles.size === 0 ? [] : rewriting.references) {
    if (!circles.has(schema)) continue
    links.delete(schema)
    drop(schema, () => rewriting.changes.loosen(at, 'dropped, because it refers to itself'))
  }
  return links
}

/** One schema of each circle of schemas that refer to nothing but each other. */
function circular (links: Links): Members[] {
  const done = new Set<Members>()
  const found: Members[] = []
  for (const start of links.keys()) {
    const path = new Set<Members>()
    let at: Members | undefined = start
    while (at !== undefined && !done.has(at) && !path.has(at)) {
      path.add(at)
      at = links.get(at)?.target
    }
    if (at !== undefined && path.has(at)) found.push(at)
    for (const schema of path) done.add(schema)
  }
  return found
}

function drop (schema: Members, note: () => void): void {
  delete schema.$ref
  note()
}

/** Where a schema is: in another one, under a keyword and a name, or under a pointer. */
interface Place {
  readonly parent?: Members
  readonly keyword?: string
  readonly name?: string | undefined
  pointer?: string
}

/**
 * Writes the references of a schema as pointers into it. What they refer to and is not in it any more, or only under a
 * long pointer, is put into `$defs`. Throws `TooLarge`.
 */
export function writeReferences (root: Members, links: Links, at: string, changes: Changes): void {
  if (links.size === 0) return
  const places = new Map<Members, Place>()
  let count = 0
  const visit = (schema: Members, place: Place): void => {
    if (++count > MAX_SCHEMAS) throw new TooLarge()
    if (places.has(schema)) return
    places.set(schema, place)
    eachInside(schema, (inner, keyword, name) => visit(inner, { parent: schema, keyword, name }))
  }
  visit(root, { pointer: '#' })
  const pointers = new Pointers(places, definer(root))
  let isRewritten = false
  // Grows while it is read: what is put into `$defs` has references, too.
  for (const schema of places.keys()) {
    const link = links.get(schema)
    if (link === undefined) continue
    const { target, written } = link
    if (!places.has(target)) visit(target, { pointer: pointers.define(target) })
    const pointer = pointers.to(target)
    const isKept = isSamePointer(written, pointer)
    schema.$ref = isKept ? written : pointer
    isRewritten ||= !isKept
  }
  if (isRewritten && !changes.any) changes.note(at, 'references written as pointers into the schema')
}

/** Pointers to schemas by their places. */
class Pointers {
  readonly define: (schema: Members) => string
  readonly #places: ReadonlyMap<Members, Place>
  #long = 0

  constructor (places: ReadonlyMap<Members, Place>, define: (schema: Members) => string) {
    this.#places = places
    this.define = define
  }

  /** Throws `TooLarge` when too many would be long. */
  to (schema: Members): string {
    const place = this.#places.get(schema) as Place
    place.pointer ??= this.#short(place) ?? this.#another(schema)
    return place.pointer
  }

  #short ({ parent, keyword = '', name }: Place): string | undefined {
    if (name !== undefined && (name.length > MAX_POINTER || !isWellFormed(name))) return undefined
    const above = parent === undefined ? '#' : this.to(parent)
    const pointer = name === undefined ? `${above}/${keyword}` : `${above}/${keyword}/${escape(name)}`
    return pointer.length <= MAX_POINTER ? pointer : undefined
  }

  /** The schema is listed in both places. */
  #another (schema: Members): string {
    if (++this.#long > MAX_LONG) throw new TooLarge()
    return this.define(schema)
  }
}

/** Puts schemas into the `$defs` of the root, under names that are free; returns the pointer to each. */
function definer (root: Members): (schema: Members) => string {
  let definitions: Members | undefined
  let number = 1
  return schema => {
    // The former ones may be those of another schema, too.
    root.$defs = definitions ??= { ...root.$defs as Members | undefined }
    while (Object.hasOwn(definitions, `part${number}`)) number++
    definitions[`part${number}`] = schema
    return `#/$defs/part${number}`
  }
}

const PLAIN = /^[\w$.-]*$/

const escape = (key: string): string =>
  PLAIN.test(key) ? key : encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Characters that all clients read in a reference. */
const READ_BY_ALL = /^[\x20-\x7e\p{L}\p{M}\p{N}]*$/u

/** True when the author wrote the same pointer, maybe in another spelling that all clients read: it stays as it is. */
function isSamePointer (written: string, pointer: string): boolean {
  if (written === pointer) return true
  if (written.length > MAX_WRITTEN || !READ_BY_ALL.test(written)) return false
  try {
    return decodeURIComponent(written) === decodeURIComponent(pointer)
  } catch {
    return false
  }
}
