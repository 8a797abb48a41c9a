const SMALLEST = 1024
/** How many times what has come is made room for because somebody said that it will come. */
const TRUST = 16

/** Joins chunks as they come. Each is copied and let go, so a message in a million pieces costs no more than in one. */
export class Chunks {
  readonly #expected: number
  #buffer: Buffer | undefined
  #owned = false
  #size = 0

  /** `expected` is how many bytes there will be, where somebody has said so. */
  constructor (expected = 0) {
    this.#expected = expected
  }

  get size (): number {
    return this.#size
  }

  add (chunk: Buffer): void {
    // Most messages come in one piece, which needs no copy.
    if (this.#buffer === undefined) this.#buffer = chunk
    else this.#append(this.#buffer, chunk)
    this.#size += chunk.length
  }

  /** What came so far; the next chunk begins anew. */
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
      this.#buffer = Buffer.allocUnsafe(needed <= this.#expected ? Math.min(this.#expected, TRUST * needed) : Math.max(SMALLEST, 2 * needed))
      buffer.copy(this.#buffer, 0, 0, this.#size)
      this.#owned = true
    }
    chunk.copy(this.#buffer as Buffer, this.#size)
  }
}
