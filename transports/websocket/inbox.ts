export interface InboxOptions<T> {
  hand: (message: T) => void
  /** True while the client has to read before it is told more. */
  isFull: () => boolean
  /** Nothing more should come, or may come again. */
  pause: () => void
  resume: () => void
}

/** Enough to be quick, few enough that others have their turn. */
const PER_TURN = 16
/** How often it is looked whether the client has read, in milliseconds. */
const LOOK = 10

/**
 * Hands over messages in their order, but not too many in one turn of the event loop, and none while too much waits to be read by
 * whoever sent them: a few bytes can ask for many.
 */
export class Inbox<T> {
  readonly #options: InboxOptions<T>
  #waiting: T[] = []
  #handed = 0
  #turn: NodeJS.Immediate | undefined
  #look: NodeJS.Timeout | undefined

  constructor (options: InboxOptions<T>) {
    this.#options = options
  }

  /** True while something waits here. */
  get holds (): boolean {
    return this.#waiting.length > 0
  }

  push (message: T): void {
    if (!this.holds && this.#mayHand()) return this.#hand(message)
    if (!this.holds) this.#options.pause()
    this.#waiting.push(message)
    this.#wait()
  }

  stop (): void {
    clearImmediate(this.#turn)
    clearTimeout(this.#look)
    this.#waiting = []
  }

  #mayHand (): boolean {
    return this.#handed < PER_TURN && !this.#options.isFull()
  }

  #hand (message: T): void {
    this.#handed++
    this.#options.hand(message)
    // Behind whatever the other side has put off to the end of this turn.
    this.#turn ??= setImmediate(() => this.#nextTurn())
  }

  #nextTurn (): void {
    this.#turn = undefined
    this.#handed = 0
    this.#go()
  }

  #go (): void {
    if (!this.holds) return
    const waiting = this.#waiting
    let next = 0
    while (next < waiting.length && this.#mayHand()) this.#hand(waiting[next++] as T)
    waiting.splice(0, next)
    if (this.holds) this.#wait()
    else this.#options.resume()
  }

  #wait (): void {
    if (this.#turn !== undefined && !this.#options.isFull()) return
    this.#look ??= setTimeout(() => { this.#look = undefined; this.#go() }, LOOK).unref()
  }
}
