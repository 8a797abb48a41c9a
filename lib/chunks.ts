const SMALLEST = 1024
/** The buffer for an announced length is at most this many times what has arrived: the announcement may be wrong. */
const TRUST = 16

/**
 * Joins chunks into one buffer. Each is copied when it comes, so that a message in a million pieces needs no more
 * memory than in one.
 */
export class Chunks {
  readonly #expected: number
  #buffer: Buffer | undefined
  #owned = false
  #size = 0

  /** `expected` is the announced number of bytes, such as Content-Length. */
  constructor (expected = 0) {
    this.#expected = expected
  }

  get size (): number {
    return this.#size
  }

  add (chunk: Buffer): void {
    // Most messages come in one chunk, which is not copied.
    if (this.#buffer === undefined) this.#buffer = chunk
    else this.#append(this.#buffer, chunk)
    this.#size += chunk.length
  }

  /** Everything added so far; empties it. */
  take (): Buffer {
    const taken = this.#buffer?.subarray(0, this.#size) ?? Buffer.alloc(0)
    this.clear()
    return taken
  }

  clear (): void {
    this.#buffer = undefined
    this.#owned = false
    this.#size = 0
  }

  #append (buffer: Buffer, chunk: Buffer): void {
    const needed = this.#size + chunk.length
    if (!this.#owned || needed > buffer.length) {
      this.#buffer = Buffer.allocUnsafe(
        needed <= this.#expected ? Math.min(this.#expected, TRUST * needed) : Math.max(SMALLEST, 2 * needed)
      )
      buffer.copy(this.#buffer, 0, 0, this.#size)
      this.#owned = true
    }
    chunk.copy(this.#buffer as Buffer, this.#size)
  }
}
