import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml'
import { DocumentError, type Document } from './document.js'

/** How often the anchors of a document may be used in all: a few lines can stand for billions of values. */
const MAX_ALIASES = 100

/** Parses YAML. Throws a DocumentError at the first mistake. */
export function parseYaml (text: string): Document {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [first] = document.errors
  if (first !== undefined) throw new DocumentError(lines.linePos(first.pos[0]).line, `this is not YAML (${first.message})`)
  const lineOf = (path: readonly string[]): number | undefined => {
    const offset = offsetOf(document.contents, path)
    return offset === undefined ? undefined : lines.linePos(offset).line
  }
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, lineOf }
  } catch (error) {
    throw error instanceof ReferenceError ? new DocumentError(undefined, `it uses anchors more than ${MAX_ALIASES} times`) : error
  }
}

/** Where the innermost key of a path begins. */
function offsetOf (contents: unknown, path: readonly string[]): number | undefined {
  let offset: number | undefined
  let inner = contents
  for (const name of path) {
    const pair = isMap(inner) ? inner.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined
    const next: unknown = isPair(pair) ? pair.value : isNode(inner) && 'items' in inner ? inner.items[Number(name)] : undefined
    const start = isPair(pair) && isScalar(pair.key) ? pair.key.range?.[0] : isNode(next) ? next.range?.[0] : undefined
    if (start === undefined) return offset
    offset = start
    inner = next
  }
  return offset
}
