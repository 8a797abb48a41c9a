import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { now } from '../../lib/time.js'
import { isMcpError } from '../../protocol/wire/errors.js'
import { isBusy } from './failure.js'

/** `since` is when it first found the file locked by another process. */
interface Write {
  since?: number
  run: () => unknown
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}
type Outcome = { value: unknown } | { error: Error }

/** The most writes of one transaction; the event loop continues after each. */
const MAX_GROUP = 500
/**
 * How long a write waits while another process has the file locked, and how often it is tried meanwhile, in
 * milliseconds.
 */
const LOCK = { timeout: 2_000, retry: 50 }

export interface GroupCommitEvents {
  /** Throws if writing is not possible. */
  check: () => void
  onCommit: () => void
  onRollback: () => void
  /** The error for the caller of a write that failed in the database. */
  toRefusal: (error: unknown) => Error
}

/**
 * Runs the writes of one turn of the event loop in one transaction, in order. Each is acknowledged after the commit,
 * and after the commit of what listeners wrote because of it. A write that fails does not affect the others. While
 * another process has the file locked, writes wait in order and the event loop continues.
 */
export class GroupCommit {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #events: GroupCommitEvents
  readonly #queue: Write[] = []
  /** Committed writes, to be acknowledged once `until` writes are committed. */
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

  /** Commits all writes in the queue: now, or as soon as no other process has the file locked. */
  async finish (): Promise<void> {
    this.#flushAll()
    while (this.#queue.length > 0) {
      await new Promise(resolve => setTimeout(resolve, LOCK.retry))
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
    this.#unacknowledged.push({
      until: this.#asked,
      settle: () => writes.forEach((write, index) => settle(write, outcomes[index] as Outcome))
    })
    if (waiting.length > 0) this.#wait(waiting)
    else if (this.#queue.length > 0) setImmediate(() => this.#flush())
    while ((this.#unacknowledged[0]?.until ?? Infinity) <= this.#done) this.#unacknowledged.shift()?.settle()
  }

  /** Rejects the writes that have waited for too long, and tries the others again later. */
  #wait (writes: Write[]): void {
    const at = now()
    this.#queue.unshift(...writes)
    for (const write of this.#queue) write.since ??= at
    const first = this.#queue.findIndex(({ since = at }) => at - since < LOCK.timeout)
    const late = this.#queue.splice(0, first === -1 ? Infinity : first)
    this.#done += late.length
    if (late.length > 0) {
      const error = this.#events.toRefusal(this.#lock)
      for (const { reject } of late) reject(error)
    }
    if (this.#queue.length > 0) this.#retry = setTimeout(() => this.#flush(), LOCK.retry)
  }

  /** The outcomes of the first writes; those without one found the file locked. */
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
        outcomes.push({ error: this.#events.toRefusal(error) })
      }
    }
    return outcomes
  }

  #transaction<T> (work: () => T): T {
    this.#events.check()
    const value = this.#attempt(work)
    this.#events.onCommit()
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
      this.#events.onRollback()
      throw error
    }
  }
}

function settle ({ resolve, reject }: Write, outcome: Outcome): void {
  if ('error' in outcome) reject(outcome.error)
  else resolve(outcome.value)
}

/** Our own refusals come before anything is written, so the transaction continues. */
function attempt (run: () => unknown): Outcome {
  try {
    return { value: run() }
  } catch (error) {
    if (isMcpError(error)) return { error }
    throw error
  }
}
