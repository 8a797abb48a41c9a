import { isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'

/**
 * The text of a YAML file whose list `root` lacks some items and has a new one, in the place of the first or at the
 * end. All other bytes stay. Throws a sentence where the list is not one item below the other; the result has to be
 * compared with what was meant.
 */
export function editYaml (
  text: string,
  { root, remove, entry }: { root: string, remove: readonly number[], entry: object }
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const { contents } = parseDocument(text, { uniqueKeys: false })
  if (contents !== null && !isMap(contents)) throw new Error('it is not a list of names and values')
  const pair = contents?.items.find(({ key }) => isScalar(key) && key.value === root)
  const list: unknown = pair?.value
  const end = text === '' || text.endsWith('\n') ? '' : eol
  if (pair === undefined) return `${text}${end}${root}:${eol}${itemOf(entry, '  ', eol)}`
  if (!isSeq(list) || list.flow === true) {
    if (isSeq(list) && list.items.length === 0 && list.range != null) {
      const [start, stop] = list.range
      return `${text.slice(0, start).trimEnd()}${eol}${itemOf(entry, '  ', eol).trimEnd()}${text.slice(stop)}`
    }
    throw new Error(`${root} is not a list with one item below the other`)
  }
  const ranges = list.items.map((item, index) => rangeOf(text, item, index, root))
  const indent = /^[ \t]*/.exec(text.slice(ranges[0]?.start ?? 0))?.[0] ?? '  '
  const gone = ranges.filter((_, index) => remove.includes(index))
  const last = ranges.at(-1)
  const added = itemOf(entry, indent, eol)
  if (gone.length === 0 && last !== undefined) {
    const head = text.slice(0, last.end)
    return `${head}${head.endsWith('\n') ? '' : eol}${added}${text.slice(last.end)}`
  }
  return gone.reduceRight(
    (left, { start, end: stop }, index) => left.slice(0, start) + (index === 0 ? added : '') + left.slice(stop),
    text
  )
}

interface Range { start: number, end: number }

/** The lines of an item, without comments that follow it. */
function rangeOf (text: string, item: unknown, index: number, root: string): Range {
  const range = isNode(item) ? item.range : undefined
  const start = range == null ? 0 : text.lastIndexOf('\n', range[0] - 1) + 1
  if (range == null || !/^[ \t]*-[ \t]+$/.test(text.slice(start, range[0]))) {
    throw new Error(`item ${index + 1} of ${root} does not begin in a line of its own`)
  }
  const content = range[0] + withoutComments(text.slice(range[0], range[1])).length
  const found = text.indexOf('\n', content)
  return { start, end: found < 0 ? text.length : found + 1 }
}

/** The text without the comments and empty lines at its end. */
const withoutComments = (text: string): string => text.replace(/(?:\r?\n[ \t]*(?:#[^\n]*)?)+$/, '').trimEnd()

function itemOf (entry: object, indent: string, eol: string): string {
  const lines = Object.entries(entry).flatMap(([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [`${name}:`, ...value.map(item => `  - ${JSON.stringify(item)}`)]
    if (typeof value !== 'object' || value === null) return [`${name}: ${wordOf(value)}`]
    const members = Object.entries(value)
    return [`${name}:`, ...members.map(([key, inner]) => `  ${JSON.stringify(key)}: ${JSON.stringify(inner)}`)]
  })
  return lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}${eol}`).join('')
}

/** A plain word needs no quotes. */
const wordOf = (value: unknown): string =>
  typeof value === 'string' && /^[a-z][a-z-]*$/.test(value) && !/^(y|n|yes|no|on|off|true|false|null)$/.test(value)
    ? value
    : JSON.stringify(value)
