import { randomUUID } from 'node:crypto'
import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { allRows, firstRow } from './row.js'

interface Change { space: string, key: string }
interface Row extends Change { number: number, writer: string }

const POLL_MS = 200
/**
 * Changes are stored for so long, and the latest so many in any case: the clock may have been set before other
 * processes have read them.
 */
const STORED_MS = 60_000
const STORED_COUNT = 1_000
const TRIM_EVERY = 1_000

/**
 * Announces changes: those of this process at their commit, those of others within `POLL_MS`. Every change is a row
 * that is written in the transaction that makes it. Polling is cheap: `PRAGMA data_version` changes when another
 * process has committed.
 */
export class ChangeFeed {
  readonly #sql: Record<'note' | 'trim' | 'version' | 'since', Statement>
  readonly #onChange: (change: Change, foreign: boolean) => void
  /** The id of this connection among all that use the file. */
  readonly #writer = randomUUID()
  readonly #timer: NodeJS.Timeout
  #pending: Change[] = []
  #noted = 0
  #version: number
  #last: number

  constructor (prepare: (sql: string) => Statement, onChange: (change: Change, foreign: boolean) => void) {
    this.#sql = {
      note: prepare('INSERT INTO changes (at, writer, space, key) VALUES (?, ?, ?, ?)'),
      trim: prepare(
        `DELETE FROM changes WHERE (at < ? OR at > ?) AND number <= (SELECT max(number) FROM changes) - ${STORED_COUNT}`
      ),
      version: prepare('PRAGMA data_version'),
      since: prepare('SELECT number, writer, space, key FROM changes WHERE number > ? ORDER BY number')
    }
    this.#onChange = onChange
    this.#version = this.#dataVersion()
    this.#last = firstRow<{ last: number }>(prepare('SELECT coalesce(max(number), 0) AS last FROM changes'))?.last ?? 0
    this.#trimAtStart()
    this.#timer = setInterval(() => this.poll(), POLL_MS).unref()
  }

  /** To be called inside a transaction: stores a change, and announces it after the commit. */
  note (space: string, key: string): void {
    this.#sql.note.run(Date.now(), this.#writer, space, key)
    this.#pending.push({ space, key })
    if (++this.#noted % TRIM_EVERY === 0) this.#trim()
  }

  /** To be called after a commit. */
  announce (): void {
    const changes = this.#pending
    this.#pending = []
    for (const change of changes) this.#onChange(change, false)
  }

  /** To be called after a rollback. */
  discard (): void {
    this.#pending = []
  }

  /** Announces what other processes have committed since the last time. */
  poll (): void {
    try {
      const version = this.#dataVersion()
      if (version === this.#version) return
      this.#version = version
      const rows = allRows<Row>(this.#sql.since, this.#last)
      this.#last = rows.at(-1)?.number ?? this.#last
      for (const { writer, space, key } of rows) if (writer !== this.#writer) this.#onChange({ space, key }, true)
    } catch {
      // The next read or write reports the error to its caller.
    }
  }

  stop (): void {
    clearInterval(this.#timer)
  }

  #trim (): void {
    this.#sql.trim.run(Date.now() - STORED_MS, Date.now() + STORED_MS)
  }

  // If another process has the file locked, the rows are deleted later.
  #trimAtStart (): void {
    try {
      this.#trim()
    } catch {}
  }

  #dataVersion (): number {
    return firstRow<{ data_version: number }>(this.#sql.version)?.data_version ?? 0
  }
}
