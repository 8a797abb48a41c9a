import { DescriptorWriter } from './descriptor-writer.js'

/** How many characters are worth a write of their own, and how long fewer may wait, in milliseconds. */
const ENOUGH = 32_768
const PATIENCE = 50
/** How soon, and how late, it is tried again to write what the reader has not taken. */
const [SOON, LATE] = [1, 20]
/** The end of the process waits no longer than this for a reader, however steadily it reads. */
const LONGEST_END = 30_000
/** Where the level stands in a line of pino, and the first digit of those that must not wait. */
const LEVEL = '{"level":'
const ERROR = '5'.charCodeAt(0)
const NEWLINE = 10

// Not sonic-boom: it has no callback for a text that was taken, which process.stderr.write promises, and its retries sleep 100 ms each.
/**
 * Everything that goes to standard error, in its order: pino's lines, several in one write, as one write for each would cost more than the
 * call it tells of, and so would a thread that writes; and what is printed, at once. A reader that does not read stops nothing: a pipe that
 * is full is tried again later, and what is too much for the memory is lost, which is said as soon as the reader reads again.
 */
export class LogLines {
  readonly #writer: DescriptorWriter
  readonly #page = Buffer.allocUnsafeSlow(4 * ENOUGH)
  #lines = ''
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #pause = SOON
  /** For how long each write waits for the reader once the process ends; undefined before. */
  #ending: number | undefined
  /** True when `written` has waited in vain. */
  #stuck = false
  /** Runs when nothing waits any more. */
  onEmpty: () => void = () => {}

  /** A pipe or socket must be in non-blocking mode. */
  constructor (fd: number) {
    this.#writer = new DescriptorWriter(fd)
  }

  /** How many bytes wait for the reader. */
  get size (): number {
    return this.#writer.size
  }

  write (line: string): void {
    this.append(line)
    if (isError(line)) this.flush()
  }

  /** For lines that may wait, as errors may not. */
  append (line: string): void {
    this.#lines += line
    if (this.#ending !== undefined) this.#finish()
    else if (this.#lines.length >= ENOUGH) this.flush()
    else if (this.#timer === undefined) this.#flushWithin(PATIENCE)
  }

  /** Writes at once what is not a line of the log, behind the lines that wait. `done` hears when it was taken, or that it is lost. */
  print (text: string | Uint8Array, done: (error?: Error) => void = () => {}): void {
    const before = this.#lost
    if (typeof text === 'string') this.#lines += text
    this.flush()
    if (typeof text !== 'string') this.#hand(Buffer.from(text.buffer, text.byteOffset, text.byteLength))
    if (this.#lost > before) process.nextTick(done, DescriptorWriter.lost())
    else this.#writer.whenTaken(done)
    if (this.#ending !== undefined) this.#finish()
    else this.#again()
  }

  /** Writes what can be written without waiting. */
  flush (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waited = this.size
    this.#writer.retry()
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') this.#hand(this.#bytesOf(lines))
    this.#pause = this.size < waited ? SOON : Math.min(2 * this.#pause, LATE)
    if (waited > 0 && this.size === 0) this.onEmpty()
    if (this.size === 0 && this.#lost > 0) this.#sayLost()
    this.#again()
  }

  /** Settles when everything said so far is written, or the reader has taken nothing of it for so long. */
  async written (patienceMs: number): Promise<void> {
    const isOver = this.#overAfter(patienceMs)
    while (!isOver()) await new Promise(resolve => setTimeout(resolve, this.#pause))
    this.#stuck = this.size > 0
  }

  /** The same, without any more turns of the event loop: from now on whatever is written is written before this or `write` returns. */
  end (patienceMs: number): void {
    this.#ending = this.#stuck ? 0 : Math.min(patienceMs, this.#ending ?? Infinity)
    this.#finish()
  }

  #finish (): void {
    const isOver = this.#overAfter(this.#ending ?? 0)
    const clock = new Int32Array(new SharedArrayBuffer(4))
    while (!isOver()) Atomics.wait(clock, 0, 0, this.#pause)
    // A reader that took nothing for so long is not waited for again.
    if (this.size > 0) this.#ending = 0
  }

  #overAfter (patienceMs: number): () => boolean {
    const last = performance.now() + LONGEST_END
    let until = performance.now() + patienceMs
    let left = Infinity
    return () => {
      this.flush()
      if (this.size < left) until = performance.now() + patienceMs
      left = this.size
      return left === 0 || performance.now() > Math.min(until, last)
    }
  }

  #again (): void {
    if (this.size > 0 && this.#timer === undefined) this.#flushWithin(this.#pause)
  }

  #flushWithin (ms: number): void {
    this.#timer = setTimeout(() => this.flush(), ms).unref()
  }

  #hand (bytes: Buffer): void {
    if (!this.#writer.write(bytes)) this.#lost += Math.max(1, linesIn(bytes))
  }

  // A buffer of its own for each write would keep the garbage collector busier than the lines themselves.
  #bytesOf (lines: string): Buffer {
    return lines.length > ENOUGH + ENOUGH / 4 ? Buffer.from(lines) : this.#page.subarray(0, this.#page.write(lines))
  }

  #sayLost (): void {
    const lost = this.#lost
    this.#lost = 0
    this.write(`{"level":40,"time":${Date.now()},"lost":${lost},"msg":"lines of this log were lost, because nobody read them"}\n`)
  }
}

const isError = (line: string): boolean => line.charCodeAt(LEVEL.length) >= ERROR && line.startsWith(LEVEL)

function linesIn (bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}
