import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import {
  STANDALONE, type AppendOptions, type Appended, type LoggedEvent, type Replay, type SessionChange, type SessionRecord,
  type SessionStore, type StoredSession, type StreamNews
} from '../../protocol/store.js'
import { WRITE_SIZE, type DiskConnection } from './connection.js'
import type { DiskNodes } from './nodes.js'
import { DiskStreams } from './streams.js'
import { DiskSubscriptions } from './subscriptions.js'
import { parseStored } from './failure.js'
import { allRows, firstRow } from './row.js'

interface Row { id: string, home: string, record: string }

/** How late the home of a session may be to extend it. */
const MAX_DELAY = 10 * 60_000
/** No session expires later, because `sessionIdle` is shorter; one that does was written while the clock was wrong. */
const MAX_LIFETIME = 30 * 86_400_000
/** How many sessions one transaction extends. */
const TOUCH_BATCH = 500

export class DiskSessions implements SessionStore {
  readonly #disk: DiskConnection
  readonly #nodes: DiskNodes
  readonly #streams: DiskStreams
  readonly #subscriptions: DiskSubscriptions
  readonly #sql: Record<
    'save' | 'count' | 'home' | 'load' | 'touch' | 'update' | 'move' | 'orphans' | 'remove' | 'unused' | 'expired',
    Statement
  >

