import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

/** How long after the last event files are looked at, in milliseconds: editors write a file in several steps. */
const QUIET = 60

interface Watched { watcher: FSWatcher, inode: bigint }

/**
 * Watches files through their folders, because a file that is saved by renaming another one over it is not the one that
 * was watched. Events only say when to look; what changed is found by comparing the files with what they were before.
 */
export class FileChanges {
  readonly #onQuiet: () => void
  readonly #prints = new Map<string, string>()
  readonly #watchers = new Map<string, Watched>()
  #openFolders = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** `onQuiet` runs when something may have changed, and nothing more happened for a moment. */
  constructor (onQuiet: () => void) {
    this.#onQuiet = onQuiet
  }

  /** Remembers what these files are now, if they are new here. */
  note (files: Iterable<string>): void {
    for (const file of files) if (!this.#prints.has(file)) this.#prints.set(file, printOf(file))
  }

  /**
   * Watches these files, also those that are not there, and all that is in these folders. Former files stay watched.
   */
  watch (files: Iterable<string>, folders: Iterable<string>): void {
    if (this.#closed) return
    this.note(files)
    this.#openFolders = new Set(folders)
    const wanted = new Set([...this.#openFolders, ...[...this.#prints.keys()].map(dirname)].map(nearestFolder))
    for (const folder of wanted) this.#watchFolder(folder)
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#drop(folder)
  }

  /** The files that are not what they were at the last time. */
  changes (): string[] {
    const changed: string[] = []
    for (const [file, before] of this.#prints) {
      const now = printOf(file)
      if (now !== before) changed.push(file)
      this.#prints.set(file, now)
    }
    return changed
  }

  /** Looks again soon. */
  schedule (): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onQuiet, QUIET)
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder)
  }

  #watchFolder (folder: string): void {
    const inode = statSync(folder, { bigint: true, throwIfNoEntry: false })?.ino
    if (this.#watchers.get(folder)?.inode === inode) return
    this.#drop(folder)
    if (inode === undefined) return
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (this.#concerns(folder, name)) this.schedule()
    })
    watcher.on('error', () => {
      this.#drop(folder)
      this.schedule()
    })
    this.#watchers.set(folder, { watcher, inode })
  }

  /**
   * False for a file beside the watched ones, such as a log that is written all the time. The folder itself may be
   * renamed or removed.
   */
  #concerns (folder: string, name: string | null): boolean {
    if (name === null || name === basename(folder) || this.#openFolders.has(folder)) return true
    return (
      this.#prints.has(`${folder === '/' ? '' : folder}/${name}`) ||
      [...this.#prints.keys(), ...this.#openFolders].some(
        path => path.startsWith(`${folder}/${name}/`) || path === `${folder}/${name}`
      )
    )
  }

  #drop (folder: string): void {
    this.#watchers.get(folder)?.watcher.close()
    this.#watchers.delete(folder)
  }
}

/** The folder, or the one above it that is there, in which it may appear. */
function nearestFolder (folder: string): string {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true || dirname(folder) === folder
    ? folder
    : nearestFolder(dirname(folder))
}

function printOf (file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}
