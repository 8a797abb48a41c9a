import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import type { ChangeListener } from '../../protocol/store.js'
import { ChangeFeed } from './change-feed.js'
import type { OpenFile } from './file.js'
import { explain } from './trouble.js'
import { GroupCommit } from './group-commit.js'
import { Listeners } from '../../lib/listeners.js'

const LOOK_MS = 1_000
const GONE = 'the data file was removed or replaced: start the gateway again'

/** How much a write says about whether there is room: a change in place says nothing, an event something, a new value most. */
export const WEIGHT = { none: 0, event: 1, value: 2 } as const
export type Weight = typeof WEIGHT[keyof typeof WEIGHT]

/** No value can be here, so what happens to sessions is noted here. */
const SESSIONS = ''

/** The open file: reads at once, writes in groups, tells of changes, and knows whether it is well. */
export class DiskConnection {
  readonly #db: Database
  readonly #isThere: () => boolean
  readonly #watch: NodeJS.Timeout
  readonly #commits: GroupCommit
  readonly #feed: ChangeFeed
  readonly #changes = new Listeners<Parameters<ChangeListener>>()
  readonly #takings = new Listeners<[id: string]>()
  readonly #troubles = new Listeners<[]>()
  /** What the transaction has written, what was tried last, and what must succeed to show that all is well again. */
  #written = -1
  #attempted: Weight = WEIGHT.none
  #needed: number = WEIGHT.none
  #gone = false
  trouble: string | undefined

  constructor ({ db, isThere }: OpenFile) {
    this.#db = db
    this.#isThere = isThere
    this.#watch = setInterval(() => { if (!this.#gone && !this.#isThere()) this.#vanish() }, LOOK_MS).unref()
    this.#feed = new ChangeFeed(sql => this.prepare(sql), ({ space, key }, foreign) => {
      if (space !== SESSIONS) this.#changes.notify(space, key)
      else if (foreign) this.#takings.notify(key)
    })
    this.#commits = new GroupCommit(db, {
      check: () => {
        if (!this.#gone && !this.#isThere()) this.#vanish()
        if (this.#gone) throw errors.storage(GONE)
      },
      committed: () => {
        if (this.#written >= this.#needed) this.#setTrouble(undefined)
        this.#written = -1
        this.#feed.committed()
      },
      rolledBack: () => {
        this.#written = -1
        this.#feed.rolledBack()
      },
      refused: error => {
        this.#needed = Math.max(this.#needed, this.#attempted)
        return this.#refusal(error)
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
      throw this.#refusal(error)
    }
  }

  /** Runs in a transaction, soon, and settles when that is committed. */
  write<T> (work: () => T, weight: Weight = WEIGHT.none): Promise<T> {
    return this.#commits.write(() => {
      this.#attempted = weight
      const value = work()
      this.#written = Math.max(this.#written, weight)
      return value
    })
  }

  /** Inside a write. */
  changed (space: string, key: string): void {
    this.#feed.note(space, key)
  }

  /** Inside a write: whoever else serves the session serves it no more. */
  taken (id: string): void {
    this.#feed.note(SESSIONS, id)
  }

  /** Inside a write that finds that another process serves the session. */
  lost (id: string): void {
    this.#feed.found(SESSIONS, id)
  }

  /** Who we are, among all that use the file. */
  get writer (): string {
    return this.#feed.writer
  }

  onChange (listener: ChangeListener): () => void {
    return this.#changes.add(listener)
  }

  onTaken (listener: (id: string) => void): () => void {
    return this.#takings.add(listener)
  }

  onTrouble (listener: () => void): () => void {
    return this.#troubles.add(listener)
  }

  /** What was begun is written, and all of it is in the one file. */
  async close (): Promise<void> {
    await this.#commits.finish()
    if (!this.#db.isOpen) return
    this.#feed.stop()
    clearInterval(this.#watch)
    // Whoever else has the file open does it when they close it.
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {}
    this.#db.close()
  }

  #vanish (): void {
    this.#gone = true
    this.#setTrouble(GONE)
  }

  #refusal (error: unknown): Error {
    if (isMcpError(error)) return error
    const why = this.#db.isOpen ? explain(error) : 'the store is closed'
    this.#setTrouble(why)
    return errors.storage(why)
  }

  #setTrouble (why: string | undefined): void {
    if (why === this.trouble) return
    this.trouble = why
    if (why === undefined) this.#needed = WEIGHT.none
    this.#troubles.notify()
  }
}
