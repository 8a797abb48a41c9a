export interface InboxOptions<T> {
  handle: (message: T) => void
  /** True while more than `maxQueue` bytes wait to be read by the client. */
  isFull: () => boolean
  /** Stop and start reading from the socket. */
  pause: () => void
  resume: () => void
}

/** How many messages of one client are handled in one turn of the event loop, so that other clients get theirs. */
const MAX_PER_TURN = 16
/** How often it is checked whether the client has read, in milliseconds. */
const CHECK_INTERVAL = 10

/**
 * Passes on the messages of one client in their order, at most so many in one turn of the event loop, and none while
 * the client's own queue is full: a short request may have a long response.
 */
export class Inbox<T> {
  readonly #options: InboxOptions<T>
  #waiting: T[] = []
  #handledThisTurn = 0
  #immediate: NodeJS.Immediate | undefined
  #checkTimer: NodeJS.Timeout | undefined

  constructor (options: InboxOptions<T>) {
    this.#options = options
  }

  /** True while messages wait here; the socket is paused then. */
  get hasWaiting (): boolean {
    return this.#waiting.length > 0
  }

  push (message: T): void {
    if (!this.hasWaiting && this.#mayHandle()) return this.#handle(message)
    if (!this.hasWaiting) this.#options.pause()
    this.#waiting.push(message)
    this.#scheduleCheck()
  }

  stop (): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#checkTimer)
    this.#waiting = []
  }

  #mayHandle (): boolean {
    return this.#handledThisTurn < MAX_PER_TURN && !this.#options.isFull()
  }

  #handle (message: T): void {
    this.#handledThisTurn++
    this.#options.handle(message)
    // After the immediate that handles the messages of this turn.
    this.#immediate ??= setImmediate(() => this.#nextTurn())
  }

  #nextTurn (): void {
    this.#immediate = undefined
    this.#handledThisTurn = 0
    this.#handleWaiting()
  }

  #handleWaiting (): void {
    if (!this.hasWaiting) return
    const waiting = this.#waiting
    let next = 0
    while (next < waiting.length && this.#mayHandle()) this.#handle(waiting[next++] as T)
    waiting.splice(0, next)
    if (this.hasWaiting) this.#scheduleCheck()
    else this.#options.resume()
  }

  #scheduleCheck (): void {
    if (this.#immediate !== undefined && !this.#options.isFull()) return
    this.#checkTimer ??= setTimeout(() => {
      this.#checkTimer = undefined
      this.#handleWaiting()
    }, CHECK_INTERVAL).unref()
  }
}
