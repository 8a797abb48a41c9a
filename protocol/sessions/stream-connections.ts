import type { Sink } from './resumable-stream.js'

/** How many connections a stream has at most; beyond that the oldest is closed. */
const MOST = 4

/** The connections of one stream, which all are the same caller's. Any but the newest may be half-open, which the server cannot see. */
export class StreamConnections {
  newest: Sink | undefined
  /** True while the newest connection is one that another had followed, and that is gone: its client may have left it long ago. */
  doubtful = false
  /** Those before the newest, the oldest first; hardly any stream has some. */
  #older: Sink[] | undefined

  /** All of them, the newest last. */
  get all (): Sink[] {
    return this.newest === undefined ? [] : [...this.#older ?? [], this.newest]
  }

  has (sink: Sink): boolean {
    return this.newest === sink || this.#older?.includes(sink) === true
  }

  add (sink: Sink): void {
    if (this.newest !== undefined) (this.#older ??= []).push(this.newest)
    this.newest = sink
    this.doubtful = false
    if ((this.#older?.length ?? 0) >= MOST) this.#older?.shift()?.close()
  }

  /** When the newest goes, the one before it becomes the newest. */
  remove (sink: Sink): void {
    if (this.newest === sink) {
      this.newest = this.#older?.pop()
      this.doubtful = this.newest !== undefined
    } else if (this.has(sink)) {
      this.#older = this.#older?.filter(other => other !== sink)
    }
  }
}
