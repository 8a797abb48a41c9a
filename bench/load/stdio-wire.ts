import type { Readable, Writable } from 'node:stream'
import type { Message } from './messages.js'
import { noListeners, type Wire } from './wire.js'

const NEWLINE = 10

/** The standard input and output of a process that was started. */
export class StdioWire implements Wire {
  onAnswer = noListeners.onAnswer
  onRead = noListeners.onRead
  onCut = noListeners.onCut
  readonly #input: Writable
  #parts: Buffer[] = []

  constructor ({ stdin, stdout }: { stdin: Writable, stdout: Readable }) {
    this.#input = stdin
    stdin.on('error', () => {})
    stdout.on('data', (chunk: Buffer) => this.#take(chunk))
    stdout.on('close', () => this.onCut(new Error('the server closed its standard output')))
  }

  frame (message: Message): Buffer {
    return Buffer.from(`${JSON.stringify(message)}\n`)
  }

  write (bytes: Buffer): void {
    this.#input.write(bytes)
  }

  async notify (message: Message): Promise<void> {
    this.write(this.frame(message))
  }

  /** The process lives on: the code that started it ends it. */
  close (): void {
    Object.assign(this, noListeners)
  }

  #take (chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = [...this.#parts, chunk.subarray(start, end)]
      this.#parts = []
      start = end + 1
      this.onAnswer(line.reduce((sum, { length }) => sum + length, 0), () => String(Buffer.concat(line)))
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start))
    this.onRead()
  }
}
