import { watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

type Listener = () => void

interface Watched { key: string, watcher: FSWatcher, listeners: Set<(name: string | null) => void> }

/** Changes within so many milliseconds are reported once. */
const DEBOUNCE = 50

/**
 * Watches files through their folders, one watcher per folder, because many programs replace a file instead of changing
 * it.
 */
export class FolderWatchers {
  readonly #known = new Map<string, Watched>()
  readonly #open = new Set<Watched>()

  /** How many folders are watched now. */
  get size (): number {
    return this.#open.size
  }

  /** Calls the listener soon after any of the files changed. Returns a function that stops that. */
  async watch (files: string[], listener: Listener): Promise<() => void> {
    const { schedule, stop } = debounce(listener)
    const stops = [stop]
    const end = () => { for (const one of stops.splice(0)) one() }
    try {
      for (const file of files) stops.push(await this.#join(file, schedule))
    } catch (error) {
      end()
      throw error
    }
    return end
  }

  close (): void {
    for (const watched of this.#open) this.#end(watched)
  }

  async #join (file: string, listener: Listener): Promise<() => void> {
    const folder = dirname(file)
    const { dev, ino } = await stat(folder, { bigint: true })
    // The folder at a path may be replaced, so its identity is part of the key.
    const key = `${dev}:${ino} ${folder}`
    const watched = this.#known.get(key) ?? this.#begin(key, folder)
    const name = basename(file)
    const onChange = (changed: string | null) => { if (changed === null || changed === name) listener() }
    watched.listeners.add(onChange)
    return () => {
      watched.listeners.delete(onChange)
      if (watched.listeners.size === 0) this.#end(watched)
    }
  }

  #begin (key: string, folder: string): Watched {
    const watched: Watched = { key, listeners: new Set(), watcher: watch(folder, { persistent: false }) }
    watched.watcher.on('error', () => this.#end(watched))
    watched.watcher.on('change', (kind, name: string | null) => {
      // This event means that the folder itself is moved or removed: later calls need a watcher of what is there then.
      if (kind === 'rename' && name === basename(folder)) this.#forget(watched)
      for (const listener of watched.listeners) listener(name)
    })
    this.#known.set(key, watched)
    this.#open.add(watched)
    return watched
  }

  #forget (watched: Watched): void {
    if (this.#known.get(watched.key) === watched) this.#known.delete(watched.key)
  }

  #end (watched: Watched): void {
    this.#forget(watched)
    if (this.#open.delete(watched)) watched.watcher.close()
  }
}

function debounce (listener: Listener): { schedule: Listener, stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const run = () => { timer = undefined; listener() }
  return {
    schedule: () => { timer ??= setTimeout(run, DEBOUNCE).unref() },
    stop: () => clearTimeout(timer)
  }
}
