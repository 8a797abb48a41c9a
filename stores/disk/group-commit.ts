import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { now } from '../../lib/time/clock.js'
import { isMcpError } from '../../protocol/wire/errors.js'
import { isBusy } from './trouble.js'

/** `since` is when it first met a lock of another process. */
interface Write { since?: number, run: () => unknown, resolve: (value: unknown) => void, reject: (error: Error) => void }
type Outcome = { value: unknown } | { error: Error }

/** How many writes one transaction has; the event loop gets its turn after each. */
const MAX_GROUP = 500
/** In milliseconds: how long a write waits for another process that has the file locked, and how often it is tried meanwhile. */
const LOCKED = { patience: 2_000, retry: 50 }

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
 * what listeners wrote because of it is committed too. A write that fails does not take the others with it. While another process has the
 * file locked, writes wait in their order and the event loop goes on.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #events: GroupCommitEvents
  readonly #queue: Write[] = []
  /** What is committed and waits until so many writes are. */
  readonly #unacknowledged: Array<{ until: number, settle: () => void }> = []
  #lock: unknown
  #retry: NodeJS.Timeout | undefined
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

  /** Writes all there is: now, or as soon as no other process has the file locked. */
  async finish (): Promise<void> {
    this.#flushAll()
    while (this.#queue.length > 0) {
      await new Promise(resolve => setTimeout(resolve, LOCKED.retry))
      this.#flushAll()
    }
  }

  #flushAll (): void {
    do this.#flush()
    while (this.#queue.length > 0 && this.#retry === undefined)
  }

  #flush (): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    const writes = this.#queue.splice(0, MAX_GROUP)
    if (writes.length === 0) return
    const outcomes = this.#together(writes)
    const waiting = writes.splice(outcomes.length)
    this.#done += writes.length
    this.#unacknowledged.push({ until: this.#asked, settle: () => writes.forEach((write, index) => settle(write, outcomes[index] as Outcome)) })
    if (waiting.length > 0) this.#wait(waiting)
    else if (this.#queue.length > 0) setImmediate(() => this.#flush())
    while ((this.#unacknowledged[0]?.until ?? Infinity) <= this.#done) this.#unacknowledged.shift()?.settle()
  }

  /** Those that have waited for too long are refused, and the others tried again. */
  #wait (writes: Write[]): void {
    const at = now()
    this.#queue.unshift(...writes)
    for (const write of this.#queue) write.since ??= at
    const first = this.#queue.findIndex(({ since = at }) => at - since < LOCKED.patience)
    const late = this.#queue.splice(0, first === -1 ? Infinity : first)
    this.#done += late.length
    if (late.length > 0) {
      const error = this.#events.refused(this.#lock)
      for (const { reject } of late) reject(error)
    }
    if (this.#queue.length > 0) this.#retry = setTimeout(() => this.#flush(), LOCKED.retry)
  }

  /** What became of the first of the writes; the others met a lock. */
  #together (writes: Write[]): Outcome[] {
    try {
      return this.#transaction(() => writes.map(({ run }) => attempt(run)))
    } catch (error) {
      if (!isBusy(error)) return this.#oneByOne(writes)
      this.#lock = error
      return []
    }
  }

  #oneByOne (writes: Write[]): Outcome[] {
    const outcomes: Outcome[] = []
    for (const { run } of writes) {
      try {
        outcomes.push(this.#transaction(() => attempt(run)))
      } catch (error) {
        this.#lock = error
        if (isBusy(error)) break
        outcomes.push({ error: this.#events.refused(error) })
      }
    }
    return outcomes
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
