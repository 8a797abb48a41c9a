import { Chunks } from '../../lib/chunks.js'

const NEWLINE = 10
const RETURN = 13
const NOTHING = Buffer.alloc(0)

/** A line is what is from `start` to `end`; the bytes are somebody else's again when this returns. */
export type OnLine = (bytes: Buffer, start: number, end: number) => void

/** Cuts bytes into lines, however they arrive. A line over the limit is reported once and skipped up to its end. */
export class LineReader {
  readonly #max: number
  readonly #onLine: OnLine
  readonly #onTooLong: () => void
  readonly #line = new Chunks()
  #skipping = false

  constructor (max: number, onLine: OnLine, onTooLong: () => void) {
    this.#max = max
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  /** Takes the first bytes of a chunk. What is behind them may be anything. */
  push (chunk: Buffer, size = chunk.length): void {
    let start = 0
    while (start < size) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end === -1 || end >= size) return this.#take(chunk.subarray(start, size))
      // Most lines come in one piece.
      if (this.#line.size === 0 && !this.#skipping && end - start <= this.#max) this.#hand(chunk, start, end)
      else this.#finish(chunk.subarray(start, end))
      start = end + 1
    }
  }

  /** The input is over: what has no newline yet is a line all the same. */
  end (): void {
    if (this.#line.size > 0) this.#finish(NOTHING)
  }

  #take (part: Buffer): void {
    if (this.#skipping) return
    // The first is kept as it is, but its room may be used for what comes next; the others are copied behind it.
    this.#line.add(this.#line.size === 0 ? Buffer.from(part) : part)
    if (this.#line.size <= this.#max) return
    this.#line.clear()
    this.#skipping = true
    this.#onTooLong()
  }

  #finish (rest: Buffer): void {
    this.#take(rest)
    const line = this.#line.take()
    const skipped = this.#skipping
    this.#skipping = false
    if (!skipped) this.#hand(line, 0, line.length)
  }

  #hand (bytes: Buffer, start: number, end: number): void {
    const last = bytes[end - 1] === RETURN ? end - 1 : end
    if (!isBlank(bytes, start, last)) this.#onLine(bytes, start, last)
  }
}

function isBlank (bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte !== 32 && byte !== 9 && byte !== RETURN) return false
  }
  return true
}
