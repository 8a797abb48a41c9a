import { eachInside } from './keywords.js'
import type { Members } from './dialects.js'
import { TooLarge, type Rewriting } from './rewriting.js'

/** The most schemas of one that is listed, counted wherever they are repeated. */
const MAX_SCHEMAS = 5_000

/** Which schema each schema with `$ref` refers to. */
export type Links = Map<Members, Members>

/** Finds what all references refer to. Those to nothing in the schema are dropped: clients cannot follow them. */
export function link (rewriting: Rewriting): Links {
  const links: Links = new Map()
  // Grows while it is read: what is referred to may have references.
  for (const reference of rewriting.references) {
    const { schema, at } = reference
    const target = rewriting.find(reference)
    if (typeof target === 'object' && target !== schema) links.set(schema, target)
    else if (target === true) drop(schema, () => rewriting.changes.note(at, 'dropped, because it allows everything'))
    else drop(schema, () => rewriting.changes.loosen(at, 'dropped, because there is nothing in the schema that it refers to'))
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
      at = links.get(at)
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

/** Where a schema is: in another one, or under a pointer. */
interface Place { readonly parent?: Members, readonly path: string }

/** Writes the references of a schema as pointers into it. What they refer to and is not in it any more is put into `$defs`. */
export function writeReferences (root: Members, links: Links): void {
  if (links.size === 0) return
  const places = new Map<Members, Place>()
  let count = 0
  const visit = (schema: Members, place: Place): void => {
    if (++count > MAX_SCHEMAS) throw new TooLarge()
    if (places.has(schema)) return
    places.set(schema, place)
    eachInside(schema, (inner, keyword, name) => visit(inner, { parent: schema, path: name === undefined ? `/${keyword}` : `/${keyword}/${escape(name)}` }))
  }
  visit(root, { path: '#' })
  const define = definer(root)
  // Grows while it is read: what is put into `$defs` has references, too.
  for (const schema of places.keys()) {
    const target = links.get(schema)
    if (target === undefined) continue
    if (!places.has(target)) visit(target, { path: define(target) })
    const pointer = pointerTo(target, places)
    // Other spellings of the same pointer stay as they are.
    if (schema.$ref !== pointer && decoded(schema.$ref) !== decoded(pointer)) schema.$ref = pointer
  }
}

function pointerTo (schema: Members, places: ReadonlyMap<Members, Place>): string {
  const { parent, path } = places.get(schema) as Place
  return parent === undefined ? path : pointerTo(parent, places) + path
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

const escape = (key: string): string => PLAIN.test(key) ? key : encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

function decoded (reference: unknown): string {
  if (typeof reference === 'string' && !reference.includes('%')) return reference
  try {
    return decodeURIComponent(String(reference))
  } catch {
    return String(reference)
  }
}
