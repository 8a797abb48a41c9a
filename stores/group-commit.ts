import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { isMcpError } from '../protocol/errors.js'
import { isBusy } from './disk-trouble.js'

interface Write { run: () => unknown, resolve: (value: unknown) => void, reject: (error: Error) => void }
type Outcome = { value: unknown } | { error: Error }

/** How many writes one transaction has; the event loop gets its turn after each. */
const MAX_GROUP = 500

export interface GroupCommitEvents {
  /** Throws when nothing may be written. */
  check: () => void
  /** The transaction is over: with what it wrote, or without. */
  committed: () => void
  rolledBack: () => void
  /** The database refused; gives the error as it is told. */
  refused: (error: unknown) => Error
}

/**
 * Runs the writes of one turn of the event loop in one transaction, in their order. Each is acknowledged after the commit, and after
 * what listeners wrote because of it is committed too. A write that fails does not take the others with it.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #events: GroupCommitEvents
  readonly #queue: Write[] = []
  /** What is committed and waits until so many writes are. */
  readonly #unacknowledged: Array<{ until: number, settle: () => void }> = []
  #asked = 0
  #done = 0

  constructor (db: Database, events: GroupCommitEvents) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#events = events
  }

  write<T> (run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#queue.length === 0) setImmediate(() => this.#flush())
      this.#asked++
      this.#queue.push({ run, resolve: resolve as Write['resolve'], reject })
    })
  }

  /** Writes all there is, now. */
  finish (): void {
    while (this.#queue.length > 0) this.#flush()
  }

  #flush (): void {
    const writes = this.#queue.splice(0, MAX_GROUP)
    if (writes.length === 0) return
    const outcomes = this.#together(writes)
    this.#done += writes.length
    this.#unacknowledged.push({ until: this.#asked, settle: () => writes.forEach((write, index) => settle(write, outcomes[index] as Outcome)) })
    while ((this.#unacknowledged[0]?.until ?? Infinity) <= this.#done) this.#unacknowledged.shift()?.settle()
    if (this.#queue.length > 0) setImmediate(() => this.#flush())
  }

  // Whoever makes one wait makes all wait, so there is no point in waiting again for each of them.
  #together (writes: Write[]): Outcome[] {
    try {
      return this.#transaction(() => writes.map(({ run }) => attempt(run)))
    } catch (error) {
      if (!isBusy(error)) return writes.map(write => this.#alone(write))
      const outcome = { error: this.#events.refused(error) }
      return writes.map(() => outcome)
    }
  }

  #alone ({ run }: Write): Outcome {
    try {
      return this.#transaction(() => attempt(run))
    } catch (error) {
      return { error: this.#events.refused(error) }
    }
  }

  #transaction<T> (work: () => T): T {
    this.#events.check()
    const value = this.#attempt(work)
    this.#events.committed()
    return value
  }

  #attempt<T> (work: () => T): T {
    try {
      this.#begin.run()
      const value = work()
      this.#commit.run()
      return value
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      this.#events.rolledBack()
      throw error
    }
  }
}

function settle ({ resolve, reject }: Write, outcome: Outcome): void {
  if ('error' in outcome) reject(outcome.error)
  else resolve(outcome.value)
}

/** What we refuse ourselves is refused before anything is written, so the transaction goes on. */
function attempt (run: () => unknown): Outcome {
  try {
    return { value: run() }
  } catch (error) {
    if (isMcpError(error)) return { error }
    throw error
  }
}
