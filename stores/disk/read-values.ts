import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import type { Entry } from '../../protocol/store.js'
import { parseStored } from './failure.js'
import { FILE } from './file.js'
import { FORMAT, formatOf } from './format.js'
import { allRows } from './row.js'

/** How long SQLite waits for a lock of another process, in milliseconds. */
const BUSY_TIMEOUT = 500

/**
 * Reads the entries of one space from the data file of a folder, which a gateway may use at the same time. Changes
 * nothing there; a file that is missing or cannot be read has none.
 */
export function readValues (folder: string, space: string): Entry[] {
  const file = join(folder, FILE)
  if (!existsSync(file)) return []
  try {
    const db = open(file)
    try {
      return formatOf(db) === FORMAT ? entriesOf(db, space) : []
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}

// Without a write-ahead log, SQLite would create one to read, and leave it there.
function open (file: string): Database {
  return existsSync(`${file}-wal`)
    ? new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT })
    : new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true })
}

function entriesOf (db: Database, space: string): Entry[] {
  const found = db.prepare('SELECT key, value FROM entries WHERE space = ? AND (expires IS NULL OR expires > ?)')
  return allRows<{ key: string, value: string }>(found, space, Date.now()).map(({ key, value }) => ({
    key,
    value: parseStored(value)
  }))
}