  constructor (disk: DiskConnection, nodes: DiskNodes) {
    this.#disk = disk
    this.#nodes = nodes
    this.#streams = new DiskStreams(disk, nodes)
    this.#subscriptions = new DiskSubscriptions(disk)
    this.#sql = {
      save: disk.prepare(`INSERT INTO sessions (id, home, record, expires, principal) VALUES (?, ?, ?, ?, ?) ON CONFLICT
        DO UPDATE SET record = excluded.record, expires = excluded.expires, principal = excluded.principal`),
      count: disk.prepare('SELECT count(*) AS count FROM sessions WHERE principal = ? AND expires > ? AND id <> ?'),
      home: disk.prepare('SELECT home FROM sessions WHERE id = ?'),
      load: disk.prepare('SELECT id, home, record FROM sessions WHERE id = ? AND expires > ?'),
      touch: disk.prepare('UPDATE sessions SET expires = ? WHERE id = ?'),
      update: disk.prepare('UPDATE sessions SET record = ?, expires = ? WHERE id = ?'),
      move: disk.prepare('UPDATE sessions SET home = ? WHERE id = ? AND home = ?'),
      orphans: disk.prepare(`UPDATE sessions SET home = ?
        WHERE home NOT IN (SELECT id FROM nodes) AND expires > ? RETURNING id`),
      remove: disk.prepare('DELETE FROM sessions WHERE id = ?'),
      unused: disk.prepare('SELECT id FROM sessions WHERE id = ? AND expires <= ?'),
      expired: disk.prepare('SELECT id FROM sessions WHERE expires <= iif(home = ?, ?, ?) OR expires > ? LIMIT 1000')
    }
  }

  async save (id: string, record: SessionRecord, expires: number, max = Infinity): Promise<boolean> {
    const { subscriptions, ...agreement } = record
    const principal = record.principal === undefined ? null : JSON.stringify(record.principal)
    const text = JSON.stringify(agreement)
    const added = subscriptions.map(uri => [uri, true] as const)
    return await this.#disk.write(() => {
      if (principal !== null && this.#countOf(principal, id) >= max) return false
      this.#nodes.enter()
      this.#sql.save.run(id, this.#nodes.self, text, expires, principal)
      this.#subscriptions.change(id, added)
      return true
    })
  }

  async load (id: string): Promise<StoredSession | undefined> {
    return this.#disk.read(() => {
      const row = firstRow<Row>(this.#sql.load, id, Date.now())
      if (row === undefined) return undefined
      const agreement = parseStored(row.record) as SessionRecord
      return { record: { ...agreement, subscriptions: this.#subscriptions.of(id) }, home: row.home }
    })
  }

  async update (id: string, { agreement, subscriptions }: SessionChange, expires: number): Promise<boolean> {
    return await this.#disk.write(() => {
      const row = firstRow<Row>(this.#sql.load, id, 0)
      if (row === undefined) return false
      if (agreement === undefined) this.#sql.touch.run(expires, id)
      else this.#sql.update.run(JSON.stringify({ ...parseStored(row.record) as object, ...agreement }), expires, id)
      this.#subscriptions.change(id, subscriptions)
      this.#disk.noteNews('session', id)
      return true
    })
  }

  async moveHome (id: string, previous: string | undefined): Promise<boolean> {
    return await this.#disk.write(() => {
      this.#nodes.enter()
      return this.#sql.move.run(this.#nodes.self, id, previous ?? '').changes > 0
    })
  }

  async takeOver (address: string): Promise<string[]> {
    return await this.#disk.write(() => {
      this.#nodes.removeDead(address)
      this.#nodes.enter(address)
      return allRows<Row>(this.#sql.orphans, this.#nodes.self, Date.now()).map(({ id }) => id)
    })
  }

  async touch (ids: string[], expires: number): Promise<void> {
    // In several transactions, so that the event loop continues in between.
    for (let next = 0; next < ids.length; next += TOUCH_BATCH) {
      const batch = ids.slice(next, next + TOUCH_BATCH)
      await this.#disk.write(() => { for (const id of batch) this.#sql.touch.run(expires, id) })
    }
  }

  async remove (id: string): Promise<void> {
    await this.#disk.write(() => this.#remove(id))
  }

  async removeUnused (id: string, expires: number): Promise<void> {
    await this.#disk.write(() => { if (firstRow(this.#sql.unused, id, expires) !== undefined) this.#remove(id) })
  }

  async sweep (): Promise<void> {
    await this.#disk.write(() => {
      const now = Date.now()
      const expired = allRows<Row>(this.#sql.expired, this.#nodes.self, now, now - MAX_DELAY, now + MAX_LIFETIME)
      for (const { id } of expired) this.#remove(id)
    })
  }

  onChange (listener: (id?: string) => void): () => void {
    return this.#disk.onNews((kind, id) => { if (kind === 'session') listener(id) })
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#disk.write(() => this.#open(id, stream, interruptedResponse))
  }

  async append (
    id: string, stream: string, event: LoggedEvent, seen: boolean,
    { begins, ends = false, announces = false }: AppendOptions = {}
  ): Promise<Appended> {
    return await this.#disk.write(() => {
      const home = this.#homeOf(id)
      if (home === undefined) return undefined
      // The home sees in the file, after it became that, whatever is announced here: it announces the same.
      if (announces && home !== this.#nodes.self) return 'elsewhere'
      if (begins !== undefined) this.#open(id, stream, begins)
      const appended = this.#streams.append(id, stream, event, seen && this.#readerOf(id, stream) === this.#nodes.self)
      if (typeof appended === 'string') return appended
      const isElsewhere = this.#notifyReader(id, stream, 'more')
      if (ends) this.#streams.end(id, stream)
      return isElsewhere ? 'elsewhere' : appended
    }, WRITE_SIZE.event)
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#disk.write(() => {
      if (this.#readerOf(id, stream) === this.#nodes.self) this.#streams.saw(id, stream, number)
    })
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#disk.write(() => {
      this.#notifyReader(id, stream, 'more')
      this.#streams.end(id, stream)
    })
  }

  async finish (id: string): Promise<string[]> {
    const { dead, living } = this.#disk.read(() => this.#streams.unfinished(id))
    if (dead.length > 0) {
      await this.#disk.write(() => {
        for (const { stream } of dead) this.#notifyReader(id, stream, 'more')
        this.#streams.finish(id)
      })
    }
    return living
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return this.#disk.read(() => this.#streams.read(id, stream, after))
  }

  async attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    const isReader = await this.isReader(id, stream)
    const previous = isReader ? undefined : await this.#disk.write(() => this.#becomeReader(id, stream))
    const replay = await this.read(id, stream, after)
    return replay === undefined || previous === undefined ? replay : { ...replay, previous }
  }

  async isReader (id: string, stream: string): Promise<boolean> {
    return this.#disk.read(() => this.#readerOf(id, stream) === this.#nodes.self)
  }

  onNews (listener: (id: string, stream: string, news: StreamNews) => void): () => void {
    return this.#disk.onNews((kind, node, id = '', stream = '', news = '') => {
      if (kind === 'stream' && node === this.#nodes.self) listener(id, stream, news === 'moved' ? 'moved' : 'more')
    })
  }

  #open (id: string, stream: string, interruptedResponse: string): void {
    this.#nodes.enter()
    this.#streams.open(id, stream, interruptedResponse)
  }

  /** How many sessions a principal has beside this one. */
  #countOf (principal: string, beside: string): number {
    return firstRow<{ count: number }>(this.#sql.count, principal, Date.now(), beside)?.count ?? 0
  }

  #homeOf (id: string): string | undefined {
    return firstRow<{ home: string }>(this.#sql.home, id)?.home
  }

  #readerOf (id: string, stream: string): string | undefined {
    return stream === STANDALONE ? this.#homeOf(id) : this.#streams.readerOf(id, stream)
  }

  /** The node that was the reader before; undefined if none was. */
  #becomeReader (id: string, stream: string): string | undefined {
    this.#nodes.enter()
    const { self } = this.#nodes
    const previous = this.#readerOf(id, stream)
    this.#notifyReader(id, stream, 'moved')
    if (stream === STANDALONE) this.#sql.move.run(self, id, this.#homeOf(id) ?? '')
    else this.#streams.setReader(id, stream, self)
    return previous === '' ? undefined : previous
  }

  /** False if the reader is this node, or there is none. */
  #notifyReader (id: string, stream: string, news: 'more' | 'moved'): boolean {
    const reader = this.#readerOf(id, stream)
    if (reader === undefined || reader === this.#nodes.self) return false
    this.#disk.noteNews('stream', reader, id, stream, news)
    return true
  }

  #remove (id: string): void {
    this.#sql.remove.run(id)
    this.#streams.remove(id)
    this.#subscriptions.remove(id)
    this.#disk.noteNews('session', id)
  }
}
