import type { Readable } from 'node:stream'

/** How much may be read in `WINDOW` milliseconds, where a line counts as one, a message as a quarter, because it costs less, and every `BYTES` bytes as one more. */
const MAX = 500
const BYTES = 4_096
const WINDOW = 100
/** The longest pause, in windows. */
const LONGEST = 10

/** Slows a stream down that has many lines no request asked for: what they cost would delay all other servers and clients. */
export class UnaskedLines {
  readonly #stream: Readable
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor (stream: Readable) {
    this.#stream = stream
    stream.once('close', () => clearTimeout(this.#timer))
  }

  /** Counts a line of so many bytes. */
  add (bytes: number, isMessage: boolean): void {
    this.#count = Math.min(this.#count + (isMessage ? 0.25 : 1) + bytes / BYTES, LONGEST * MAX)
    this.#timer ??= setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count > MAX) this.#stream.pause()
  }

  #next (): void {
    this.#timer = undefined
    this.#count = Math.max(0, this.#count - MAX)
    if (this.#count > 0) this.#timer = setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count <= MAX) this.#stream.resume()
  }
}
