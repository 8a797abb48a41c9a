import { Listeners } from '../../lib/listeners.js'
import type { ChangeListener } from '../../protocol/store.js'
import type { RedisLink } from '../../system/redis/connection.js'
import type { Keys } from './keys.js'

/** In milliseconds: how long one read waits for changes, and when it is tried again after it failed. */
const BLOCK = 1_000
const RETRY = 250
/** About how many changes are stored: a node that was away for more misses some. */
const STORED = '10000'

type StreamReply = Record<string, Array<[id: string, fields: string[]]>> | null

/**
 * Changes of values, as a stream in Redis: each node reads on where it was, also after it has lost its connection. It has a connection of its own,
 * because a read that waits holds up all others.
 */
export class ChangeFeed {
  readonly #write: RedisLink
  readonly #read: RedisLink
  readonly #keys: Keys
  readonly #node: string
  readonly #listeners = new Listeners<Parameters<ChangeListener>>()
  #last = '$'
  #isClosed = false

  constructor (write: RedisLink, read: RedisLink, keys: Keys, node: string) {
    this.#write = write
    this.#read = read
    this.#keys = keys
    this.#node = node
  }

  /** Begins to read after the latest change, which is fetched first, so that none is missed. */
  async start (): Promise<void> {
    await this.#findLatest()
    void this.#follow()
  }

  /** Stores a change for the other nodes. One that cannot be stored is not announced to them. */
  note (space: string, key: string): void {
    this.#write.command('XADD', this.#keys.feed, 'MAXLEN', '~', STORED, '*', 'node', this.#node, 'space', space, 'key', key).catch(() => {})
  }

  onChange (listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  close (): void {
    this.#isClosed = true
  }

  async #findLatest (): Promise<void> {
    try {
      const latest = await this.#read.command('XREVRANGE', this.#keys.feed, '+', '-', 'COUNT', '1') as Array<[id: string, fields: string[]]>
      this.#last = latest[0]?.[0] ?? '0-0'
    } catch {
      this.#last = '$'
    }
  }

  async #follow (): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (this.#last === '$') await this.#findLatest()
        const reply = await this.#read.waitFor('XREAD', 'BLOCK', String(BLOCK), 'STREAMS', this.#keys.feed, this.#last) as StreamReply
        for (const [id, fields] of reply?.[this.#keys.feed] ?? []) this.#announce(id, fields)
      } catch {
        await new Promise(resolve => { setTimeout(resolve, RETRY).unref() })
      }
    }
  }

  #announce (id: string, fields: string[]): void {
    this.#last = id
    const { node, space = '', key = '' } = Object.fromEntries(Array.from({ length: fields.length / 2 }, (_, index) => [fields[index * 2], fields[index * 2 + 1]])) as Record<string, string>
    if (node !== this.#node) this.#listeners.notify(space, key)
  }
}
