import { pino } from 'pino'

/** How many characters are worth a write of their own, and how long fewer may wait, in milliseconds. */
const ENOUGH = 32_768
const PATIENCE = 50

/**
 * Where pino's lines go: to a file descriptor, several in one write. A line for each call would otherwise cost more than the call. Whoever
 * does not read them stops nobody.
 */
export class LogLines {
  readonly #lines: ReturnType<typeof pino.destination>
  #timer: NodeJS.Timeout | undefined

  constructor (fd: number) {
    this.#lines = pino.destination({ dest: fd, minLength: ENOUGH, maxWrite: 2 * ENOUGH }).on('error', () => {})
  }

  write (line: string): void {
    this.#lines.write(line)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#lines.flush()
    }, PATIENCE).unref()
  }

  /** Settles when everything said so far is written; never, if nobody reads it. */
  async written (): Promise<void> {
    await new Promise<void>(resolve => this.#lines.flush(() => resolve()))
  }

  /** Nothing is written any more. */
  drop (): void {
    clearTimeout(this.#timer)
    this.#lines.destroy()
  }
}
