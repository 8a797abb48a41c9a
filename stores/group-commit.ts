import type { DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import { isMcpError } from '../protocol/errors.js'
import { isBusy } from './disk-trouble.js'

interface Write { run: () => unknown, settle: (outcome: Outcome) => void }
type Outcome = { value: unknown } | { error: unknown }

/** How often listeners may answer a commit with writes of their own before the first ones are acknowledged. */
const ROUNDS = 3

export interface GroupCommitEvents {
  /** The transaction is over: with what it wrote, or without. */
  committed: () => void
  rolledBack: () => void
  /** The database refused; gives the error as it is told. */
  refused: (error: unknown) => unknown
}

/**
 * Runs the writes of one turn of the event loop in one transaction, in their order. Each is acknowledged after the commit, and after
 * what listeners wrote because of it is committed too. A write that fails does not take the others with it.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #events: GroupCommitEvents
  #queue: Write[] = []

  constructor (db: Database, events: GroupCommitEvents) {
    this.#db = db
    this.#events = events
  }

  write<T> (run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#queue.length === 0) setImmediate(() => this.flush())
      this.#queue.push({ run, settle: outcome => 'error' in outcome ? reject(outcome.error as Error) : resolve(outcome.value as T) })
    })
  }

  flush (): void {
    const settled: Array<() => void> = []
    for (let round = 0; round < ROUNDS && this.#queue.length > 0; round++) {
      const writes = this.#queue
      this.#queue = []
      const outcomes = this.#together(writes)
      writes.forEach((write, index) => settled.push(() => write.settle(outcomes[index] as Outcome)))
    }
    if (this.#queue.length > 0) setImmediate(() => this.flush())
    for (const settle of settled) settle()
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
    const value = this.#attempt(work)
    this.#events.committed()
    return value
  }

  #attempt<T> (work: () => T): T {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      const value = work()
      this.#db.exec('COMMIT')
      return value
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      this.#events.rolledBack()
      throw error
    }
  }
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
