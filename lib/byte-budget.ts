/** How many bytes of what clients have sent are held for all of them together: bodies that are being received, and what calls in flight were given. */
export class ByteBudget {
  readonly max: number
  #bytes = 0

  constructor (max: number) {
    this.max = max
  }

  get bytes (): number {
    return this.#bytes
  }

  /** True when so much more may be held. A single message of any size may, where there is nothing else. */
  fits (bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.max
  }

  get isExceeded (): boolean {
    return this.#bytes > this.max
  }

  add (bytes: number): void {
    this.#bytes += bytes
  }

  remove (bytes: number): void {
    this.#bytes -= bytes
  }
}
