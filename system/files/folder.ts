import { basename, dirname, join } from 'node:path'
import { folderUri, namesBelow, uriBelow } from './file-uri.js'
import type { FolderWatchers } from './folder-watchers.js'
import { findInside, resolveInside, unlessAbsent, type Jail } from './jail.js'
import { listFiles } from './list-files.js'
import { readInside, type ReadFailure } from './read-inside.js'
import { suggestPaths } from './suggest-paths.js'

export interface FolderOptions {
  /** The path of the folder in the options. */
  path: string
  /** Its path without links. */
  real: string
  /** The largest file that is read, in bytes. */
  maxFile: number
  /** The longest URI that is listed. */
  maxUri: number
  /** Paths of other served folders, which are not listed again here. */
  others: ReadonlySet<string>
  /** Real paths of folders that are never served. */
  hidden: readonly string[]
  watchers: FolderWatchers
}

/** A folder whose files are served by their URIs, and nothing outside it. */
export class Folder {
  /** The prefix of the URIs of its files. */
  readonly uri: string
  readonly path: string
  readonly maxFile: number
  readonly #options: FolderOptions
  readonly #jail: Jail

  constructor (options: FolderOptions) {
    this.#options = options
    this.#jail = { root: options.real, hidden: options.hidden }
    this.path = options.path
    this.maxFile = options.maxFile
    this.uri = folderUri(options.path)
  }

  /** At most `size` files after a URI. */
  async list (
    after: string | undefined,
    size: number,
    signal?: AbortSignal
  ): Promise<Array<{ uri: string, path: string, size: number }>> {
    const { others, maxUri } = this.#options
    const files = await listFiles(this.#jail, {
      after: after === undefined ? [] : namesBelow(this.uri, after) ?? [],
      size,
      leavesOut: names => others.has(join(this.path, ...names)) || uriBelow(this.uri, names).length > maxUri,
      signal
    })
    return files.map(({ names, size }) => ({ uri: uriBelow(this.uri, names), path: names.join('/'), size }))
  }

  async read (uri: string, signal?: AbortSignal): Promise<Buffer | ReadFailure> {
    const path = this.#pathOf(uri)
    return path === undefined ? 'absent' : await readInside(this.#jail, path, this.#options.maxFile, signal)
  }

  /**
   * Calls `changed` after every change of a file, until the returned function is called; undefined if there is no such
   * file.
   */
  async watch (uri: string, changed: () => void): Promise<(() => void) | undefined> {
    const { watchers } = this.#options
    const path = this.#pathOf(uri)
    const real = path === undefined ? undefined : await this.#fileAt(path)
    const folder = path === undefined ? undefined : await this.#folderOf(path)
    if (path === undefined || real === undefined || folder === undefined) return undefined
    // Both a link and its target can change.
    const stop = await unlessAbsent(
      async () => await watchers.watch([...new Set([real, join(folder, basename(path))])], changed)
    )
    if (await resolveInside(this.#jail, path) === real) return stop
    stop?.()
    return undefined
  }

  async suggest (typed: string): Promise<string[]> {
    return await suggestPaths(this.#jail, typed)
  }

  #pathOf (uri: string): string | undefined {
    const names = namesBelow(this.uri, uri)
    return names === undefined ? undefined : join(this.#options.real, ...names)
  }

  async #fileAt (path: string): Promise<string | undefined> {
    const found = await findInside(this.#jail, path)
    return found?.stats.isFile() === true ? found.real : undefined
  }

  async #folderOf (path: string): Promise<string | undefined> {
    const { root } = this.#jail
    const folder = dirname(path)
    return folder === root ? root : await resolveInside(this.#jail, folder)
  }
}
