import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import { FORMAT, formatOf, SCHEMA, upgrade } from './format.js'
import { pragma } from './row.js'
import { describeFailure } from './failure.js'

/** The name of the data file in its folder. */
export const FILE = 'patchbay.db'
const APPLICATION = 0x50425931
/**
 * How long SQLite waits for a lock of another process, in milliseconds: at start, and later, when it would block the
 * event loop.
 */
const BUSY_TIMEOUT = { start: 2_000, later: 10 }
/** Up to this size the whole file is checked at start; damage of a larger one shows when it is read. */
const MAX_CHECKED = 16 * 1024 * 1024

export interface OpenFile {
  db: Database
  /** False if the file was removed or replaced since it was opened. */
  isThere: () => boolean
}

/** Opens the data file of a folder, or creates it. Throws one sentence that names the folder and what to do. */
export function openFile (folder: string, maxSize: number): OpenFile {
  const file = join(folder, FILE)
  try {
    makeFolder(folder)
    // In this order: a process that creates the file at this moment creates the write-ahead log after it.
    const hasLog = existsSync(`${file}-wal`)
    if (!existsSync(file)) create(file, hasLog)
    const db = connect(file)
    try {
      check(db, file)
      limitSize(db, maxSize)
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT.later}`)
      return { db, isThere: identityCheck(file) }
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw refusalOf(folder, error)
  }
}

/** A sentence about a folder that cannot be used. */
export function refusalOf (folder: string, error: unknown): Error {
  return new Error(
    `data folder ${folder}: ${describeFailure(error)}; choose another with --data, or keep nothing with --ephemeral`,
    { cause: error }
  )
}

// Not `recursive: true`, with which Node.js never returns where nothing can be created, such as in /proc.
function makeFolder (folder: string): void {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!isPresent(error)) throw error
  }
}

// Created under another name and then linked, so that no process can open a file that is empty or incomplete.
function create (file: string, hasLog: boolean): void {
  if (hasLog) {
    throw new Error(
      `${FILE} is missing, but ${FILE}-wal with the latest changes is there: restore the one or delete the other`
    )
  }
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

/** If another process was faster, its file is used. */
function putInPlace (draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if (isPresent(error)) return
    try {
      // Some file systems have no hard links.
      copyFileSync(draft, file, constants.COPYFILE_EXCL)
    } catch (second) {
      if (!isPresent(second)) throw second
    }
  }
}

const isPresent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST'

function connect (file: string): Database {
  if (statSync(file).size === 0) {
    throw new Error(`${FILE} is empty, so it was damaged: restore a copy of it or delete it`)
  }
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT.start })
  db.exec('PRAGMA synchronous = NORMAL')
  return db
}

// After the upgrade, which may need more pages than a file near its limit has left. SQLite never sets the limit below
// the present size.
function limitSize (db: Database, maxSize: number): void {
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxSize / pragma<number>(db, 'page_size')))}`)
}

function identityCheck (file: string): () => boolean {
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
  if (format !== FORMAT) {
    throw new Error(`${FILE} has format ${format} and this version of Patchbay knows format ${FORMAT}`)
  }
  // Fails now, and not at the first write, if the file is read-only.
  db.exec('BEGIN IMMEDIATE; ROLLBACK')
  if (statSync(file).size > MAX_CHECKED) return
  if (pragma(db, 'integrity_check(1)') !== 'ok') {
    throw new Error(`${FILE} is damaged: restore a copy of it or delete it`)
  }
}
