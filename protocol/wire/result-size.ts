/**
 * The longest list that is written: JSON takes seconds, or for ever, for one that is longer, also where nothing is in
 * it.
 */
const LONGEST = 1_000_000
/** How many values are looked at: enough for all of an ordinary result, and no second walk through a large one. */
const LOOKED_AT = 256

/**
 * Throws for a value that would keep the process busy for long before it is JSON: a list, or an array of bytes, of more
 * than a million elements, such as `new Array(2 ** 32 - 1)`. It looks at the value itself and at the first values in
 * it.
 */
export function checkLengths (value: unknown): void {
  if (typeof value === 'object' && value !== null) look(value, LOOKED_AT)
}

/** Gives how many more may be looked at. */
function look (value: object, left: number): number {
  if (Array.isArray(value)) return lookInto(value, checkLength(value.length), left)
  if (ArrayBuffer.isView(value)) {
    checkLength(value.byteLength)
    return left
  }
  let rest = left
  for (const key in value) {
    if (--rest <= 0) return 0
    const inner: unknown = (value as Record<string, unknown>)[key]
    if (typeof inner === 'object' && inner !== null) rest = look(inner, rest)
  }
  return rest
}

function lookInto (list: unknown[], length: number, left: number): number {
  let rest = left
  for (let index = 0; index < length && --rest > 0; index++) {
    const inner = list[index]
    if (typeof inner === 'object' && inner !== null) rest = look(inner, rest)
  }
  return rest
}

function checkLength (length: number): number {
  if (length > LONGEST) throw new Error(`a list of ${length} elements is no result: it has at most ${LONGEST}`)
  return length
}
