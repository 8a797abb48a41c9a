import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import type { DiskConnection } from './connection.js'
import { parse } from './trouble.js'

/** What sessions are subscribed to, for use inside the transactions of others. */
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
    return (this.#sql.all.all(session) as unknown as Array<{ uri: string }>).map(({ uri }) => parse(uri) as string)
  }

  /** Adds what is true and deletes what is false. */
  change (session: string, changes: Iterable<readonly [uri: string, wanted: boolean]>): void {
    for (const [uri, wanted] of changes) this.#sql[wanted ? 'add' : 'delete'].run(session, JSON.stringify(uri))
  }

  remove (session: string): void {
    this.#sql.remove.run(session)
  }
}
