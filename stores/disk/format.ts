import type { DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import { allRows, pragma } from './row.js'

/** The format that this version reads and writes, kept in `user_version`. */
export const FORMAT = 5

/** How long a process waits at start while another converts the file, in milliseconds. */
const UPGRADE_TIMEOUT = 30_000

const SUBSCRIPTIONS =
  'CREATE TABLE subscriptions (session TEXT NOT NULL, uri TEXT NOT NULL, PRIMARY KEY (session, uri)) STRICT, WITHOUT ROWID;'

/**
 * The processes that use the file, until when each counts as alive on the machine's monotonic clock, and messages to
 * them.
 */
const NODES = `
  CREATE TABLE nodes (id TEXT PRIMARY KEY, address TEXT NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, sender TEXT NOT NULL, text TEXT NOT NULL) STRICT;
  CREATE INDEX mailboxes ON messages (node);`

/**
 * How many entries a space has, expired ones included: for the spaces that were counted once. Counting a large space
 * takes longer than a write.
 */
const COUNTS = `
  CREATE TABLE counts (space TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER inserted AFTER INSERT ON entries BEGIN UPDATE counts SET count = count + 1 WHERE space = NEW.space; END;
  CREATE TRIGGER deleted AFTER DELETE ON entries BEGIN UPDATE counts SET count = count - 1 WHERE space = OLD.space; END;
  CREATE TRIGGER emptied AFTER UPDATE ON counts WHEN NEW.count = 0 BEGIN DELETE FROM counts WHERE space = NEW.space; END;`

/** Which sessions a principal has. Its name is JSON, because it may hold what is not valid UTF-8. */
const PRINCIPALS = 'CREATE INDEX principals ON sessions (principal, expires) WHERE principal IS NOT NULL;'

/**
 * The tables of a new file. Subscriptions are rows with the URI as JSON, because a URI may hold what is not valid
 * UTF-8.
 */
export const SCHEMA = `
  CREATE TABLE entries (space TEXT NOT NULL, key TEXT NOT NULL, expires INTEGER, value TEXT NOT NULL, UNIQUE (space, key)) STRICT;
  CREATE INDEX expiring ON entries (space, expires) WHERE expires IS NOT NULL;
  CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, writer TEXT NOT NULL, space TEXT NOT NULL, key TEXT NOT NULL) STRICT;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, home TEXT NOT NULL, record TEXT NOT NULL, expires INTEGER NOT NULL, principal TEXT) STRICT, WITHOUT ROWID;
  ${PRINCIPALS}
  CREATE TABLE streams (
    session TEXT NOT NULL, stream TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, seen INTEGER NOT NULL,
    size INTEGER NOT NULL, ended INTEGER NOT NULL, interrupted_response TEXT NOT NULL,
    writer TEXT NOT NULL DEFAULT '', reader TEXT NOT NULL DEFAULT '', UNIQUE (session, stream)) STRICT;
  CREATE TABLE events (
    session TEXT NOT NULL, stream TEXT NOT NULL, number INTEGER NOT NULL, method TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (session, stream, number)) STRICT;
  ${SUBSCRIPTIONS}
  ${NODES}
  ${COUNTS}
  PRAGMA user_version = ${FORMAT};`

/** Functions that bring a file of format `n` to format `n + 1`, by `n`. */
const STEPS: Record<number, (db: Database) => void> = {
  1: moveSubscriptions, 2: renameStored, 3: addNodes, 4: db => db.exec(COUNTS)
}

export function formatOf (db: Database): number {
  return pragma(db, 'user_version')
}

/**
 * Brings a file of an earlier format to today's, in one transaction. Of several processes that begin at once, one does
 * it and the others wait. A file of an unknown format stays as it is.
 */
export function upgrade (db: Database): void {
  if (STEPS[formatOf(db)] === undefined) return
  db.exec(`PRAGMA busy_timeout = ${UPGRADE_TIMEOUT}`)
  db.exec('BEGIN IMMEDIATE')
  try {
    for (let step = STEPS[formatOf(db)]; step !== undefined; step = STEPS[formatOf(db)]) {
      const next = formatOf(db) + 1
      step(db)
      db.exec(`PRAGMA user_version = ${next}`)
    }
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Format 1 had the subscriptions of a session in its record. */
function moveSubscriptions (db: Database): void {
  db.exec(SUBSCRIPTIONS)
  const add = db.prepare('INSERT INTO subscriptions (session, uri) VALUES (?, ?) ON CONFLICT DO NOTHING')
  changeRecords(db, (id, { subscriptions, ...rest }) => {
    if (!Array.isArray(subscriptions)) return undefined
    for (const uri of subscriptions) add.run(id, JSON.stringify(uri))
    return rest
  })
}

/** Format 2 had other names for what it stored. */
function renameStored (db: Database): void {
  db.exec('ALTER TABLE sessions RENAME COLUMN home TO node_address')
  db.exec('ALTER TABLE streams RENAME COLUMN last_word TO interrupted_response')
  changeRecords(db, (_id, { greeted, ...rest }) =>
    greeted === undefined ? undefined : { ...rest, initialized: greeted }
  )
}

/**
 * In format 3 a session had an owner. Owners of that time have ended, so that the next node takes over what they left.
 */
function addNodes (db: Database): void {
  db.exec('ALTER TABLE sessions RENAME COLUMN owner TO home')
  db.exec('ALTER TABLE sessions DROP COLUMN node_address')
  for (const column of ['writer', 'reader']) {
    db.exec(`ALTER TABLE streams ADD COLUMN ${column} TEXT NOT NULL DEFAULT ''`)
  }
  db.exec(NODES)
  db.exec('ALTER TABLE sessions ADD COLUMN principal TEXT')
  db.exec(PRINCIPALS)
  const setPrincipal = db.prepare('UPDATE sessions SET principal = ? WHERE id = ?')
  changeRecords(db, (id, { principal }) => {
    if (typeof principal === 'string') setPrincipal.run(JSON.stringify(principal), id)
    return undefined
  })
}

type StoredRecord = Record<string, unknown>

/** Writes what `change` returns. A record that is damaged stays, and is reported when its session is asked for. */
function changeRecords (db: Database, change: (id: string, record: StoredRecord) => StoredRecord | undefined): void {
  const write = db.prepare('UPDATE sessions SET record = ? WHERE id = ?')
  for (const { id, record } of allRows<{ id: string, record: string }>(db.prepare('SELECT id, record FROM sessions'))) {
    const changed = change(id, parseRecord(record))
    if (changed !== undefined) write.run(JSON.stringify(changed), id)
  }
}

function parseRecord (text: string): StoredRecord {
  try {
    return Object(JSON.parse(text)) as StoredRecord
  } catch {
    return {}
  }
}
