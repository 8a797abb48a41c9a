import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import type { DiskConnection } from './connection.js'
import { parseStored } from './failure.js'
import { allRows } from './row.js'

/** The URIs that sessions are subscribed to. Called inside the transactions of `DiskSessions`. */
export class DiskSubscriptions {
  readonly #sql: Record<'add' | 'delete' | 'all' | 'remove', Statement>

  constructor (disk: DiskConnection) {
    this.#sql = {
      add: disk.prepare('INSERT INTO subscriptions (session, uri) VALUES (?, ?) ON CONFLICT DO NOTHING'),
      delete: disk.prepare('DELETE FROM subscriptions WHERE session = ? AND uri = ?'),
      all: disk.prepare('SELECT uri FROM subscriptions WHERE session = ?'),
      remove: disk.prepare('DELETE FROM subscriptions WHERE session = ?')
    }
  }

  of (session: string): string[] {
    return allRows<{ uri: string }>(this.#sql.all, session).map(({ uri }) => parseStored(uri) as string)
  }

  /** Adds each URI that is true and deletes each that is false. */
  change (session: string, changes: Iterable<readonly [uri: string, wanted: boolean]>): void {
    for (const [uri, wanted] of changes) this.#sql[wanted ? 'add' : 'delete'].run(session, JSON.stringify(uri))
  }

  remove (session: string): void {
    this.#sql.remove.run(session)
  }
}
