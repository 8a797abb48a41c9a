import { randomUUID } from 'node:crypto'
import { closeSync, constants, copyFileSync, existsSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import { FORMAT, formatOf, SCHEMA, upgrade } from './format.js'
import { pragma } from './row.js'
import { explain } from './trouble.js'

const FILE = 'patchbay.db'
const APPLICATION = 0x50425931
/** How long SQLite waits for others, in milliseconds: at start, and later, when the event loop waits with it. */
const BUSY_TIMEOUT = { start: 2_000, later: 10 }
/** Up to this size the whole file is read at start; a larger one is found damaged when the damage is met. */
const CHECKED = 16 * 1024 * 1024

export interface OpenFile {
  db: Database
  /** False when the file was removed or replaced since. */
  isThere: () => boolean
}

/** Opens the data file of a folder, or makes one. Throws one sentence that names the folder and says what to do. */
export function openFile (folder: string, maxSize: number): OpenFile {
  const file = join(folder, FILE)
  try {
    makeFolder(folder)
    // In this order: whoever makes the file at this moment makes the other one after it.
    const changes = existsSync(`${file}-wal`)
    if (!existsSync(file)) create(file, changes)
    const db = connect(file)
    try {
      check(db, file)
      limitSize(db, maxSize)
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT.later}`)
      return { db, isThere: presence(file) }
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw new Error(`data folder ${folder}: ${explain(error)}; choose another with --data, or keep nothing with --ephemeral`, { cause: error })
  }
}

// Not by Node.js itself, which tries for ever where nothing can be made, such as in /proc.
function makeFolder (folder: string): void {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!isTaken(error)) throw error
  }
}

// Made beside and put in place whole, so that a file that is empty or half made is never mistaken for a new one.
function create (file: string, changes: boolean): void {
  if (changes) throw new Error(`${FILE} is missing, but ${FILE}-wal with the latest changes is there: restore the one or delete the other`)
  const draft = `${file}.${randomUUID()}.new`
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    const db = new DatabaseSync(draft)
    db.exec('PRAGMA journal_mode = WAL')
    db.exec(`BEGIN; ${SCHEMA} PRAGMA application_id = ${APPLICATION}; COMMIT`)
    db.close()
    putInPlace(draft, file)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
}

/** Another process may have been faster; then its file is the one. */
function putInPlace (draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if (isTaken(error)) return
    try {
      // Some file systems have no links.
      copyFileSync(draft, file, constants.COPYFILE_EXCL)
    } catch (second) {
      if (!isTaken(second)) throw second
    }
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST'

function connect (file: string): Database {
  if (statSync(file).size === 0) throw new Error(`${FILE} is empty, so it was damaged: restore a copy of it or delete it`)
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT.start })
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

// After the upgrade, which may need more pages than a file near its limit has left. SQLite never sets the limit below the present size.
function limitSize (db: Database, maxSize: number): void {
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxSize / pragma<number>(db, 'page_size')))}`)
}

function presence (file: string): () => boolean {
  const { dev, ino } = statSync(file)
  return () => {
    const now = statSync(file, { throwIfNoEntry: false })
    return now?.ino === ino && now.dev === dev
  }
}

function check (db: Database, file: string): void {
  if (pragma(db, 'application_id') !== APPLICATION) throw new Error(`${FILE} is not a file of Patchbay`)
  upgrade(db)
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT.start}`)
  const format = formatOf(db)
  if (format !== FORMAT) throw new Error(`${FILE} has format ${format} and this version of Patchbay knows format ${FORMAT}`)
  // Finds out now, and not at the first note, whether writing is possible.
  db.exec('BEGIN IMMEDIATE; ROLLBACK')
  if (statSync(file).size > CHECKED) return
  if (pragma(db, 'integrity_check(1)') !== 'ok') throw new Error(`${FILE} is damaged: restore a copy of it or delete it`)
}
