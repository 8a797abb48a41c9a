import { DescriptorWriter } from './descriptor-writer.js'

/** Characters that are written at once, and the milliseconds that fewer may wait for more. */
const BATCH_LENGTH = 32_768
const FLUSH_AFTER = 50
/** The first and the longest pause, in milliseconds, before a full pipe is written to again. */
const [SOON, LATE] = [1, 20]
/** At exit the process waits for a slow reader for at most this many milliseconds. */
const LONGEST_END = 30_000
/** How a line of pino begins, and the first digit of the levels that are written at once. */
const LEVEL = '{"level":'
const ERROR = '5'.charCodeAt(0)
const NEWLINE = 10

// Not sonic-boom: it has no callback for a text that was taken, which process.stderr.write promises, and its retries
// sleep 100 ms each.
/**
 * Writes to standard error, in order: log lines several at a time, because one write per line costs more than the call
 * it logs; printed text at once. A slow reader blocks nothing: a full pipe is written to again later, lines beyond the
 * memory limit are dropped, and a line with their number follows when the reader reads again.
 */
export class LogLines {
  readonly #writer: DescriptorWriter
  readonly #page = Buffer.allocUnsafeSlow(4 * BATCH_LENGTH)
  #lines = ''
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #pause = SOON
  /** Milliseconds that each write waits for the reader at exit; undefined before. */
  #ending: number | undefined
  /** True when a write at exit has timed out. */
  #stuck = false
  /** Runs when the queue is empty. */
  onEmpty: () => void = () => {}
  /** Makes the text that is written of a log line in JSON. */
  format: (line: string) => string = line => line

  /** A pipe or socket must be in non-blocking mode. */
  constructor (fd: number) {
    this.#writer = new DescriptorWriter(fd)
  }

  /** The bytes in the queue. */
  get size (): number {
    return this.#writer.size
  }

  write (line: string): void {
    this.append(this.format(line))
    if (isError(line)) this.flush()
  }

  /** Queues a line that is not an error. */
  append (line: string): void {
    this.#lines += line
    if (this.#ending !== undefined) this.#finish()
    else if (this.#lines.length >= BATCH_LENGTH) this.flush()
    else if (this.#timer === undefined) this.#flushWithin(FLUSH_AFTER)
  }

  /**
   * Writes text that is not a log line, after the lines in the queue. `done` runs when it was written, or with an error
   * when it was dropped.
   */
  print (text: string | Uint8Array, done: (error?: Error) => void = () => {}): void {
    const before = this.#lost
    if (typeof text === 'string') this.#lines += text
    this.flush()
    if (typeof text !== 'string') this.#queue(Buffer.from(text.buffer, text.byteOffset, text.byteLength))
    if (this.#lost > before) process.nextTick(done, DescriptorWriter.lost())
    else this.#writer.whenTaken(done)
    if (this.#ending !== undefined) this.#finish()
    else this.#scheduleRetry()
  }

  /** Writes what the descriptor takes without blocking. */
  flush (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waited = this.size
    this.#writer.retry()
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') this.#queue(this.#bytesOf(lines))
    this.#pause = this.size < waited ? SOON : Math.min(2 * this.#pause, LATE)
    if (waited > 0 && this.size === 0) this.onEmpty()
    if (this.size === 0 && this.#lost > 0) this.#logLost()
    this.#scheduleRetry()
  }

  /** Settles when the queue is empty, or the reader has read nothing for `stallMs`. */
  async waitUntilWritten (stallMs: number): Promise<void> {
    const isOver = this.#isDone(stallMs)
    while (!isOver()) await new Promise(resolve => setTimeout(resolve, this.#pause))
    this.#stuck = this.size > 0
  }

  /** Writes all that waits, and blocks the process meanwhile. From now on `write` and `print` block, too. */
  end (stallMs: number): void {
    this.#ending = this.#stuck ? 0 : Math.min(stallMs, this.#ending ?? Infinity)
    this.#finish()
  }

  #finish (): void {
    const isOver = this.#isDone(this.#ending ?? 0)
    const clock = new Int32Array(new SharedArrayBuffer(4))
    while (!isOver()) Atomics.wait(clock, 0, 0, this.#pause)
    // A reader that has stalled once is not waited for again.
    if (this.size > 0) this.#ending = 0
  }

  #isDone (stallMs: number): () => boolean {
    const last = performance.now() + LONGEST_END
    let until = performance.now() + stallMs
    let left = Infinity
    return () => {
      this.flush()
      if (this.size < left) until = performance.now() + stallMs
      left = this.size
      return left === 0 || performance.now() > Math.min(until, last)
    }
  }

  #scheduleRetry (): void {
    if (this.size > 0 && this.#timer === undefined) this.#flushWithin(this.#pause)
  }

  #flushWithin (ms: number): void {
    this.#timer = setTimeout(() => this.flush(), ms).unref()
  }

  #queue (bytes: Buffer): void {
    if (!this.#writer.write(bytes)) this.#lost += Math.max(1, linesIn(bytes))
  }

  // One reused buffer: a new one for each write would cost the garbage collector more than the lines.
  #bytesOf (lines: string): Buffer {
    return lines.length > BATCH_LENGTH + BATCH_LENGTH / 4
      ? Buffer.from(lines)
      : this.#page.subarray(0, this.#page.write(lines))
  }

  #logLost (): void {
    const lost = this.#lost
    this.#lost = 0
    this.write(
      `{"level":40,"time":${Date.now()},"lost":${lost},"msg":"log lines were dropped, because the reader was too slow"}\n`
    )
  }
}

const isError = (line: string): boolean => line.charCodeAt(LEVEL.length) >= ERROR && line.startsWith(LEVEL)

function linesIn (bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}
