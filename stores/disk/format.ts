import type { DatabaseSyncInstance as Database } from '@photostructure/sqlite'

export const FORMAT = 2

/** What a session is subscribed to: one row for each URI, as JSON, which can say every string. */
export const SUBSCRIPTIONS = 'CREATE TABLE subscriptions (session TEXT NOT NULL, uri TEXT NOT NULL, PRIMARY KEY (session, uri)) STRICT, WITHOUT ROWID;'

export function formatOf (db: Database): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** Brings a file of format 1, in which subscriptions were part of the record of a session, to today's. Of several processes that begin at once, one does it. */
export function upgrade (db: Database): void {
  if (formatOf(db) !== 1) return
  db.exec('BEGIN IMMEDIATE')
  try {
    if (formatOf(db) === 1) moveSubscriptions(db)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function moveSubscriptions (db: Database): void {
  db.exec(SUBSCRIPTIONS)
  const add = db.prepare('INSERT INTO subscriptions (session, uri) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const change = db.prepare('UPDATE sessions SET record = ? WHERE id = ?')
  for (const { id, record } of db.prepare('SELECT id, record FROM sessions').all() as unknown as Array<{ id: string, record: string }>) {
    const { subscriptions = [], ...rest } = contentsOf(record)
    for (const uri of subscriptions) add.run(id, JSON.stringify(uri))
    if (subscriptions.length > 0) change.run(JSON.stringify(rest), id)
  }
  db.exec(`PRAGMA user_version = ${FORMAT}`)
}

/** A record that is damaged is found when its session is asked for. */
function contentsOf (record: string): { subscriptions?: string[] } {
  try {
    return Object(JSON.parse(record)) as { subscriptions?: string[] }
  } catch {
    return {}
  }
}
