import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { realFolder, unlessAbsent, type Jail } from './jail.js'
import { readInside } from './read-inside.js'

/** A file of a folder: the names of its path, and the digest and size of its bytes. */
export interface HashedFile {
  readonly names: readonly string[]
  readonly digest: string
  readonly size: number
  /** Changes with the file; empty when the file is too young to tell. */
  readonly print: string
}

/** The files of a folder and of all folders in it, sorted, by their paths with slashes. */
export interface HashedFolder {
  readonly jail: Jail
  readonly files: ReadonlyMap<string, HashedFile>
  /** The paths of the folders in it. */
  readonly folders: readonly string[]
  /** The paths that are left out: symbolic links, devices, and what cannot be read. */
  readonly leftOut: readonly string[]
}

export interface FolderLimits { readonly maxFiles: number, readonly maxBytes: number, readonly maxDepth: number }

/** A folder that cannot be taken as a whole, and why. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

/** How old a change has to be, in milliseconds, until a later one is seen by the times of the file. */
const SETTLED = 2_000

/**
 * Hashes the files of a folder; those that did not change since `former` are not read again. Names that begin with a
 * dot are left out without a word. Throws a FolderError where there is more than the limits allow.
 */
export async function hashFolder (path: string, limits: FolderLimits, former?: HashedFolder): Promise<HashedFolder> {
  const root = await realFolder(path)
  if (root === undefined) throw new FolderError('it is not a folder that can be read')
  const walk = new Walk({ root, hidden: [] }, limits, former)
  await walk.into([])
  return walk.result()
}

class Walk {
  readonly #jail: Jail
  readonly #limits: FolderLimits
  readonly #former: HashedFolder | undefined
  readonly #files = new Map<string, HashedFile>()
  readonly #folders: string[] = []
  readonly #leftOut: string[] = []
  #bytes = 0

  constructor (jail: Jail, limits: FolderLimits, former: HashedFolder | undefined) {
    this.#jail = jail
    this.#limits = limits
    this.#former = former
  }

  async into (names: readonly string[]): Promise<void> {
    const { maxDepth, maxFiles } = this.#limits
    if (names.length > maxDepth) throw new FolderError(`its folders are nested deeper than ${maxDepth} levels`)
    const found = await unlessAbsent(async () =>
      await readdir(join(this.#jail.root, ...names), { withFileTypes: true }))
    const entries = (found ?? []).filter(({ name }) => !name.startsWith('.'))
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = [...names, entry.name]
      if (entry.isDirectory()) {
        this.#folders.push(inner.join('/'))
        if (this.#folders.length > maxFiles) throw new FolderError(`it has more than ${maxFiles} folders`)
        await this.into(inner)
      } else if (!entry.isFile() || !await this.#take(inner)) this.#leftOut.push(inner.join('/'))
    }
  }

  result (): HashedFolder {
    return { jail: this.#jail, files: this.#files, folders: this.#folders, leftOut: this.#leftOut }
  }

  /** False for a file that cannot be read. */
  async #take (names: readonly string[]): Promise<boolean> {
    const { maxFiles, maxBytes } = this.#limits
    const path = join(this.#jail.root, ...names)
    const stats = await unlessAbsent(async () => await lstat(path, { bigint: true }))
    if (stats?.isFile() !== true) return false
    if (this.#files.size === maxFiles) throw new FolderError(`it has more than ${maxFiles} files`)
    const key = names.join('/')
    const file = this.#known(key, stats) ?? await this.#hash(path, names, stats)
    if (file === undefined) return false
    this.#files.set(key, file)
    this.#bytes += file.size
    if (this.#bytes > maxBytes) throw tooLarge(maxBytes)
    return true
  }

  #known (key: string, stats: BigIntStats): HashedFile | undefined {
    const known = this.#former?.files.get(key)
    return known !== undefined && known.print !== '' && known.print === printOf(stats) ? known : undefined
  }

  async #hash (path: string, names: readonly string[], stats: BigIntStats): Promise<HashedFile | undefined> {
    const { maxBytes } = this.#limits
    const isSettled = Date.now() - Number(stats.ctimeMs) > SETTLED
    const bytes = await readInside(this.#jail, path, maxBytes)
    if (bytes === 'too large') throw tooLarge(maxBytes)
    if (typeof bytes === 'string') return undefined
    const digest = createHash('sha256').update(bytes).digest('hex')
    return { names, digest, size: bytes.length, print: isSettled ? printOf(stats) : '' }
  }
}

const tooLarge = (max: number): FolderError => new FolderError(`its files have more than ${max} bytes`)

const printOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ')
