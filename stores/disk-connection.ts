import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { errors, isMcpError } from '../protocol/errors.js'
import type { ChangeListener } from '../protocol/store.js'
import { ChangeFeed } from './change-feed.js'
import { explain } from './disk-trouble.js'
import { GroupCommit } from './group-commit.js'
import { Listeners } from './listeners.js'

/** No value can be here, so what happens to sessions is noted here. */
const SESSIONS = ''

/** The open file: reads at once, writes in groups, tells of changes, and knows whether it is well. */
export class DiskConnection {
  readonly #db: Database
  readonly #commits: GroupCommit
  readonly #feed: ChangeFeed
  readonly #changes = new Listeners<Parameters<ChangeListener>>()
  readonly #takings = new Listeners<[id: string]>()
  readonly #troubles = new Listeners<[]>()
  trouble: string | undefined

  constructor (db: Database) {
    this.#db = db
    this.#feed = new ChangeFeed(sql => this.prepare(sql), ({ space, key }, foreign) => {
      if (space !== SESSIONS) this.#changes.tell(space, key)
      else if (foreign) this.#takings.tell(key)
    })
    this.#commits = new GroupCommit(db, {
      committed: () => {
        this.#setTrouble(undefined)
        this.#feed.committed()
      },
      rolledBack: () => this.#feed.rolledBack(),
      refused: error => this.#refusal(error)
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
  async write<T> (work: () => T): Promise<T> {
    return await this.#commits.write(work)
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
  close (): void {
    if (!this.#db.isOpen) return
    this.#commits.finish()
    this.#feed.stop()
    // Whoever else has the file open does it when they close it.
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {}
    this.#db.close()
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
    this.#troubles.tell()
  }
}
