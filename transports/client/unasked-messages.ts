import type { Message } from '../../protocol/wire/jsonrpc.js'

/** What can be read more slowly: the output of a process, a socket, the reply to an HTTP request. */
export interface Source { pause (): void, resume (): void }

/** How often what was read is counted anew, in milliseconds, and how many times in a second that is. */
const WINDOW = 100
const WINDOWS = 1_000 / WINDOW
/** How many messages a line that is no message counts for, and so many bytes: they cost as much. */
const LINE = 4
const BYTES = 1_024
/** What a line of an event stream takes that has no message. */
const EVENT_LINE = 32
/** The longest pause, in windows. */
const LONGEST = 10

/** Slows an upstream down that sends much which no request asked for: what it costs would delay all other servers and clients. One for all streams of a link. */
export class UnaskedMessages {
  readonly #max: number
  readonly #paused = new Set<Source>()
  /** How many requests have no response yet. */
  #open = 0
  #count = 0
  #timer: NodeJS.Timeout | undefined

  /** `max` is how many small messages may come in a second. */
  constructor (max: number) {
    this.#max = max / WINDOWS
  }

  /** A request is sent: one response is asked for. */
  expect (): void {
    this.#open++
  }

  /** Counts a message of so many bytes, unless it is a response that was asked for. */
  pass (source: Source, message: Message, bytes: number): void {
    if (message.kind === 'response' && this.#open > 0) this.#open--
    else this.add(source, message, bytes)
  }

  /** Counts a message that no request asked for. */
  add (source: Source, { kind }: Message, bytes: number): void {
    this.#add(source, (kind === 'invalid' ? LINE : 1) + bytes / BYTES)
  }

  /** Counts a line of an event stream that has no message. */
  addLine (source: Source, bytes: number): void {
    this.#add(source, (bytes + EVENT_LINE) / BYTES)
  }

  /** Goes on with all that was paused, for a link that ends. */
  stop (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#resume()
  }

  #add (source: Source, count: number): void {
    this.#count = Math.min(this.#count + count, LONGEST * this.#max)
    this.#timer ??= setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count <= this.#max) return
    this.#paused.add(source)
    source.pause()
  }

  #next (): void {
    this.#timer = undefined
    this.#count = Math.max(0, this.#count - this.#max)
    if (this.#count > 0) this.#timer = setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count <= this.#max) this.#resume()
  }

  #resume (): void {
    const paused = [...this.#paused]
    this.#paused.clear()
    for (const source of paused) source.resume()
  }
}
