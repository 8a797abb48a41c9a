import { randomUUID } from 'node:crypto'
import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'

interface Change { space: string, key: string }
interface Row extends Change { number: number, writer: string }

const POLL_MS = 200
const KEPT_MS = 60_000
const TRIM_EVERY = 1_000
/** So many of the latest are kept whatever the time of day is: others may not have read them yet, and it may have been set meanwhile. */
const LATEST = 1_000

/**
 * Tells what has changed: what this process wrote as soon as it is committed, what others wrote shortly after. Every change is noted
 * in the transaction that makes it, and SQLite itself says cheaply whether another process has committed anything.
 */
export class ChangeFeed {
  readonly #sql: Record<'note' | 'trim' | 'version' | 'since', Statement>
  readonly #tell: (change: Change, foreign: boolean) => void
  /** Who this connection is, among all that use the file. */
  readonly writer = randomUUID()
  readonly #timer: NodeJS.Timeout
  #pending: Array<Change & { foreign: boolean }> = []
  #noted = 0
  #version: number
  #last: number

  constructor (prepare: (sql: string) => Statement, tell: (change: Change, foreign: boolean) => void) {
    this.#sql = {
      note: prepare('INSERT INTO changes (at, writer, space, key) VALUES (?, ?, ?, ?)'),
      trim: prepare(`DELETE FROM changes WHERE (at < ? OR at > ?) AND number <= (SELECT max(number) FROM changes) - ${LATEST}`),
      version: prepare('PRAGMA data_version'),
      since: prepare('SELECT number, writer, space, key FROM changes WHERE number > ? ORDER BY number')
    }
    this.#tell = tell
    this.#version = this.#dataVersion()
    this.#last = (prepare('SELECT coalesce(max(number), 0) AS last FROM changes').get() as { last: number }).last
    this.#trimAtStart()
    this.#timer = setInterval(() => this.poll(), POLL_MS).unref()
  }

  /** Inside a transaction. */
  note (space: string, key: string): void {
    this.#sql.note.run(Date.now(), this.writer, space, key)
    this.#pending.push({ space, key, foreign: false })
    if (++this.#noted % TRIM_EVERY === 0) this.#trim()
  }

  /** Inside a transaction that has come upon what another has written. */
  found (space: string, key: string): void {
    this.#pending.push({ space, key, foreign: true })
  }

  committed (): void {
    const changes = this.#pending
    this.#pending = []
    for (const { foreign, ...change } of changes) this.#tell(change, foreign)
  }

  rolledBack (): void {
    this.#pending = []
  }

  /** Tells what others have written since. */
  poll (): void {
    try {
      const version = this.#dataVersion()
      if (version === this.#version) return
      this.#version = version
      const rows = this.#sql.since.all(this.#last) as unknown as Row[]
      this.#last = rows.at(-1)?.number ?? this.#last
      for (const { writer, space, key } of rows) if (writer !== this.writer) this.#tell({ space, key }, true)
    } catch {
      // Whoever reads or writes next is told what is wrong.
    }
  }

  stop (): void {
    clearInterval(this.#timer)
  }

  #trim (): void {
    this.#sql.trim.run(Date.now() - KEPT_MS, Date.now() + KEPT_MS)
  }

  // While another process has the file to itself, the trimming waits until enough is noted.
  #trimAtStart (): void {
    try {
      this.#trim()
    } catch {}
  }

  #dataVersion (): number {
    return (this.#sql.version.get() as { data_version: number }).data_version
  }
}
