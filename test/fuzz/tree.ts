/** JSON that may have what objects cannot: a key twice, numbers and texts as they are written. */
export type Node = Text | Node[] | Members
/** A scalar as it is written, right or wrong. */
export class Text { constructor (readonly json: string) {} }
export class Members { constructor (readonly entries: Array<[key: string, value: Node]>) {} }

/** Where a node stands, and how to put another in its place. */
export interface Place {
  key: string | undefined
  node: Node
  put: (node: Node) => void
  drop: () => void
  again: (key: string, node: Node) => void
}

/** Deeper trees are left to the mutations of bytes. */
const MAX_DEPTH = 100

function toTree (value: unknown, depth = 0): Node {
  if (depth > MAX_DEPTH) throw new Error('too deep')
  if (Array.isArray(value)) return value.map(inner => toTree(inner, depth + 1))
  if (typeof value !== 'object' || value === null) return new Text(JSON.stringify(value))
  return new Members(Object.entries(value).map(([key, inner]) => [key, toTree(inner, depth + 1)]))
}

/** Undefined for what is no JSON, or very deep. */
export function readTree (bytes: Buffer): Node | undefined {
  try {
    return toTree(JSON.parse(bytes.toString()))
  } catch {
    return undefined
  }
}

export function writeTree (node: Node): string {
  if (node instanceof Text) return node.json
  if (Array.isArray(node)) return `[${node.map(writeTree).join(',')}]`
  return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${writeTree(value)}`).join(',')}}`
}

/** Every place below a node. */
export function placesIn (node: Node, found: Place[] = []): Place[] {
  if (node instanceof Text) return found
  for (const place of Array.isArray(node) ? placesInArray(node) : placesInMembers(node)) {
    found.push(place)
    placesIn(place.node, found)
  }
  return found
}

function placesInArray (list: Node[]): Place[] {
  return list.map((node, at) => ({
    key: undefined,
    node,
    put: other => { list[at] = other },
    drop: () => { list.splice(at, 1) },
    again: (_key, other) => { list.splice(at, 0, other) }
  }))
}

function placesInMembers ({ entries }: Members): Place[] {
  return entries.map((entry, at) => ({
    key: entry[0],
    node: entry[1],
    put: other => { entry[1] = other },
    drop: () => { entries.splice(at, 1) },
    again: (key, other) => { entries.splice(at, 0, [key, other]) }
  }))
}
