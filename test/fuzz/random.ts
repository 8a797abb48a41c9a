/** Numbers that look random and are the same for the same seed, on every machine. */
export class Random {
  #state: number

  constructor (seed: string) {
    // FNV-1a: neighbouring seeds have to give unlike streams.
    let hash = 0x811c9dc5
    for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193)
    this.#state = hash >>> 0
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below (end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * end)
  }

  /** True once in `times`. */
  oneIn (times: number): boolean {
    return this.below(times) === 0
  }

  pick<T> (list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  bytes (length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
