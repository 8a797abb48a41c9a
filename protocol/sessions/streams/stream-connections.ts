import type { Sink } from './sink.js'

/** How many connections a stream has at most; beyond that the oldest is closed. */
const MAX_CONNECTIONS = 4

/** The connections of one stream, all of the same caller. Any but the newest may be half-open, which the server cannot detect. */
export class StreamConnections {
  newest: Sink | undefined
  /** True when the newest connection was older than one that is closed by now: its client may have left it long ago. */
  newestMayBeStale = false
  /** The ones before the newest, oldest first; most streams have none. */
  #older: Sink[] | undefined

  /** Oldest first. */
  get all (): Sink[] {
    return this.newest === undefined ? [] : [...this.#older ?? [], this.newest]
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

  /** When the newest goes, the one before it becomes the newest. */
  remove (sink: Sink): void {
    if (this.newest === sink) {
      this.newest = this.#older?.pop()
      this.newestMayBeStale = this.newest !== undefined
    } else if (this.has(sink)) {
      this.#older = this.#older?.filter(other => other !== sink)
    }
  }
}
