import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import type { LoggedEvent, Replay, SessionChange, SessionRecord, SessionStore } from '../../protocol/store.js'
import { WRITE_SIZE, type DiskConnection } from './connection.js'
import { DiskStreams } from './streams.js'
import { DiskSubscriptions } from './subscriptions.js'
import { parseStored } from './failure.js'
import { allRows, firstRow } from './row.js'

interface Row { id: string, record: string }

/** How late the owner of a session may be to extend it. */
const MAX_DELAY = 10 * 60_000
/** No session expires later, because `sessionIdle` is shorter; one that does was written while the clock was wrong. */
const MAX_LIFETIME = 30 * 86_400_000
/** How many sessions one transaction extends. */
const TOUCH_BATCH = 500

export class DiskSessions implements SessionStore {
  readonly #disk: DiskConnection
  readonly #streams: DiskStreams
  readonly #subscriptions: DiskSubscriptions
  readonly #sql: Record<'add' | 'save' | 'owner' | 'load' | 'listByNode' | 'touch' | 'update' | 'adopt' | 'remove' | 'expired', Statement>

  constructor (disk: DiskConnection) {
    this.#disk = disk
    this.#streams = new DiskStreams(disk)
    this.#subscriptions = new DiskSubscriptions(disk)
    this.#sql = {
      add: disk.prepare('INSERT INTO sessions (id, node_address, owner, record, expires) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'),
      save: disk.prepare('UPDATE sessions SET node_address = ?, owner = ?, record = ?, expires = ? WHERE id = ?'),
      owner: disk.prepare('SELECT owner FROM sessions WHERE id = ?'),
      load: disk.prepare('SELECT id, record FROM sessions WHERE id = ? AND expires > ?'),
      listByNode: disk.prepare('SELECT id, record FROM sessions WHERE node_address = ? AND expires > ?'),
      touch: disk.prepare('UPDATE sessions SET expires = ? WHERE id = ?'),
      remove: disk.prepare('DELETE FROM sessions WHERE id = ?'),
      update: disk.prepare('UPDATE sessions SET record = ?, expires = ? WHERE id = ?'),
      adopt: disk.prepare('UPDATE sessions SET node_address = ?, owner = ?, expires = ? WHERE id = ? AND expires > ? RETURNING id, record'),
      expired: disk.prepare('SELECT id FROM sessions WHERE expires <= iif(owner = ?, ?, ?) OR expires > ? LIMIT 1000')
    }
  }

  async save (id: string, record: SessionRecord, nodeAddress: string, expires: number): Promise<void> {
    const { subscriptions, ...agreement } = record
    const text = JSON.stringify(agreement)
    const added = subscriptions.map(uri => [uri, true] as const)
    await this.#disk.write(() => {
      // Inserted first, because it is hardly ever there.
      if (this.#sql.add.run(id, nodeAddress, this.#disk.writer, text, expires).changes === 0) this.#replace(id, text, nodeAddress, expires)
      this.#subscriptions.change(id, added)
    })
  }

  async load (id: string): Promise<SessionRecord | undefined> {
    return this.#disk.read(() => this.#recordOf(firstRow(this.#sql.load, id, Date.now())))
  }

  async update (id: string, { agreement, subscriptions }: SessionChange, expires: number): Promise<boolean> {
    const text = agreement === undefined ? undefined : JSON.stringify(agreement)
    return await this.#disk.write(() => {
      if (!this.#owns(id)) return false
      if (text === undefined) this.#sql.touch.run(expires, id)
      else this.#sql.update.run(text, expires, id)
      this.#subscriptions.change(id, subscriptions)
      return true
    })
  }

  async adopt (id: string, nodeAddress: string, expires: number): Promise<SessionRecord | undefined> {
    return await this.#disk.write(() => {
      const owner = this.#ownerOf(id)
      const row = firstRow<Row>(this.#sql.adopt, nodeAddress, this.#disk.writer, expires, id, Date.now())
      if (row !== undefined && owner !== this.#disk.writer) this.#disk.noteTakeover(id)
      return this.#recordOf(row)
    })
  }

  async listByNode (nodeAddress: string): Promise<string[]> {
    return this.#disk.read(() => allRows<Row>(this.#sql.listByNode, nodeAddress, Date.now()).map(({ id }) => id))
  }

  async touch (ids: string[], expires: number): Promise<void> {
    // In several transactions, so that the event loop continues in between.
    for (let next = 0; next < ids.length; next += TOUCH_BATCH) {
      await this.#disk.write(() => { for (const id of ids.slice(next, next + TOUCH_BATCH)) this.#sql.touch.run(expires, id) })
    }
  }

  async remove (id: string): Promise<void> {
    await this.#disk.write(() => this.#remove(id))
  }

  async sweep (): Promise<void> {
    await this.#disk.write(() => {
      const now = Date.now()
      for (const { id } of allRows<Row>(this.#sql.expired, this.#disk.writer, now, now - MAX_DELAY, now + MAX_LIFETIME)) this.#remove(id)
    })
  }

  onTaken (listener: (id: string) => void): () => void {
    // We may have become the owner again before this is announced.
    return this.#disk.onTaken(id => { if (!this.#ownsQuietly(id)) listener(id) })
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#disk.write(() => { if (this.#owns(id)) this.#streams.open(id, stream, interruptedResponse) })
  }

  async append (id: string, stream: string, event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined> {
    return await this.#disk.write(() => {
      if (this.#owns(id)) return this.#streams.append(id, stream, event, seen)
      return this.#ownerOf(id) === undefined ? undefined : 'taken'
    }, WRITE_SIZE.event)
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#disk.write(() => { if (this.#owns(id)) this.#streams.saw(id, stream, number) })
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#disk.write(() => { if (this.#owns(id)) this.#streams.end(id, stream) })
  }

  async finish (id: string): Promise<void> {
    await this.#disk.write(() => { if (this.#owns(id)) this.#streams.finish(id) })
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return this.#disk.read(() => this.#streams.read(id, stream, after))
  }

  #recordOf (row: Row | undefined): SessionRecord | undefined {
    return row === undefined ? undefined : { ...parseStored(row.record) as SessionRecord, subscriptions: this.#subscriptions.of(row.id) }
  }

  #replace (id: string, text: string, nodeAddress: string, expires: number): void {
    const owner = this.#ownerOf(id)
    this.#sql.save.run(nodeAddress, this.#disk.writer, text, expires, id)
    this.#subscriptions.remove(id)
    if (owner !== this.#disk.writer) this.#disk.noteTakeover(id)
  }

  #ownerOf (id: string): string | undefined {
    return firstRow<{ owner: string }>(this.#sql.owner, id)?.owner
  }

  // We may not add to the streams of a session that another process owns now.
  #owns (id: string): boolean {
    const owner = this.#ownerOf(id)
    if (owner !== undefined && owner !== this.#disk.writer) this.#disk.noteLost(id)
    return owner === this.#disk.writer
  }

  #ownsQuietly (id: string): boolean {
    try {
      return this.#ownerOf(id) === this.#disk.writer
    } catch {
      return false
    }
  }

  #remove (id: string): void {
    this.#sql.remove.run(id)
    this.#streams.remove(id)
    this.#subscriptions.remove(id)
    this.#disk.noteTakeover(id)
  }
}
