import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { Listeners } from '../../lib/listeners.js'
import { randomToken } from '../../lib/random-token.js'
import { decodeNodeMessage, type NodeMessage } from '../../protocol/nodes/message.js'
import type { Nodes } from '../../protocol/nodes/nodes.js'
import { machineTime } from '../../system/process/usage.js'
import type { DiskConnection } from './connection.js'
import { allRows, firstRow } from './row.js'

/** In milliseconds: for how long a node counts as alive after it wrote that it is, and how often it does. */
const LEASE = 15_000
const RENEW_EVERY = 5_000

/**
 * The processes that use the file. A node writes that it is alive from its first session or task on. Expiries are on
 * the machine's monotonic clock, which all its processes share and which cannot be set; after a restart of the machine
 * it begins again, so an expiry too far ahead has passed.
 */
export class DiskNodes implements Nodes {
  readonly self = randomToken(6, 'hex')
  readonly #disk: DiskConnection
  readonly #listeners = new Listeners<[message: NodeMessage, from: string]>()
  readonly #sql: Record<
    'join' | 'leave' | 'expiry' | 'others' | 'removeAt' | 'removeDead' | 'post' | 'take' | 'dropMessages', Statement
  >

  #address = ''
  #timer: NodeJS.Timeout | undefined

  constructor (disk: DiskConnection) {
    this.#disk = disk
    this.#sql = {
      join: disk.prepare(
        'INSERT INTO nodes (id, address, expires) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET address = excluded.address, expires = excluded.expires'
      ),
      leave: disk.prepare('DELETE FROM nodes WHERE id = ?'),
      expiry: disk.prepare('SELECT expires FROM nodes WHERE id = ?'),
      others: disk.prepare('SELECT id FROM nodes WHERE id <> ?'),
      removeAt: disk.prepare('DELETE FROM nodes WHERE address = ? AND id <> ?'),
      removeDead: disk.prepare('DELETE FROM nodes WHERE (expires <= ? OR expires > ?) AND id <> ?'),
      post: disk.prepare('INSERT INTO messages (node, sender, text) VALUES (?, ?, ?)'),
      take: disk.prepare('DELETE FROM messages WHERE node = ? RETURNING number, sender, text'),
      dropMessages: disk.prepare('DELETE FROM messages WHERE node NOT IN (SELECT id FROM nodes)')
    }
    disk.onNews((kind, node) => { if (kind === 'message' && node === this.self) this.#receive().catch(() => {}) })
  }

  async join (): Promise<void> {
    if (this.#timer === undefined) await this.#disk.write(() => { this.enter() })
  }

  async send (node: string, message: NodeMessage): Promise<boolean> {
    return await this.#disk.write(() => {
      if (!this.lives(node)) return false
      this.#post(node, JSON.stringify(message))
      return true
    })
  }

  async broadcast (message: NodeMessage): Promise<void> {
    const text = JSON.stringify(message)
    await this.#disk.write(() => {
      for (const { id } of allRows<{ id: string }>(this.#sql.others, this.self)) {
        if (this.lives(id)) this.#post(id, text)
      }
    })
  }

  onMessage (listener: (message: NodeMessage, from: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  async isAlive (node: string): Promise<boolean> {
    return this.#disk.read(() => this.lives(node))
  }

  /** True for a node that is alive; to be called inside a read or write. */
  lives (node: string): boolean {
    if (node === this.self) return true
    const { expires = 0 } = firstRow<{ expires: number }>(this.#sql.expiry, node) ?? {}
    return expires > machineTime() && expires <= machineTime() + LEASE
  }

  /** To be called inside a write: makes this node known to the others. */
  enter (address = this.#address): void {
    if (this.#timer !== undefined && address === this.#address) return
    this.#address = address
    this.#renewLease()
    this.#timer ??= setInterval(() => { this.#renew() }, RENEW_EVERY).unref()
  }

  /**
   * To be called inside a write: forgets the nodes that have died, and all others at this address, where only one
   * process can listen.
   */
  removeDead (address: string): void {
    this.#sql.removeAt.run(address, this.self)
    this.#sql.removeDead.run(machineTime(), machineTime() + LEASE, this.self)
    this.#sql.dropMessages.run()
  }

  /** Makes this node unknown. */
  async close (): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    // A lease that cannot be ended expires.
    await this.#disk.write(() => this.#sql.leave.run(this.self)).catch(() => {})
  }

  #renew (): void {
    this.#disk.write(() => { if (this.#timer !== undefined) this.#renewLease() }).catch(() => {})
  }

  // Another node may have removed this one: a process that was stopped for longer than its lease counts as dead until
  // it continues.
  #renewLease (): void {
    this.#sql.join.run(this.self, this.#address, machineTime() + LEASE)
  }

  #post (node: string, text: string): void {
    this.#sql.post.run(node, this.self, text)
    this.#disk.noteNews('message', node)
  }

  async #receive (): Promise<void> {
    const rows = await this.#disk.write(() =>
      allRows<{ number: number, sender: string, text: string }>(this.#sql.take, this.self)
    )
    for (const { sender, text } of rows.sort((a, b) => a.number - b.number)) {
      const message = decodeNodeMessage(text)
      if (message !== undefined) this.#listeners.notify(message, sender)
    }
  }
}
