import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { DocumentError, type Document } from './document.js'

/** How often the anchors of a document may be used in all: a few lines can stand for billions of values. */
const MAX_ALIASES = 100

/**
 * How deeply a document may be nested. The parser calls itself for each level, and where the stack ends, Node.js may
 * abort instead of throwing.
 */
const MAX_DEPTH = 200

/** The longest document, in characters: the parser takes seconds for each million, in which nothing else is served. */
const MAX_LENGTH = 1_048_576

const INSTEAD = 'write it as JSON, or keep the servers in a file of their own'

/** Parses YAML. Throws a DocumentError at the first mistake. `instead` says what to do where it is too long. */
export function parseYaml (text: string, instead = INSTEAD): Document {
  if (text.length > MAX_LENGTH) {
    throw new DocumentError(
      undefined,
      `YAML may have at most ${MAX_LENGTH} characters, and this has ${text.length}; ${instead}`
    )
  }
  checkDepth(text)
  const lines = new LineCounter()
  // The parser would compare each key with each of its map.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [first] = document.errors
  if (first !== undefined) {
    throw new DocumentError(lines.linePos(first.pos[0]).line, `this is not YAML (${first.message})`)
  }
  visit(document, { Map: (_key, { items }) => checkKeys(items, lines) })
  const lineOf = (path: readonly string[]): number | undefined => {
    const offset = offsetOf(document.contents, path)
    return offset === undefined ? undefined : lines.linePos(offset).line
  }
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, lineOf }
  } catch (error) {
    throw error instanceof ReferenceError
      ? new DocumentError(undefined, `it uses anchors more than ${MAX_ALIASES} times`)
      : error
  }
}

function checkKeys (items: ReadonlyArray<{ readonly key: unknown }>, lines: LineCounter): void {
  const names = new Set<unknown>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    if (names.has(key.value)) {
      throw new DocumentError(
        lines.linePos(key.range?.[0] ?? 0).line,
        `"${String(key.value)}" is there twice; rename or remove one of them`
      )
    }
    names.add(key.value)
  }
}

/**
 * Throws if the text may be nested more deeply than MAX_DEPTH: by brackets, by indentation, or by marks in one line
 * such as `- - -`. Strings and comments count like the rest, so that nothing has to be parsed for it.
 */
function checkDepth (text: string): void {
  /** The columns at which collections begin that are still open. */
  const columns: number[] = []
  let [flow, lineStart, atLineStart, opened] = [0, 0, true, 0]
  for (let index = 0; index < text.length; index++) {
    const letter = text[index] ?? ''
    if (letter === '\n') {
      lineStart = index + 1
      atLineStart = true
      continue
    }
    if (letter === ' ' || letter === '\t' || letter === '\r') continue
    if (atLineStart) {
      atLineStart = false
      while ((columns.at(-1) ?? -1) >= index - lineStart) columns.pop()
      columns.push(index - lineStart)
      opened = columns.length
    }
    if (letter === '[' || letter === '{') flow++
    else if ((letter === ']' || letter === '}') && flow > 0) flow--
    if (',[]{}'.includes(letter)) columns.length = Math.min(columns.length, opened)
    else if (isMark(text, index, letter)) columns.push(index - lineStart + 1)
    if (columns.length + flow > MAX_DEPTH) {
      throw new DocumentError(text.slice(0, index).split('\n').length, 'it is nested too deeply')
    }
  }
}

/** True where a letter may begin a list, a key or a value inside another one, or name one. */
function isMark (text: string, index: number, letter: string): boolean {
  if (letter === '-' || letter === '?' || letter === ':') return /^\s?$/.test(text[index + 1] ?? '')
  return (letter === '!' || letter === '&') && /^\s?$/.test(text[index - 1] ?? '')
}

/** Where the innermost key of a path begins. */
function offsetOf (contents: unknown, path: readonly string[]): number | undefined {
  let offset: number | undefined
  let inner = contents
  for (const name of path) {
    const pair = isMap(inner) ? inner.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined
    const next: unknown = isPair(pair)
      ? pair.value
      : isNode(inner) && 'items' in inner
        ? inner.items[Number(name)]
        : undefined
    const start = isPair(pair) && isScalar(pair.key) ? pair.key.range?.[0] : isNode(next) ? next.range?.[0] : undefined
    if (start === undefined) return offset
    offset = start
    inner = next
  }
  return offset
}
