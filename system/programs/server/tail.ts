/** Beyond so many chunks they are joined, because each takes memory of its own. */
const MAX_CHUNKS = 64

/** The last bytes of a stream. */
export class Tail {
  readonly #max: number
  #chunks: Buffer[] = []
  #size = 0

  constructor (max: number) {
    this.#max = max
  }

  /** The chunk belongs to the caller again when it returns. */
  add (chunk: Buffer): void {
    const kept = Buffer.from(chunk.subarray(-this.#max))
    this.#chunks.push(kept)
    this.#size += kept.length
    if (this.#size > 2 * this.#max || this.#chunks.length > MAX_CHUNKS) this.#join()
  }

  toString (): string {
    this.#join()
    return this.#chunks[0]?.toString() ?? ''
  }

  #join (): void {
    const bytes = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#max))
    this.#chunks = [bytes]
    this.#size = bytes.length
  }
}
