import { isDeepStrictEqual } from 'node:util'
import { findNodeAtLocation, getNodeValue, parseTree, type Node } from 'jsonc-parser'

/** Changes of the text of a JSON file. Everything that they do not name keeps its bytes, comments included. */
export interface Changes {
  /** The members that go, by their paths. */
  readonly remove: ReadonlyArray<readonly string[]>
  /** The object that gets new members, which is made where it is missing. */
  readonly root: readonly string[]
  /** The new members. One whose name is there replaces that one. */
  readonly add: Readonly<Record<string, unknown>>
}

interface Edit { readonly start: number, readonly end: number, readonly text: string }

/** The text with the changes. The first new member takes the place of the first that goes from the same object. */
export function editJsonc (text: string, { remove: removed, root, add }: Changes): string {
  let changed = text.trim() === '' ? `{}${eolOf(text)}` : text
  const added = Object.entries(add)
  const isRoot = (path: readonly string[]): boolean =>
    path.length === root.length + 1 && root.every((name, index) => path[index] === name)
  const remove = removed.filter(path => !isRoot(path) || !Object.hasOwn(add, path.at(-1) ?? ''))
  const [first] = added
  const replaced = first !== undefined && nodeAt(changed, [...root, first[0]]) === undefined
    ? remove.find(path => isRoot(path) && nodeAt(changed, path) !== undefined)
    : undefined
  if (replaced !== undefined && first !== undefined) changed = replaceMember(changed, replaced, first[0], first[1])
  for (const path of remove) if (path !== replaced) changed = removeMember(changed, path)
  for (const [name, value] of replaced === undefined ? added : added.slice(1)) {
    changed = setMember(changed, [...root, name], value)
  }
  return changed
}

const parse = (text: string): Node | undefined => parseTree(text, [], { allowTrailingComma: true })

function nodeAt (text: string, path: readonly string[]): Node | undefined {
  const tree = parse(text)
  return tree === undefined ? undefined : findNodeAtLocation(tree, [...path])
}

const apply = (text: string, edits: Edit[]): string =>
  [...edits]
    .sort((one, other) => other.start - one.start)
    .reduce((left, { start, end, text: inner }) => left.slice(0, start) + inner + left.slice(end), text)

/** Puts another member in the place of one. */
function replaceMember (text: string, path: readonly string[], name: string, value: unknown): string {
  const property = nodeAt(text, path)?.parent
  if (property === undefined) return text
  const { offset, length } = property
  const member = write(text, name, value, isOneLine(text), indentAt(text, offset))
  return apply(text, [{ start: offset, end: offset + length, text: member }])
}

/** Removes a member with its comma, and its lines if nothing else is on them. Other comments stay. */
function removeMember (text: string, path: readonly string[]): string {
  const property = nodeAt(text, path)?.parent
  if (property?.type !== 'property' || property.parent === undefined) return text
  const end = property.offset + property.length
  const comma = commaAfter(text, end)
  const siblings = property.parent.children ?? []
  const before = siblings[siblings.indexOf(property) - 1]
  const edits: Edit[] = [{ ...wholeLines(text, property.offset, comma === undefined ? end : comma + 1), text: '' }]
  if (comma === undefined && before !== undefined) {
    const former = commaAfter(text, before.offset + before.length)
    if (former !== undefined) edits.push({ start: former, end: former + 1, text: '' })
  }
  return apply(text, edits)
}

/** The comma after a value, also behind comments. */
function commaAfter (text: string, offset: number): number | undefined {
  TRIVIA.lastIndex = offset
  const [trivia = ''] = TRIVIA.exec(text) ?? []
  return text[offset + trivia.length] === ',' ? offset + trivia.length : undefined
}

const TRIVIA = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y

/** The range with its indentation and line break if it fills its lines, and otherwise with the spaces after it. */
function wholeLines (text: string, start: number, end: number): { start: number, end: number } {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const [rest = ''] = /^[ \t]*(\r?\n)?/.exec(text.slice(end)) ?? []
  return text.slice(lineStart, start).trim() === '' && rest.endsWith('\n')
    ? { start: lineStart, end: end + rest.length }
    : { start, end: end + rest.replace(/\r?\n$/, '').length }
}

