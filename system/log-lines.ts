import fs from 'node:fs'

/** How many characters are worth a write of their own, and how long fewer may wait, in milliseconds. */
const ENOUGH = 32_768
const PATIENCE = 50
/** How long it takes until it is tried again to write what nobody read, and how many bytes may wait for that. */
const PAUSE = 20
const TOO_MUCH = 4 * 1024 * 1024
/** Where the level stands in a line of pino, and the first digit of those that must not wait. */
const LEVEL = '{"level":'
const ERROR = '5'.charCodeAt(0)
const NOTHING = Buffer.alloc(0)

/**
 * Where pino's lines go: to a file descriptor, several in one write. One write for each would cost more than the call it tells of, and so
 * would a thread that writes. Whoever does not read them stops nobody: a pipe that is full is tried again later, and what is too much for
 * the memory is lost, which is said when somebody reads again.
 */
export class LogLines {
  readonly #fd: number
  readonly #page = Buffer.allocUnsafeSlow(4 * ENOUGH)
  #lines = ''
  /** What was not taken yet. */
  #rest: Buffer[] = []
  #size = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined

  /** A pipe or socket must not block. */
  constructor (fd: number) {
    this.#fd = fd
  }

  write (line: string): void {
    this.append(line)
    if (isError(line)) this.flush()
  }

  /** For lines that may wait, as errors may not. */
  append (line: string): void {
    this.#lines += line
    if (this.#lines.length >= ENOUGH) this.flush()
    else if (this.#timer === undefined) this.#flushWithin(PATIENCE)
  }

  /** Writes what can be written without waiting. */
  flush (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#rest.length > 0 && this.#offerRest());
    const lines = this.#lines
    this.#lines = ''
    const bytes = this.#bytesOf(lines)
    const left = this.#rest.length > 0 ? bytes : this.#offer(bytes)
    if (left.length > 0) this.#keep(left, lines)
    if (this.#rest.length > 0) this.#flushWithin(PAUSE)
    else if (this.#lost > 0) this.#sayLost()
  }

  /** Settles when everything said so far is written, or nobody has read any of it for so long. */
  async written (patienceMs: number): Promise<void> {
    let until = performance.now() + patienceMs
    for (let left = Infinity; ; left = this.#size) {
      this.flush()
      if (this.#size === 0) return
      if (this.#size < left) until = performance.now() + patienceMs
      if (performance.now() > until) return
      await new Promise(resolve => setTimeout(resolve, PAUSE / 4))
    }
  }

  #flushWithin (ms: number): void {
    this.#timer = setTimeout(() => this.flush(), ms).unref()
  }

  // A buffer of its own for each write would keep the garbage collector busier than the lines themselves.
  #bytesOf (lines: string): Buffer {
    return lines.length > ENOUGH + ENOUGH / 4 ? Buffer.from(lines) : this.#page.subarray(0, this.#page.write(lines))
  }

  /** What of it nobody takes now; nothing where nobody takes anything ever again. */
  #offer (bytes: Buffer): Buffer {
    let taken = 0
    try {
      while (taken < bytes.length) taken += fs.writeSync(this.#fd, bytes, taken)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return NOTHING
    }
    return bytes.subarray(taken)
  }

  /** True when all of the first was taken. */
  #offerRest (): boolean {
    const [first] = this.#rest as [Buffer]
    const left = this.#offer(first)
    this.#size -= first.length - left.length
    if (left.length > 0) this.#rest[0] = left
    else this.#rest.shift()
    return left.length === 0
  }

  #keep (left: Buffer, lines: string): void {
    if (this.#size + left.length > TOO_MUCH) this.#lost += lines.split('\n').length - 1
    else {
      // The page is written anew.
      this.#rest.push(Buffer.from(left))
      this.#size += left.length
    }
  }

  #sayLost (): void {
    const lost = this.#lost
    this.#lost = 0
    this.write(`{"level":40,"time":${Date.now()},"lost":${lost},"msg":"lines of this log were lost, because nobody read them"}\n`)
  }
}

const isError = (line: string): boolean => line.charCodeAt(LEVEL.length) >= ERROR && line.startsWith(LEVEL)
