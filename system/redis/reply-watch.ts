/**
 * In milliseconds: how often replies are looked for, and for how long Redis may be silent while some are waited for.
 */
const TICK = 50
const MAX_SILENCE = 400

/**
 * Ends the wait for replies of a Redis that is silent. Time counts only while the event loop turns: replies that this
 * process was too busy to read are read between two ticks. While Redis replies to what was sent before, it is busy and
 * not silent.
 */
export class ReplyWatch {
  readonly #onSilence: () => Error
  readonly #waiting = new Set<(error: Error) => void>()
  #timer: NodeJS.Timeout | undefined
  #silentTicks = 0

  /** `onSilence` returns the error for those who wait. */
  constructor (onSilence: () => Error) {
    this.#onSilence = onSilence
  }

  /** Settles like the promise, or rejects when Redis is silent for too long. */
  async wait<T> (sent: Promise<T>): Promise<T> {
    return await new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      this.#timer ??= setInterval(() => this.#tick(), TICK).unref()
      sent.then(resolve, reject).finally(() => this.#settle(reject))
    })
  }

  /** Counts a reply that is awaited elsewhere among those that Redis owes, so that its absence is noticed. */
  observe (sent: Promise<unknown>): void {
    this.wait(sent).catch(() => {})
  }

  close (): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #settle (reject: (error: Error) => void): void {
    this.#silentTicks = 0
    this.#waiting.delete(reject)
  }

  #tick (): void {
    if (this.#waiting.size === 0) {
      this.#silentTicks = 0
      return this.close()
    }
    if (++this.#silentTicks * TICK < MAX_SILENCE) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    const error = this.#onSilence()
    for (const reject of waiting) reject(error)
  }
}