/** Sets a member; objects on the way to it are made. */
function setMember (text: string, path: readonly string[], value: unknown): string {
  const existing = nodeAt(text, path)
  if (existing !== undefined) {
    if (isDeepStrictEqual(getNodeValue(existing), value)) return text
    const { offset, length } = existing
    const given = format(value, isOneLine(text), indentAt(text, offset), text)
    return apply(text, [{ start: offset, end: offset + length, text: given }])
  }
  const parents = path.slice(0, -1)
  const name = path.at(-1) ?? ''
  const parent = nodeAt(text, parents)
  if (parent === undefined && parents.length > 0) return setMember(text, parents, { [name]: value })
  if (parent?.type !== 'object') throw new Error(`${parents.join('.') || 'the file'} is not an object`)
  return insert(text, parent, name, value)
}

/** Adds a member at the end of an object. */
function insert (text: string, object: Node, name: string, value: unknown): string {
  const close = object.offset + object.length - 1
  const last = object.children?.at(-1)
  const inner = text.slice(object.offset + 1, close)
  const isInline = isOneLine(text) || (last !== undefined && !inner.includes('\n'))
  if (isInline) {
    const space = /^\{\s*"[^"]*":\S/.test(text.slice(object.offset)) || isOneLine(text) ? '' : ' '
    const end = last === undefined ? object.offset + 1 : last.offset + last.length
    const member = `${last === undefined ? '' : `,${space}`}${write(text, name, value, true, '')}`
    return apply(text, [{ start: end, end, text: member }])
  }
  const indent = last === undefined ? indentAt(text, object.offset) + unitOf(text) : indentAt(text, last.offset)
  const eol = eolOf(text)
  const member = `${eol}${indent}${write(text, name, value, false, indent)}`
  const isTrailing = last !== undefined && commaAfter(text, last.offset + last.length) !== undefined
  // Comments behind the last member stay before the new one.
  const end = object.offset + 1 + inner.trimEnd().length
  const tail = inner.includes('\n') ? '' : `${eol}${indentAt(text, object.offset)}`
  const gap = tail === '' ? end : close
  const edits: Edit[] = [{ start: end, end: gap, text: `${member}${isTrailing ? ',' : ''}${tail}` }]
  if (last !== undefined && !isTrailing) {
    edits.push({ start: last.offset + last.length, end: last.offset + last.length, text: ',' })
  }
  return applyInOrder(text, edits)
}

/** Like apply; of two edits at one place, the later in the list comes first in the text. */
const applyInOrder = (text: string, edits: Edit[]): string =>
  edits.length === 2 && edits[0]?.start === edits[1]?.start
    ? apply(text, [{ ...edits[0] as Edit, text: `${edits[1]?.text ?? ''}${edits[0]?.text ?? ''}` }])
    : apply(text, edits)

const write = (text: string, name: string, value: unknown, isInline: boolean, indent: string): string =>
  `${JSON.stringify(name)}:${isInline && isOneLine(text) ? '' : ' '}${format(value, isInline, indent, text)}`

function format (value: unknown, isInline: boolean, indent: string, text: string): string {
  return isInline ? JSON.stringify(value) : pretty(value, unitOf(text)).replaceAll('\n', `${eolOf(text)}${indent}`)
}

/** The longest list that is written in one line. */
const SHORT = 80

/** JSON with one member on each line, and short lists in one line. */
function pretty (value: unknown, unit: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const items = Array.isArray(value)
    ? value.map(item => pretty(item, unit))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pretty(item, unit)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (items.length === 0) return `${open}${close}`
  const line = items.join(', ')
  if (Array.isArray(value) && line.length <= SHORT && !line.includes('\n')) return `[${line}]`
  return `${open}\n${items.map(item => unit + item.replaceAll('\n', `\n${unit}`)).join(',\n')}\n${close}`
}

const isOneLine = (text: string): boolean => text.trim().length > 2 && !text.trim().includes('\n')

const eolOf = (text: string): string => text.includes('\r\n') ? '\r\n' : '\n'

/** The whitespace at the beginning of the line of an offset. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''

/** The indentation of one level: that of the first member. */
function unitOf (text: string): string {
  const first = parse(text)?.children?.[0]
  return first === undefined ? '  ' : indentAt(text, first.offset) || '  '
}
