type Stop = () => void

/** Starts watching a URI; undefined when there is nothing to watch. */
export type StartWatch = (uri: string) => Promise<Stop | undefined>

interface Watched { count: number, stopped: boolean, stop: Promise<Stop | undefined> }

/** Watches each URI while anybody is interested in it, once for all of them. */
export class WatchCount {
  readonly #watch: StartWatch
  readonly #watched = new Map<string, Watched>()

  constructor (watch: StartWatch) {
    this.#watch = watch
  }

  /** Returns how to lose interest; undefined when there is nothing to watch. Rejects as the watch does. */
  async acquire (uri: string): Promise<Stop | undefined> {
    const watched = this.#watched.get(uri) ?? { count: 0, stopped: false, stop: this.#watch(uri) }
    this.#watched.set(uri, watched)
    watched.count++
    let interested = true
    const release = () => {
      if (interested) this.#decrement(uri, watched)
      interested = false
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

  /** Stops watching, whoever is interested. */
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

/** Once, and whatever an author's function does about it. */
function stop (watched: Watched): void {
  if (watched.stopped) return
  watched.stopped = true
  watched.stop.then(end => end?.()).catch(() => {})
}
