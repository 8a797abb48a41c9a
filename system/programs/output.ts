import { StringDecoder } from 'node:string_decoder'

/** Called while a program writes: with the number of bytes so far, and the text since the last call. */
export type OnOutput = (bytes: number, text: string) => void

/** The least time between two calls of `onOutput`, in milliseconds. */
const INTERVAL = 100

/**
 * Collects what a program writes, as text, up to a limit for both streams together. The rest is counted and dropped.
 */
export class Output {
  stdout = ''
  stderr = ''
  truncated = false
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
  readonly #onOutput: OnOutput
  #left: number
  #bytes = 0
  #unreported = ''
  #timer: NodeJS.Timeout | undefined

  constructor (limit: number, onOutput: OnOutput) {
    this.#left = limit
    this.#onOutput = onOutput
  }

  write (stream: 'stdout' | 'stderr', chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#left)
    this.#bytes += chunk.length
    this.#left -= kept.length
    this.truncated ||= kept.length < chunk.length
    this.#add(stream, this.#decoders[stream].write(kept))
  }

  /** To be called when no more output follows. */
  end (): void {
    // An incomplete character at the end is the program's own only if the limit did not cut it.
    if (!this.truncated) {
      for (const stream of ['stdout', 'stderr'] as const) this.#add(stream, this.#decoders[stream].end())
    }
    this.#resume()
    clearTimeout(this.#timer)
  }

  #add (stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#unreported += text
    if (this.#timer === undefined) this.#report()
  }

  #report (): void {
    if (this.#unreported === '') return
    const text = this.#unreported
    this.#unreported = ''
    this.#timer = setTimeout(() => this.#resume(), INTERVAL).unref()
    this.#onOutput(this.#bytes, text)
  }

  #resume (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#report()
  }
}
