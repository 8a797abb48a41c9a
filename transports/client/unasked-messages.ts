import type { Message } from '../../protocol/wire/jsonrpc.js'

/**
 * A source that can be read more slowly: the output of a process, a socket, the reply to an HTTP request. `resume` is
 * called once for each `pause`.
 */
export interface Source { pause (): void, resume (): void }

/**
 * A stream whose reader keeps the rest of a chunk while it is paused. Several may pause it: it goes on when each of
 * them has resumed it.
 */
export class PausableSource implements Source {
  readonly #reader: Source
  readonly #stream: Source
  readonly #onPassed: () => void
  #pauses = 0

  /** `onPassed` is called when the reader has passed on what it kept, or a part of it. */
  constructor (reader: Source, stream: Source, onPassed: () => void = () => {}) {
    this.#reader = reader
    this.#stream = stream
    this.#onPassed = onPassed
  }

  pause (): void {
    if (++this.#pauses > 1) return
    this.#reader.pause()
    this.#stream.pause()
  }

  resume (): void {
    if (--this.#pauses > 0) return
    // Messages that were kept may be reason enough for the next pause.
    this.#reader.resume()
    this.#onPassed()
    if (this.#pauses === 0) this.#stream.resume()
  }
}

/** How often what was read is counted anew, in milliseconds, and how many times in a second that is. */
const WINDOW = 100
const WINDOWS = 1_000 / WINDOW
/** How many messages a line that is no message counts for, and so many bytes: they cost as much. */
const LINE = 4
const BYTES = 1_024
/** The room that a line takes which is blank or a part of an event, in bytes. */
const SHORT_LINE = 32
/** The longest pause, in windows. */
const LONGEST = 10
/** In how many turns of the event loop at least the work of a window is done, so that others have theirs in between. */
const TURNS = 8

/**
 * Slows an upstream down that sends much which no request asked for: what it costs would delay all other servers and
 * clients. One for all streams of a link.
 */
export class UnaskedMessages {
  readonly #max: number
  readonly #paused = new Set<Source>()
  #count = 0
  #countOfTurn = 0
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  /** `max` is how many small messages may come in a second. */
  constructor (max: number) {
    this.#max = max / WINDOWS
  }

  /** Counts a message that no request asked for. */
  add (source: Source, { kind }: Message, bytes: number): void {
    this.#add(source, (kind === 'invalid' ? LINE : 1) + bytes / BYTES)
  }

  /** Counts a line that has no message of its own, and its bytes that belong to none. */
  addLine (source: Source, bytes: number): void {
    this.#add(source, (bytes + SHORT_LINE) / BYTES)
  }

  /** Goes on with all that was paused, for a link that ends. */
  stop (): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#timer = this.#immediate = undefined
    this.#resume()
  }

  #add (source: Source, count: number): void {
    this.#count = Math.min(this.#count + count, LONGEST * this.#max)
    this.#countOfTurn += count
    this.#timer ??= setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count > this.#max) this.#pause(source)
    else if (this.#countOfTurn > this.#max / TURNS) {
      this.#immediate ??= setImmediate(() => this.#nextTurn())
      this.#pause(source)
    }
  }

  #pause (source: Source): void {
    if (this.#paused.has(source)) return
    this.#paused.add(source)
    source.pause()
  }

  #nextTurn (): void {
    this.#immediate = undefined
    if (this.#count <= this.#max) this.#resume()
  }

  #next (): void {
    this.#timer = undefined
    this.#count = Math.max(0, this.#count - this.#max)
    if (this.#count > 0) this.#timer = setTimeout(() => this.#next(), WINDOW).unref()
    if (this.#count <= this.#max) this.#resume()
  }

  #resume (): void {
    const paused = [...this.#paused]
    this.#countOfTurn = 0
    this.#paused.clear()
    for (const source of paused) source.resume()
  }
}
