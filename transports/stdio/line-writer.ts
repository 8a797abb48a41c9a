import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { onMicrotask } from '../../lib/turn-batch.js'

/** The most characters in one write. */
const MAX_BATCH = 1024 * 1024

/** Joins the messages of one turn into one write, and knows while the output is full. */
export class LineWriter {
  readonly #output: Writable
  readonly #run = () => this.#send()
  #waiting = ''
  #responsesOnly = true
  #full = false
  #dropped = false
  /** Called with the bytes of a write, and whether all of its messages were responses. */
  onWritten: (bytes: number, responsesOnly: boolean) => void = () => {}
  /** Called when the output is no longer full. */
  onDrain: () => void = () => {}

  constructor (output: Writable) {
    this.#output = output
  }

  get full (): boolean {
    return this.#full
  }

  /** Queued bytes. */
  get size (): number {
    return this.#output.writableLength
  }

  put (text: string, response: boolean): void {
    if (this.#dropped) return
    if (this.#waiting === '') onMicrotask(this.#run)
    this.#waiting += text + '\n'
    this.#responsesOnly &&= response
    if (this.#waiting.length > MAX_BATCH) this.#send()
  }

  /** Stops writing, because the client does not read. */
  drop (): void {
    this.#dropped = true
    this.#take()
  }

  async flush (graceMs: number): Promise<void> {
    if (!this.#output.writable || this.#dropped) return
    const timeUp = new AbortController()
    const written = new Promise<void>(resolve => this.#output.write(this.#take(), () => resolve()))
    await Promise.race([written, sleep(graceMs, undefined, { signal: timeUp.signal, ref: false }).catch(() => {})])
    timeUp.abort()
  }

  #send (): void {
    const responsesOnly = this.#responsesOnly
    const text = this.#take()
    if (text === '' || !this.#output.writable) return
    const bytes = Buffer.from(text)
    if (!this.#output.write(bytes) && !this.#full) this.#hold()
    this.onWritten(bytes.length, responsesOnly)
  }

  #hold (): void {
    this.#full = true
    this.#output.once('drain', () => {
      this.#full = false
      this.onDrain()
    })
  }

  #take (): string {
    const text = this.#waiting
    this.#waiting = ''
    this.#responsesOnly = true
    return text
  }
}
