import { writeSync } from 'node:fs'
import { pino } from 'pino'

/** How many characters are worth a write of their own, and how long fewer may wait, in milliseconds. */
const ENOUGH = 8_192
const PATIENCE = 50
/** How many bytes may wait for somebody to read them. */
const TOO_MUCH = 4 * 1024 * 1024
/** Where the level stands in a line of pino, and the first digit of those that must not wait. */
const LEVEL_AT = '{"level":'.length
const ERROR = '5'.charCodeAt(0)

/**
 * Where pino's lines go: to a file descriptor, several in one write. A line for each call would otherwise cost more than the call. Whoever
 * does not read them stops nobody.
 */
export class LogLines {
  readonly #fd: number
  readonly #lines: ReturnType<typeof pino.destination>
  #waiting = ''
  #timer: NodeJS.Timeout | undefined
  #dropped = false
  #idle = true
  #lost = 0

  constructor (fd: number) {
    this.#fd = fd
    this.#lines = pino.destination({ dest: fd, minLength: 1, maxLength: TOO_MUCH }).on('error', () => {})
    this.#lines.on('drop', (lines: string) => { this.#lost += lines.split('\n').length - 1 })
    this.#lines.on('drain', () => this.#drained())
  }

  write (line: string): void {
    this.#waiting += line
    if (this.#waiting.length >= ENOUGH || line.charCodeAt(LEVEL_AT) >= ERROR) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), PATIENCE).unref()
  }

  /** Settles when everything said so far is written, or nobody has read any of it for so long. */
  async written (patienceMs: number): Promise<void> {
    const lines = this.#lines
    this.#send()
    if (this.#idle) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, patienceMs)
      lines.on('write', () => timer.refresh())
      lines.flush(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** The process ends now: what waits is written, if that is possible without waiting, and nothing afterwards. */
  drop (): void {
    this.#dropped = true
    clearTimeout(this.#timer)
    this.#lines.destroy()
    try {
      if (this.#idle && this.#waiting !== '') writeSync(this.#fd, this.#waiting)
    } catch {}
  }

  #drained (): void {
    this.#idle = true
    if (this.#lost === 0) return
    this.write(`{"level":40,"time":${Date.now()},"lost":${this.#lost},"msg":"lines of this log were lost, because nobody read it"}\n`)
    this.#lost = 0
  }

  #send (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#waiting
    this.#waiting = ''
    if (lines === '' || this.#dropped) return
    this.#idle = false
    this.#lines.write(lines)
  }
}
