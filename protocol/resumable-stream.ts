import type { Channel } from './channel.js'

/** One message on its way to an SSE client; `id` is where the client may resume after it. */
export interface StreamEvent { id?: string, text: string, method?: string, retry?: number }

/** Where events are written while a client is connected. */
export interface Sink {
  write (event: StreamEvent): void
  end (): void
}

interface Entry { seq: number, text: string, method: string }

const MAX_EVENTS = 1_000
const MAX_TEXT = 1_048_576
const RETRY_MS = 1_000

/**
 * A stream of a session that outlives its connection: what is sent while nobody listens waits, and a client that names the last
 * event it saw gets what followed, once and in order.
 */
export class ResumableStream implements Channel {
  readonly streams = true
  readonly key: string
  readonly #entries: Entry[] = []
  readonly #primed: boolean
  readonly #onEnd: () => void
  #seq = 0
  #delivered = 0
  #size = 0
  #sink: Sink | undefined
  ended = false

  /** A primed stream opens with an event without data, so that the client can resume before the first message. */
  constructor (key: string, primed: boolean, onEnd = () => {}) {
    this.key = key
    this.#primed = primed
    this.#onEnd = onEnd
  }

  get connected (): boolean {
    return this.#sink !== undefined
  }

  /** How much is kept for clients that come back, in characters. */
  get size (): number {
    return this.#size
  }

  /** True when a client has been sent all there is. */
  get delivered (): boolean {
    return this.#delivered === this.#seq
  }

  /** True when everything after `seq` is still here. */
  reaches (seq: number): boolean {
    const first = this.#entries[0]?.seq ?? this.#seq + 1
    return Number.isInteger(seq) && seq >= first - 1 && seq <= this.#seq
  }

  /** True when a client that saw everything up to `seq` has nothing more to expect. */
  exhausted (seq: number): boolean {
    return this.ended && seq >= this.#seq
  }

  /** Connects a client: it gets what it has not had, and then whatever comes. */
  attach (sink: Sink, after = this.#delivered, retry = RETRY_MS): void {
    this.#sink = sink
    if (this.#primed) sink.write({ id: `${this.key}-${after}`, text: '', retry })
    for (const entry of this.#entries) if (entry.seq > after) this.#write(entry)
    if (this.ended) this.#hangUp()
  }

  /** The connection is gone; the stream goes on. */
  detach (sink: Sink): void {
    if (this.#sink === sink) this.#sink = undefined
  }

  emit (text: string, method: string): void {
    if (this.ended || this.#isOldNews(method)) return
    const entry = { seq: ++this.#seq, text, method }
    this.#entries.push(entry)
    this.#size += text.length
    while (this.#entries.length > MAX_EVENTS || (this.#size > MAX_TEXT && this.#entries.length > 1)) this.#size -= this.#entries.shift()?.text.length ?? 0
    this.#write(entry)
  }

  respond (text: string): void {
    this.emit(text, '')
  }

  end (): void {
    this.ended = true
    this.#hangUp()
    this.#onEnd()
  }

  release (retryMs: number): void {
    this.#sink?.write({ text: '', retry: retryMs })
    this.#hangUp()
  }

  // Whoever is not there learns once that a list has changed, not how often.
  #isOldNews (method: string): boolean {
    if (this.#sink !== undefined || !method.endsWith('/list_changed')) return false
    return this.#entries.some(entry => entry.seq > this.#delivered && entry.method === method)
  }

  #write ({ seq, text, method }: Entry): void {
    if (this.#sink === undefined) return
    this.#delivered = seq
    this.#sink.write({ id: `${this.key}-${seq}`, text, method })
  }

  #hangUp (): void {
    const sink = this.#sink
    this.#sink = undefined
    sink?.end()
  }
}
