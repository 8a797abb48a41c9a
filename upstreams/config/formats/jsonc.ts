import { findNodeAtLocation, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { DocumentError, type Document, type Repeated } from '../../../system/documents/document.js'

/**
 * Parses JSON with comments and commas at the end, which several clients allow. Throws a DocumentError at the first
 * mistake.
 */
export function parseJsonc (text: string): Document {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  const lineAt = lineFinder(text)
  if (first !== undefined) throw new DocumentError(lineAt(first.offset), `this is not JSON (${describe(first)})`)
  if (root === undefined) throw new DocumentError(undefined, 'it holds no JSON')
  return {
    value: valueOf(root),
    lineOf: path => lineOf(lineAt, root, path),
    repeatedAt: path => repeatedAt(lineAt, root, path)
  }
}

/** `CommaExpected` as words. */
function describe ({ error }: ParseError): string {
  const code = printParseErrorCode(error)
  const words = code.replace(/[A-Z]/g, (letter, offset: number) =>
    offset === 0 ? letter.toLowerCase() : ` ${letter.toLowerCase()}`
  )
  return code === 'InvalidEscapeCharacter' ? `${words}; write \\\\ for each \\, as in "C:\\\\Users"` : words
}

/** Members are defined, not assigned: `__proto__` is a name like others. */
function valueOf (node: Node): unknown {
  const { type, children = [], value } = node
  if (type === 'array') return children.map(valueOf)
  if (type !== 'object') return value as unknown
  return Object.fromEntries(
    children.flatMap(({ children: [name, member] = [] }) =>
      name === undefined || member === undefined ? [] : [[name.value as string, valueOf(member)] as const]
    )
  )
}

type LineAt = (offset: number) => number

/** Finds the lines of offsets in a text, counted from 1, in a time that hardly grows with the text. */
function lineFinder (text: string): LineAt {
  let starts: number[] | undefined
  return offset => {
    starts ??= [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

/** The line of a value, or of the innermost one around it. */
function lineOf (lineAt: LineAt, root: Node, path: readonly string[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(root, path.slice(0, length))
    if (node !== undefined) return lineAt(node.parent?.type === 'property' ? node.parent.offset : node.offset)
  }
  return undefined
}

function repeatedAt (lineAt: LineAt, root: Node, path: readonly string[]): Repeated[] {
  const names = new Set<string>()
  return (nodeAt(root, path)?.children ?? []).flatMap(({ type, offset, children: [key] = [] }) => {
    if (type !== 'property' || key === undefined) return []
    const name = key.value as string
    const isRepeated = names.has(name)
    names.add(name)
    return isRepeated ? [{ name, line: lineAt(offset) }] : []
  })
}

function nodeAt (root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root
  for (const name of path) {
    node = node === undefined ? undefined : findNodeAtLocation(node, [node.type === 'array' ? Number(name) : name])
  }
  return node
}
