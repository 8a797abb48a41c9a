/** How many equal lines are shown around a change. */
const CONTEXT = 3
/** The most pairs of lines that are compared; beyond it, all lines from the first change to the last are changed. */
const MAX_PAIRS = 4_000_000

interface Line { readonly sign: ' ' | '-' | '+', readonly text: string }

/**
 * The lines of a unified difference between two texts, without the names of files: `@@` lines, and lines that begin
 * with a space, `-` or `+`. Empty where the texts are the same.
 */
export function lineDiff (before: string, after: string): string[] {
  if (before === after) return []
  const lines = compare(split(before), split(after))
  return hunks(lines)
}

/** The lines; a text without a line break at its end has a mark there. */
function split (text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] = `${lines.at(-1) ?? ''} (no line break at the end)`
  return lines
}

function compare (before: string[], after: string[]): Line[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) tail++
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...before.slice(0, head).map(same),
    ...between(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same)
  ]
}

/** Compares by the longest common subsequence. */
function between (before: string[], after: string[]): Line[] {
  const [rows, columns] = [before.length, after.length]
  const removed = (text = ''): Line => ({ sign: '-', text })
  const added = (text = ''): Line => ({ sign: '+', text })
  if (rows * columns > MAX_PAIRS || rows === 0 || columns === 0) {
    return [...before.map(text => removed(text)), ...after.map(text => added(text))]
  }
  const lengths = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0
  for (let row = rows - 1; row >= 0; row--) {
    const present = lengths[row] as Uint32Array
    for (let column = columns - 1; column >= 0; column--) {
      present[column] = before[row] === after[column]
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      lines.push({ sign: ' ', text: before[row] ?? '' })
      row++
      column++
    } else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(before[row++]))
    } else {
      lines.push(added(after[column++]))
    }
  }
  return lines
}

function hunks (lines: Line[]): string[] {
  const shown = new Set<number>()
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    for (let near = index - CONTEXT; near <= index + CONTEXT; near++) shown.add(near)
  }
  const text: string[] = []
  let [before, after] = [1, 1]
  for (let index = 0; index < lines.length; index++) {
    const { sign, text: line } = lines[index] as Line
    if (shown.has(index)) {
      if (!shown.has(index - 1) || index === 0) text.push(heading(lines, shown, index, before, after))
      text.push(`${sign}${line}`)
    }
    if (sign !== '+') before++
    if (sign !== '-') after++
  }
  return text
}

function heading (lines: Line[], shown: Set<number>, start: number, before: number, after: number): string {
  let [old, now] = [0, 0]
  for (let index = start; index < lines.length && shown.has(index); index++) {
    const sign = lines[index]?.sign
    if (sign !== '+') old++
    if (sign !== '-') now++
  }
  return `@@ -${old === 0 ? before - 1 : before},${old} +${now === 0 ? after - 1 : after},${now} @@`
}
