import { pino } from 'pino'

/** How many characters are worth a write of their own, and how long fewer may wait, in milliseconds. */
const ENOUGH = 8_192
const PATIENCE = 50

/**
 * Where pino's lines go: to a file descriptor, several in one write. A line for each call would otherwise cost more than the call. Whoever
 * does not read them stops nobody.
 */
export class LogLines {
  readonly #lines: ReturnType<typeof pino.destination>
  #waiting = ''
  #timer: NodeJS.Timeout | undefined
  #dropped = false
  #idle = true

  constructor (fd: number) {
    this.#lines = pino.destination({ dest: fd, minLength: 1 }).on('error', () => {})
    this.#lines.on('drain', () => { this.#idle = true })
  }

  write (line: string): void {
    this.#waiting += line
    if (this.#waiting.length >= ENOUGH) this.#send()
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

  /** Nothing is written any more. */
  drop (): void {
    this.#dropped = true
    clearTimeout(this.#timer)
    this.#lines.destroy()
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
