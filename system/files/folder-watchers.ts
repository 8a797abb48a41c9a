import { watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

type Listener = () => void

interface Watched { key: string, watcher: FSWatcher, listeners: Set<(name: string | null) => void> }

const CALM = 50

/** Watches files through the folders they are in, once per folder, because programs replace a file as often as they change it. */
export class FolderWatchers {
  readonly #known = new Map<string, Watched>()
  readonly #open = new Set<Watched>()

  /** How many folders are watched now. */
  get size (): number {
    return this.#open.size
  }

  /** Calls the listener soon after something happened to any of the files, once for what happens together. Returns how to stop. */
  async watch (files: string[], listener: Listener): Promise<() => void> {
    const { hear, stop } = calmly(listener)
    const stops = [stop]
    const end = () => { for (const one of stops.splice(0)) one() }
    try {
      for (const file of files) stops.push(await this.#join(file, hear))
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
    // A path may lead to another folder than it did.
    const key = `${dev}:${ino} ${folder}`
    const watched = this.#known.get(key) ?? this.#begin(key, folder)
    const name = basename(file)
    const hear = (changed: string | null) => { if (changed === null || changed === name) listener() }
    watched.listeners.add(hear)
    return () => {
      watched.listeners.delete(hear)
      if (watched.listeners.size === 0) this.#end(watched)
    }
  }

  #begin (key: string, folder: string): Watched {
    const watched: Watched = { key, listeners: new Set(), watcher: watch(folder, { persistent: false }) }
    watched.watcher.on('error', () => this.#end(watched))
    watched.watcher.on('change', (kind, name: string | null) => {
      // So a folder tells that it goes itself: who comes later needs a watcher of what is there then.
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

function calmly (listener: Listener): { hear: Listener, stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const tell = () => { timer = undefined; listener() }
  return {
    hear: () => { timer ??= setTimeout(tell, CALM).unref() },
    stop: () => clearTimeout(timer)
  }
}
