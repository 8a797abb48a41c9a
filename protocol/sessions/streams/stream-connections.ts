import type { Sink, StreamEvent } from './sink.js'

/** How many connections a stream has at most; beyond that the oldest is closed. */
const MAX_CONNECTIONS = 4

/**
 * The connections of one stream, all of the same caller. Any but the newest may be half-open, which the server cannot
 * detect. Events are written to one of them.
 */
export class StreamConnections {
  newest: Sink | undefined
  /**
   * True when the newest connection was older than one that is closed by now, or its client reads at another node: it
   * may have left it long ago.
   */
  newestMayBeStale = false
  /** The number of the last event that was written; undefined while that is not known. */
  lastSent: number | undefined
  /** The connection that is written to: the newest, once it has got the events before. */
  #current: Sink | undefined
  /** The ones before the newest, oldest first; most streams have none. */
  #older: Sink[] | undefined

  /** Oldest first. */
  get all (): Sink[] {
    return this.newest === undefined ? [] : [...this.#older ?? [], this.newest]
  }

  get current (): Sink | undefined {
    return this.#current
  }

  /**
   * True when an event written now counts as seen: it goes to the newest connection, and no newer one has come and
   * gone.
   */
  get countsAsSeen (): boolean {
    return this.#current !== undefined && this.#current === this.newest && !this.newestMayBeStale
  }

  has (sink: Sink): boolean {
    return this.newest === sink || this.#older?.includes(sink) === true
  }

  add (sink: Sink): void {
    if (this.newest !== undefined) (this.#older ??= []).push(this.newest)
    this.newest = sink
    this.newestMayBeStale = false
    if ((this.#older?.length ?? 0) >= MAX_CONNECTIONS) this.#older?.shift()?.close()
  }

  /** Begins to write to a connection, which has got the events up to this number; undefined if that is not known. */
  connect (sink: Sink, lastSent: number | undefined): void {
    this.#current = sink
    this.lastSent = lastSent
    if (this.newest === sink) this.newestMayBeStale = false
  }

  /**
   * When the newest goes, the one before it becomes the newest. It has got all earlier events; a newer one gets them
   * when it is connected.
   */
  remove (sink: Sink): void {
    const wasNewest = this.newest === sink
    if (wasNewest) {
      this.newest = this.#older?.pop()
      this.newestMayBeStale = this.newest !== undefined
    } else if (this.has(sink)) {
      this.#older = this.#older?.filter(other => other !== sink)
    }
    if (this.#current === sink) this.#current = wasNewest ? this.newest : undefined
  }

  /** Writes to none of them until one is connected. They stay open and get nothing, as older ones do. */
  leave (): void {
    this.#current = undefined
    this.newestMayBeStale = true
  }

  write (event: StreamEvent, number: number | undefined): void {
    if (this.#current === undefined) return
    this.lastSent = number
    this.#current.write(event)
  }
}
