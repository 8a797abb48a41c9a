import { StringDecoder } from 'node:string_decoder'

/** Hears of output as it comes: how many bytes there were so far, and the text since the last time. */
export type OnOutput = (bytes: number, text: string) => void

const PAUSE = 100

/** What a program writes, as text and up to a limit for both streams together. The rest is counted and left out. */
export class Output {
  stdout = ''
  stderr = ''
  truncated = false
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
  readonly #onOutput: OnOutput
  #left: number
  #bytes = 0
  #unsaid = ''
  #pause: NodeJS.Timeout | undefined

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

  /** Nothing follows. */
  end (): void {
    // Half a character is what the limit leaves of a whole one; otherwise the program wrote it so.
    if (!this.truncated) for (const stream of ['stdout', 'stderr'] as const) this.#add(stream, this.#decoders[stream].end())
    this.#resume()
    clearTimeout(this.#pause)
  }

  #add (stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#unsaid += text
    if (this.#pause === undefined) this.#say()
  }

  #say (): void {
    if (this.#unsaid === '') return
    const text = this.#unsaid
    this.#unsaid = ''
    this.#pause = setTimeout(() => this.#resume(), PAUSE).unref()
    this.#onOutput(this.#bytes, text)
  }

  #resume (): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
    this.#say()
  }
}
