import { stripVTControlCharacters } from 'node:util'
import { oneLine } from '../../../lib/one-line.js'
import { Tail } from './tail.js'
import { now } from '../../../lib/time.js'

/** The longest line, in characters. */
const MAX_LINE = 1_000
/** How many lines of one second are passed on. */
const MAX_LINES = 100

const NEWLINE = Buffer.from('\n')

/** Keeps the last bytes that programs write for people, and gives each line to a listener, if there is one. */
export class ErrorOutput {
  readonly #tail: Tail
  readonly #onLine: ((line: string) => void) | undefined
  #rest = ''
  #second = 0
  #lines = 0

  /** Keeps `max` bytes. `onLine` gets at most a hundred lines a second. */
  constructor (max: number, onLine?: (line: string) => void) {
    this.#tail = new Tail(max)
    this.#onLine = onLine
  }

  /** The chunk belongs to the caller again when it returns. */
  add (chunk: Buffer): void {
    this.#tail.add(chunk)
    if (this.#onLine !== undefined) this.#pass(chunk, this.#onLine)
  }

  /** Adds what the program wrote elsewhere. */
  addLine (line: Buffer): void {
    this.add(Buffer.concat([line.subarray(0, MAX_LINE), NEWLINE]))
  }

  /** The last lines, without colours and control characters. */
  lastLines (count: number): string[] {
    return linesOf(this.#tail.toString()).slice(-count)
  }

  #pass (chunk: Buffer, onLine: (line: string) => void): void {
    if (now() - this.#second >= 1_000) [this.#second, this.#lines] = [now(), 0]
    if (this.#lines >= MAX_LINES) return
    const text = this.#rest + chunk.toString()
    const end = text.lastIndexOf('\n') + 1
    this.#rest = text.slice(end, end + MAX_LINE)
    for (const line of linesOf(text.slice(0, end)).slice(0, MAX_LINES - this.#lines)) {
      this.#lines++
      onLine(line)
    }
  }
}

function linesOf (text: string): string[] {
  return stripVTControlCharacters(text)
    .split(/[\r\n]+/)
    .filter(line => line.trim() !== '')
    .map(line => oneLine(line.replaceAll('\t', ' '), MAX_LINE))
}
