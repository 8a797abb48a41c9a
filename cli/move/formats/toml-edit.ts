/** A part of a TOML text: a table with its keys, or a key of the table before. */
interface Part {
  /** The names that lead to it. */
  readonly path: string[]
  readonly isTable: boolean
  /** Where its first line begins, and where the last line of it ends. */
  readonly start: number
  end: number
}

/**
 * The text of a TOML file without some tables `[ROOT.NAME]`, and all that belongs to them, and with a new one in the
 * place of the first, or at the end. All other bytes stay. The result has to be compared with what was meant, because
 * not every spelling of TOML is known here.
 */
export function editToml (
  text: string,
  { root, remove, name, entry }: { root: string, remove: readonly string[], name: string, entry: object }
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gone = new Set([...remove, name])
  const parts = partsOf(text).filter(({ path }) => path[0] === root && gone.has(path[1] ?? ''))
  const table = tableOf(root, name, entry).join(eol) + eol
  const tables = parts.filter(({ isTable }) => isTable)
  // A key inside of a table that goes is part of its range.
  const ranges = [
    ...tables,
    ...parts.filter(part => !part.isTable && !tables.some(({ start, end }) => part.start >= start && part.end <= end))
  ].sort((one, other) => one.start - other.start)
  const [first] = ranges
  if (first?.isTable !== true) {
    const changed = cut(text, ranges, eol)
    const gap = changed === '' ? '' : changed.endsWith('\n') ? eol : eol + eol
    return `${changed}${gap}${table}`
  }
  return `${text.slice(0, first.start)}${table}${cut(text.slice(first.end), ranges.slice(1).map(range => ({
    start: range.start - first.end,
    end: range.end - first.end
  })), eol)}`
}

/** The text without these ranges, and without the empty lines after each that would stand beside others. */
function cut (text: string, ranges: Array<{ start: number, end: number }>, eol: string): string {
  return ranges.reduceRight((left, { start, end }) => {
    const [head, tail] = [left.slice(0, start), left.slice(end)]
    const isApart = head === '' || head.endsWith(eol + eol) || /^\s*$/.test(head)
    return head + (isApart ? tail.replace(/^(?:[ \t]*\r?\n)+/, '') : tail)
  }, text)
}

function tableOf (root: string, name: string, entry: object): string[] {
  const inline = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    return `{ ${Object.entries(value).map(([key, inner]) => `${keyOf(key)} = ${inline(inner)}`).join(', ')} }`
  }
  const lines = Object.entries(entry).map(([key, value]) => `${keyOf(key)} = ${inline(value)}`)
  return [`[${keyOf(root)}.${keyOf(name)}]`, ...lines]
}

const keyOf = (name: string): string => /^[\w-]+$/.test(name) ? name : JSON.stringify(name)

/** The tables and keys of a text. A table ends with its last key, before comments and empty lines that follow. */
function partsOf (text: string): Part[] {
  const parts: Part[] = []
  let table: Part = { path: [], isTable: true, start: 0, end: 0 }
  let at = 0
  while (at < text.length) {
    const lineEnd = endOfLine(text, at)
    const line = text.slice(at, lineEnd)
    const start = at + (/^[ \t]*/.exec(line)?.[0].length ?? 0)
    const isHeader = text[start] === '['
    if (/^\s*(#|$)/.test(line)) {
      at = lineEnd
      continue
    }
    const opening = isHeader ? (text[start + 1] === '[' ? 2 : 1) : 0
    const { names, end: keyEnd } = readKey(text, start + opening)
    const end = endOfLine(text, isHeader ? keyEnd : skipValue(text, keyEnd + 1))
    const part = { path: isHeader ? names : [...table.path, ...names], isTable: isHeader, start: at, end }
    parts.push(part)
    if (isHeader) table = part
    else table.end = end
    at = end
  }
  return parts
}

/** Where the line of an offset ends, with its line break. */
function endOfLine (text: string, at: number): number {
  const found = text.indexOf('\n', at)
  return found < 0 ? text.length : found + 1
}

/** The names of a dotted key, and where it ends: at `=` or `]`. */
function readKey (text: string, from: number): { names: string[], end: number } {
  const names: string[] = []
  let at = from
  for (;;) {
    const [space = ''] = /^[ \t]*/.exec(text.slice(at, at + 1_000)) ?? []
    at += space.length
    const quote = text[at]
    const isQuoted = quote === '"' || quote === "'"
    const end = isQuoted ? skipString(text, at) : at + (/^[\w-]*/.exec(text.slice(at))?.[0].length ?? 0)
    if (end === at) throw new Error('a key is not understood')
    const word = text.slice(at, end)
    names.push(quote === '"' ? JSON.parse(word) as string : quote === "'" ? word.slice(1, -1) : word)
    at = end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0)
    if (text[at] !== '.') return { names, end: at }
    at++
  }
}

/** Where a value ends: a string, a list or table in brackets, or a word. */
function skipValue (text: string, from: number): number {
  let [at, depth] = [from, 0]
  while (at < text.length) {
    const letter = text[at] ?? ''
    if (letter === '"' || letter === "'") {
      at = skipString(text, at)
      continue
    }
    if (letter === '#') {
      at = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at)
      continue
    }
    if (letter === '\n' && depth === 0) return at
    if (letter === '[' || letter === '{') depth++
    if (letter === ']' || letter === '}') depth--
    at++
  }
  return at
}

/** Where a string ends, also one of several lines. */
function skipString (text: string, from: number): number {
  const quote = text[from] ?? ''
  const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  let at = from + mark.length
  while (at < text.length && !text.startsWith(mark, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1
  at += mark.length
  // Up to two quotes may stand before the three that end it.
  while (mark.length === 3 && text[at] === quote) at++
  return at
}
