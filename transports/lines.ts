const NEWLINE = 10
const RETURN = 13

/** Cuts bytes into lines, however they arrive. A line over the limit is reported once and skipped up to its end. */
export class LineReader {
  readonly #max: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: () => void
  #parts: Buffer[] = []
  #size = 0
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
    if (this.#size > 0) this.#finish()
  }

  #take (part: Buffer): void {
    if (this.#skipping) return
    this.#size += part.length
    if (this.#size > this.#max) {
      this.#parts = []
      this.#skipping = true
      this.#onTooLong()
    } else {
      this.#parts.push(part)
    }
  }

  #finish (): void {
    const line = this.#parts.length === 1 ? this.#parts[0] as Buffer : Buffer.concat(this.#parts)
    const skipped = this.#skipping
    this.#parts = []
    this.#size = 0
    this.#skipping = false
    if (skipped) return
    const text = line.at(-1) === RETURN ? line.subarray(0, -1) : line
    if (!isBlank(text)) this.#onLine(text)
  }
}

const isBlank = (line: Buffer): boolean => line.every(byte => byte === 32 || byte === 9 || byte === RETURN)
