import type { Identity } from '../../wire/identity.js'

type Stop = () => void

/** Starts watching a URI, for the caller who was the first to want it; undefined when there is nothing to watch. */
export type StartWatch = (uri: string, identity: Identity) => Promise<Stop | undefined>

interface Watched { readonly identity: Identity, count: number, stopped: boolean, stop: Promise<Stop | undefined> }

/** Watches each URI once, while at least one subscription has acquired it. */
export class WatchCount {
  readonly #watch: StartWatch
  readonly #watched = new Map<string, Watched>()

  constructor (watch: StartWatch) {
    this.#watch = watch
  }

  /**
   * Returns a function that releases it; undefined when there is nothing to watch. Rejects when the watch fails to
   * start.
   */
  async acquire (uri: string, identity: Identity): Promise<Stop | undefined> {
    const watched = this.#watched.get(uri) ?? { identity, count: 0, stopped: false, stop: this.#watch(uri, identity) }
    this.#watched.set(uri, watched)
    watched.count++
    let acquired = true
    const release = () => {
      if (acquired) this.#decrement(uri, watched)
      acquired = false
    }
    try {
      if (await watched.stop !== undefined) return release
    } catch (error) {
      release()
      throw error
    }
    release()
    return undefined
  }

  /** Stops and starts those watches whose URIs are watched by another function than before. */
  restart (concerns: (uri: string) => boolean): void {
    for (const [uri, watched] of this.#watched) {
      if (!concerns(uri)) continue
      watched.stop.then(end => end?.()).catch(() => {})
      watched.stop = this.#watch(uri, watched.identity).catch(() => undefined)
    }
  }

  /** Stops all watches, whatever their count. */
  stopAll (): void {
    for (const watched of this.#watched.values()) stop(watched)
    this.#watched.clear()
  }

  #decrement (uri: string, watched: Watched): void {
    if (--watched.count > 0) return
    if (this.#watched.get(uri) === watched) this.#watched.delete(uri)
    stop(watched)
  }
}

/** Stops it once; what an author's function throws is ignored. */
function stop (watched: Watched): void {
  if (watched.stopped) return
  watched.stopped = true
  watched.stop.then(end => end?.()).catch(() => {})
}
