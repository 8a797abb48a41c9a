import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import type { LoggedEvent, Replay, SessionChange, SessionRecord, SessionStore } from '../../protocol/store.js'
import { WEIGHT, type DiskConnection } from './connection.js'
import { DiskStreams } from './streams.js'
import { DiskSubscriptions } from './subscriptions.js'
import { parse } from './trouble.js'

interface Row { id: string, record: string }

/** How long whoever serves a session may be late to say that it is in use. */
const LATE = 10 * 60_000
/** Nothing lives longer: what says so was written while the time of day was wrong. Longer than any `sessionIdle`. */
const FAR = 30 * 86_400_000
/** How many sessions one transaction says it of. */
const TOUCHED = 500

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
    const wanted = subscriptions.map(uri => [uri, true] as const)
    await this.#disk.write(() => {
      // Hardly ever was it written before.
      if (this.#sql.add.run(id, nodeAddress, this.#disk.writer, text, expires).changes === 0) this.#replace(id, text, nodeAddress, expires)
      this.#subscriptions.change(id, wanted)
    })
  }

  async load (id: string): Promise<SessionRecord | undefined> {
    return this.#disk.read(() => this.#recordOf(this.#sql.load.get(id, Date.now()) as Row | undefined))
  }

  async update (id: string, { agreement, subscriptions }: SessionChange, expires: number): Promise<boolean> {
    const text = agreement === undefined ? undefined : JSON.stringify(agreement)
    return await this.#disk.write(() => {
      if (!this.#isOurs(id)) return false
      if (text === undefined) this.#sql.touch.run(expires, id)
      else this.#sql.update.run(text, expires, id)
      this.#subscriptions.change(id, subscriptions)
      return true
    })
  }

  async adopt (id: string, nodeAddress: string, expires: number): Promise<SessionRecord | undefined> {
    return await this.#disk.write(() => {
      const owner = this.#ownerOf(id)
      const row = this.#sql.adopt.get(nodeAddress, this.#disk.writer, expires, id, Date.now()) as Row | undefined
      if (row !== undefined && owner !== this.#disk.writer) this.#disk.taken(id)
      return this.#recordOf(row)
    })
  }

  async listByNode (nodeAddress: string): Promise<string[]> {
    const rows = this.#disk.read(() => this.#sql.listByNode.all(nodeAddress, Date.now())) as unknown as Row[]
    return rows.map(({ id }) => id)
  }

  async touch (ids: string[], expires: number): Promise<void> {
    // Not all at once: the event loop gets its turn in between.
    for (let next = 0; next < ids.length; next += TOUCHED) {
      await this.#disk.write(() => { for (const id of ids.slice(next, next + TOUCHED)) this.#sql.touch.run(expires, id) })
    }
  }

  async remove (id: string): Promise<void> {
    await this.#disk.write(() => this.#remove(id))
  }

  async sweep (): Promise<void> {
    await this.#disk.write(() => {
      const now = Date.now()
      for (const { id } of this.#sql.expired.all(this.#disk.writer, now, now - LATE, now + FAR) as unknown as Row[]) this.#remove(id)
    })
  }

  onTaken (listener: (id: string) => void): () => void {
    // We may have taken it back before we hear of it.
    return this.#disk.onTaken(id => { if (!this.#isKnownAsOurs(id)) listener(id) })
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#disk.write(() => { if (this.#isOurs(id)) this.#streams.open(id, stream, interruptedResponse) })
  }

  async append (id: string, stream: string, event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined> {
    return await this.#disk.write(() => {
      if (this.#isOurs(id)) return this.#streams.append(id, stream, event, seen)
      return this.#ownerOf(id) === undefined ? undefined : 'taken'
    }, WEIGHT.event)
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#disk.write(() => { if (this.#isOurs(id)) this.#streams.saw(id, stream, number) })
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#disk.write(() => { if (this.#isOurs(id)) this.#streams.end(id, stream) })
  }

  async finish (id: string): Promise<void> {
    await this.#disk.write(() => { if (this.#isOurs(id)) this.#streams.finish(id) })
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return this.#disk.read(() => this.#streams.read(id, stream, after))
  }

  #recordOf (row: Row | undefined): SessionRecord | undefined {
    return row === undefined ? undefined : { ...parse(row.record) as SessionRecord, subscriptions: this.#subscriptions.of(row.id) }
  }

  #replace (id: string, text: string, nodeAddress: string, expires: number): void {
    const owner = this.#ownerOf(id)
    this.#sql.save.run(nodeAddress, this.#disk.writer, text, expires, id)
    this.#subscriptions.remove(id)
    if (owner !== this.#disk.writer) this.#disk.taken(id)
  }

  #ownerOf (id: string): string | undefined {
    return (this.#sql.owner.get(id) as { owner: string } | undefined)?.owner
  }

  // Nothing of ours may follow what the process that has the session now has written.
  #isOurs (id: string): boolean {
    const owner = this.#ownerOf(id)
    if (owner !== undefined && owner !== this.#disk.writer) this.#disk.lost(id)
    return owner === this.#disk.writer
  }

  #isKnownAsOurs (id: string): boolean {
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
    this.#disk.taken(id)
  }
}
