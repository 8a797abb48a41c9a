import { Chunks } from '../../lib/chunks.js'

const NEWLINE = 10
const RETURN = 13
const NOTHING = Buffer.alloc(0)

/** How many bytes are kept of the end of a line that is skipped. */
const TAIL = 1024

/** Cuts bytes into lines, however they arrive. A line over the limit is reported once and skipped up to its end. */
export class LineReader {
  readonly #max: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: (head: Buffer) => void
  readonly #line = new Chunks()
  #skipping = false
  #tail = NOTHING
  #isPaused = false
  /** Bytes that came with the line during which it was paused, and after it. */
  #rest: Buffer = NOTHING
  /** Called at the end of a line over the limit, with its last bytes. */
  onSkipped: (tail: Buffer) => void = () => {}
  /** Called with the number of bytes of each blank line, and of each part of a line over the limit. */
  onNothing: (bytes: number) => void = () => {}

  /** `onTooLong` gets the beginning of the line, up to the limit and the rest of a chunk. */
  constructor (max: number, onLine: (line: Buffer) => void, onTooLong: (head: Buffer) => void) {
    this.#max = max
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  /** How many bytes are there of what is not complete. */
  get size (): number {
    return this.#line.size + this.#rest.length
  }

  /** The chunk belongs to the caller again when it returns. */
  push (chunk: Buffer): void {
    if (this.#rest.length > 0) {
      this.#rest = Buffer.concat([this.#rest, chunk])
      return
    }
    const end = this.#cut(chunk)
    if (end < chunk.length) this.#rest = Buffer.from(chunk.subarray(end))
  }

  /** Passes on no more lines until `resume`; also not those of the chunk that is being read. */
  pause (): void {
    this.#isPaused = true
  }

  /** Goes on with what has come; it may be paused again by that. */
  resume (): void {
    this.#isPaused = false
    const rest = this.#rest
    const end = this.#cut(rest)
    this.#rest = end < rest.length ? rest.subarray(end) : NOTHING
  }

  /** The end of the input ends a line that has no newline. */
  end (): void {
    while (this.#rest.length > 0) this.resume()
    if (this.#line.size > 0 || this.#skipping) this.#finish(NOTHING)
  }

  /** Returns where the lines end that were passed on. */
  #cut (chunk: Buffer): number {
    let start = 0
    for (let end = 0; !this.#isPaused; start = end + 1) {
      end = chunk.indexOf(NEWLINE, start)
      if (end === -1) {
        if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)))
        return chunk.length
      }
      // Most lines come in one piece and need not be joined.
      if (this.#line.size === 0 && !this.#skipping && end - start <= this.#max) this.#pass(chunk, start, end)
      else this.#finish(chunk.subarray(start, end))
    }
    return start
  }

  #add (part: Buffer): void {
    if (this.#skipping) {
      this.onNothing(part.length)
      return this.#keepTail(part)
    }
    this.#line.add(part)
    if (this.#line.size <= this.#max) return
    const head = this.#line.take()
    this.#skipping = true
    this.#keepTail(head)
    this.#onTooLong(head)
  }

  #keepTail (part: Buffer): void {
    this.#tail = Buffer.from(
      part.length >= TAIL ? part.subarray(-TAIL) : Buffer.concat([this.#tail, part]).subarray(-TAIL)
    )
  }

  #finish (rest: Buffer): void {
    this.#add(rest)
    const line = this.#line.take()
    if (this.#skipping) this.#endSkipped()
    else this.#pass(line, 0, line.length)
  }

  #endSkipped (): void {
    const tail = this.#tail
    this.#tail = NOTHING
    this.#skipping = false
    this.onSkipped(tail)
  }

  #pass (bytes: Buffer, start: number, end: number): void {
    const last = bytes[end - 1] === RETURN ? end - 1 : end
    if (isBlank(bytes, start, last)) this.onNothing(end - start)
    else this.#onLine(bytes.subarray(start, last))
  }
}

function isBlank (bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte !== 32 && byte !== 9 && byte !== RETURN) return false
  }
  return true
}
