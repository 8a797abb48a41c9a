/** The bytes held for all clients together: bodies that are being received, and the params of calls in flight. */
export class ByteBudget {
  readonly max: number
  #bytes = 0

  constructor (max: number) {
    this.max = max
  }

  get bytes (): number {
    return this.#bytes
  }

  /** True when so much more may be held. A message of any size fits when nothing else is held. */
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
