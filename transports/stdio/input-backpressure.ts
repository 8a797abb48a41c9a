import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LineReader } from './line-reader.js'

/** How many bytes are read of a client that does not read, before reading pauses, too. */
const MOST = 4 * 1024 * 1024

/** The output: `full` while the client has to read before it is answered more. */
export interface Outlet { readonly full: boolean, onDrain: () => void }

/**
 * Holds the input back while the output is full. It is read on, up to a bound, because only reading tells that it has
 * ended. Beyond the bound the end of the input is noticed when the client reads again, or goes away.
 */
export class InputBackpressure {
  readonly #input: Readable
  readonly #lines: LineReader
  readonly #outlet: Outlet
  #held: Buffer[] = []
  #size = 0
  #wake: () => void = () => {}

  constructor (input: Readable, lines: LineReader, outlet: Outlet) {
    this.#input = input
    this.#lines = lines
    this.#outlet = outlet
    outlet.onDrain = () => this.#hand()
  }

  /** The chunk belongs to the caller again when it returns. */
  take (chunk: Buffer): void {
    if (!this.#outlet.full && this.#size === 0) return this.#lines.push(chunk)
    this.#held.push(Buffer.from(chunk))
    this.#size += chunk.length
    if (this.#size >= MOST) this.#input.pause()
  }

  /** Settles when nothing is held any more, or the client has read nothing for so long. */
  async waitForHandOver (graceMs: number): Promise<void> {
    for (let left = -1; this.#size > 0 && this.#size !== left;) {
      left = this.#size
      const timeUp = new AbortController()
      const progress = new Promise<void>(resolve => { this.#wake = resolve })
      await Promise.race([progress, sleep(graceMs, undefined, { signal: timeUp.signal, ref: false }).catch(() => {})])
      timeUp.abort()
    }
  }

  #hand (): void {
    while (!this.#outlet.full) {
      const next = this.#held.shift()
      if (next === undefined) break
      this.#size -= next.length
      this.#lines.push(next)
    }
    if (this.#size < MOST) this.#input.resume()
    this.#wake()
  }
}
