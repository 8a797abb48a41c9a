import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import type { ChangeListener } from '../../protocol/store.js'
import { ChangeFeed } from './change-feed.js'
import type { OpenFile } from './file.js'
import { describeFailure } from './failure.js'
import { GroupCommit } from './group-commit.js'
import { Listeners } from '../../lib/listeners.js'

/** How often it is checked that the file is still there. */
const CHECK_MS = 1_000
const GONE = 'the data file was removed or replaced: start the gateway again'

/**
 * How much free space a successful write proves. A failure is over after a write at least as large as the one that
 * failed.
 */
export const WRITE_SIZE = { update: 0, event: 1, value: 2 } as const
export type WriteSize = typeof WRITE_SIZE[keyof typeof WRITE_SIZE]

/** The space under which what is no change of a value is noted: no value can have it. */
const NEWS = ''

/** A notice to other processes that is no change of a value: its kind, and what it is about. */
export type News = [kind: 'session' | 'stream' | 'message', ...about: string[]]

/** The open file: reads at once, writes in groups, announces changes, and knows why the latest write failed. */
export class DiskConnection {
  readonly #db: Database
  readonly #isThere: () => boolean
  readonly #checkTimer: NodeJS.Timeout
  readonly #commits: GroupCommit
  readonly #feed: ChangeFeed
  readonly #changeListeners = new Listeners<Parameters<ChangeListener>>()
  readonly #newsListeners = new Listeners<News>()
  readonly #failureListeners = new Listeners<[]>()
  /**
   * The largest write of the transaction, -1 if there is none; the latest attempt; and the size that ends the present
   * failure.
   */
  #written = -1
  #attempted: WriteSize = WRITE_SIZE.update
  #needed: number = WRITE_SIZE.update
  #gone = false
  failure: string | undefined

  constructor ({ db, isThere }: OpenFile) {
    this.#db = db
    this.#isThere = isThere
    this.#checkTimer = setInterval(() => { if (!this.#gone && !this.#isThere()) this.#markGone() }, CHECK_MS).unref()
    this.#feed = new ChangeFeed(sql => this.prepare(sql), ({ space, key }, foreign) => {
      if (space !== NEWS) this.#changeListeners.notify(space, key)
      else if (foreign) this.#newsListeners.notify(...JSON.parse(key) as News)
    })
    this.#commits = new GroupCommit(db, {
      check: () => {
        if (!this.#gone && !this.#isThere()) this.#markGone()
        if (this.#gone) throw errors.storage(GONE)
      },
      onCommit: () => {
        if (this.#written >= this.#needed) this.#setFailure(undefined)
        this.#written = -1
        this.#feed.announce()
      },
      onRollback: () => {
        this.#written = -1
        this.#feed.discard()
      },
      toRefusal: error => {
        this.#needed = Math.max(this.#needed, this.#attempted)
        return this.#toError(error)
      }
    })
  }

  prepare (sql: string): Statement {
    return this.#db.prepare(sql)
  }

  read<T> (work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#toError(error)
    }
  }

  /** Runs work in a transaction in the next turn, and settles when that is committed. */
  write<T> (work: () => T, weight: WriteSize = WRITE_SIZE.update): Promise<T> {
    return this.#commits.write(() => {
      this.#attempted = weight
      const value = work()
      this.#written = Math.max(this.#written, weight)
      return value
    })
  }

  /** To be called inside a write: announces a change of a value after the commit. */
  noteChange (space: string, key: string): void {
    this.#feed.note(space, key)
  }

  /** To be called inside a write: tells the other processes, after the commit. */
  noteNews (...news: News): void {
    this.#feed.note(NEWS, JSON.stringify(news))
  }

  onChange (listener: ChangeListener): () => void {
    return this.#changeListeners.add(listener)
  }

  /** Adds a listener for notices of other processes; returns a function that removes it. */
  onNews (listener: (...news: News) => void): () => void {
    return this.#newsListeners.add(listener)
  }

  onFailureChange (listener: () => void): () => void {
    return this.#failureListeners.add(listener)
  }

  /** Commits what is queued and moves it from the write-ahead log into the file. */
  async close (): Promise<void> {
    await this.#commits.finish()
    if (!this.#db.isOpen) return
    this.#feed.stop()
    clearInterval(this.#checkTimer)
    // Fails while another process uses the file; then that one does it when it closes.
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {}
    this.#db.close()
  }

  #markGone (): void {
    this.#gone = true
    this.#setFailure(GONE)
  }

  #toError (error: unknown): Error {
    if (isMcpError(error)) return error
    const why = this.#db.isOpen ? describeFailure(error) : 'the store is closed'
    this.#setFailure(why)
    return errors.storage(why)
  }

  #setFailure (why: string | undefined): void {
    if (why === this.failure) return
    this.failure = why
    if (why === undefined) this.#needed = WRITE_SIZE.update
    this.#failureListeners.notify()
  }
}
