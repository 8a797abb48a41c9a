/** How much of what is shown is the head. */
const HEAD = 2 / 3
/** How much of head and tail may be left out, so that they end and begin with a line. */
const LINE = 1 / 5

/** The beginning and the end of a text that is longer than `room` characters, with at most so many together. */
export function headAndTail (text: string, room: number): { head: string, tail: string } {
  const size = Math.floor(room * HEAD)
  return { head: headOf(text, size), tail: tailOf(text, room - size) }
}

/** The index itself, or the next one where it is inside of a surrogate pair. */
export function outsideOfPair (text: string, index: number): number {
  return isInPair(text, index) ? index + 1 : index
}

function headOf (text: string, size: number): string {
  const line = text.lastIndexOf('\n', size - 1) + 1
  if (line >= size * (1 - LINE)) return text.slice(0, line)
  return text.slice(0, isInPair(text, size) ? size - 1 : size)
}

function tailOf (text: string, size: number): string {
  const start = text.length - size
  const line = text.indexOf('\n', start - 1) + 1
  if (line > 0 && line < text.length && line <= start + size * LINE) return text.slice(line)
  return text.slice(outsideOfPair(text, start))
}

const isInPair = (text: string, index: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(index - 1, 0), index + 1))
