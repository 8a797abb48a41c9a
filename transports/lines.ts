import { Bytes } from '../protocol/bytes.js'

const NEWLINE = 10
const RETURN = 13

/** Cuts bytes into lines, however they arrive. A line over the limit is reported once and skipped up to its end. */
export class LineReader {
  readonly #max: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: () => void
  readonly #line = new Bytes()
  #skipping = false

  constructor (max: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
    this.#max = max
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  push (chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end))
      this.#finish()
      start = end + 1
    }
    if (start < chunk.length) this.#take(chunk.subarray(start))
  }

  /** The input is over: what has no newline yet is a line all the same. */
  end (): void {
    if (this.#line.size > 0) this.#finish()
  }

  #take (part: Buffer): void {
    if (this.#skipping) return
    this.#line.add(part)
    if (this.#line.size <= this.#max) return
    this.#line.clear()
    this.#skipping = true
    this.#onTooLong()
  }

  #finish (): void {
    const line = this.#line.take()
    const skipped = this.#skipping
    this.#skipping = false
    if (skipped) return
    const text = line.at(-1) === RETURN ? line.subarray(0, -1) : line
    if (!isBlank(text)) this.#onLine(text)
  }
}

const isBlank = (line: Buffer): boolean => line.every(byte => byte === 32 || byte === 9 || byte === RETURN)
