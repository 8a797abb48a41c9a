import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { TOMORROW } from '../../support/stream-log.js'
import { FILE } from '../../support/environment/on-disk.js'

/** Format 1 had no table of subscriptions. */
const FORMAT_1 = `
  CREATE TABLE entries (space TEXT NOT NULL, key TEXT NOT NULL, expires INTEGER, value TEXT NOT NULL, UNIQUE (space, key)) STRICT;
  CREATE INDEX expiring ON entries (space, expires) WHERE expires IS NOT NULL;
  CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, writer TEXT NOT NULL, space TEXT NOT NULL, key TEXT NOT NULL) STRICT;
  CREATE TABLE sessions (id TEXT PRIMARY KEY, home TEXT NOT NULL, owner TEXT NOT NULL, record TEXT NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE streams (
    session TEXT NOT NULL, stream TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, seen INTEGER NOT NULL,
    size INTEGER NOT NULL, ended INTEGER NOT NULL, last_word TEXT NOT NULL, UNIQUE (session, stream)) STRICT;
  CREATE TABLE events (
    session TEXT NOT NULL, stream TEXT NOT NULL, number INTEGER NOT NULL, method TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (session, stream, number)) STRICT;
  PRAGMA application_id = 0x50425931;
  PRAGMA user_version = 1;`

/** Records of sessions as formats 1 and 2 have them, but for the subscriptions. */
export const OLD_RECORD = { greeted: true, capabilities: {}, logLevel: 'warning', revision: '2025-11-25' }

/** What is subscribed to in the session `s` of a file of format 1. */
export const SUBSCRIBED = ['test://b', 'test://a', 'test://ä \ud800']

/**
 * Makes a file of format 1 with a value, a session with subscriptions and a cut-off reply, one without, and a damaged
 * one.
 */
export function makeFormat1 (folder: string): void {
  change(folder, db => {
    db.exec('PRAGMA journal_mode = WAL')
    db.exec(`BEGIN; ${FORMAT_1} COMMIT`)
    db.prepare('INSERT INTO entries (space, key, value) VALUES (?, ?, ?)').run('notes', 'one', '"kept"')
    const add = db.prepare('INSERT INTO sessions (id, home, owner, record, expires) VALUES (?, ?, ?, ?, ?)')
    add.run(
      's',
      'node',
      'one',
      JSON.stringify({ ...OLD_RECORD, client: { name: 'c' }, subscriptions: SUBSCRIBED }),
      TOMORROW
    )
    add.run('none', 'node', 'one', JSON.stringify({ ...OLD_RECORD, subscriptions: [] }), TOMORROW)
    add.run('damaged', 'node', 'one', '{"greeted":', TOMORROW)
    db.exec('INSERT INTO streams VALUES (\'s\', \'r\', 1, 0, 0, 0, 0, \'interrupted\')')
  })
}

/**
 * The content of `format-2.db.gz`, left by a gateway of format 2 that was killed while it answered a call of the first
 * session.
 */
export const FORMAT_2 = {
  session: 'mwinmt5oHCzZeFmpIdR0bYYMIl44PlXQ',
  other: 'mwinmtf2wCVWim4Un2vxxBSJyg-X2Mmh',
  stream: 'd5dc96e27203',
  events: 2
}

/** Puts the file of a gateway of format 2 into a folder. Its sessions expire tomorrow. */
export function copyFormat2 (folder: string): void {
  writeFileSync(join(folder, FILE), gunzipSync(readFileSync('test/stores/disk/format-2.db.gz')))
  change(folder, db => { db.prepare('UPDATE sessions SET expires = ?').run(TOMORROW) })
}

/** Adds sessions of format 2 until the file has no free page; returns its size. */
export function fillFormat2 (folder: string, count: number): number {
  return change(folder, db => {
    const add = db.prepare('INSERT INTO sessions (id, home, owner, record, expires) VALUES (?, ?, ?, ?, ?)')
    db.exec('BEGIN')
    for (let number = 0; number < count; number++) {
      add.run(`filler ${number}`, 'node', 'one', JSON.stringify(OLD_RECORD), TOMORROW)
    }
    db.exec('COMMIT; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number }
    return pages * 4096
  })
}

function change<T> (folder: string, work: (db: InstanceType<typeof DatabaseSync>) => T): T {
  const db = new DatabaseSync(join(folder, FILE))
  try {
    return work(db)
  } finally {
    db.close()
  }
}
