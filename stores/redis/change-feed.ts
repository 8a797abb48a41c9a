import { Listeners } from '../../lib/listeners.js'
import type { ChangeListener } from '../../protocol/store.js'
import type { RedisLink } from '../../system/redis/connection.js'
import type { Keys } from './keys.js'

/** In milliseconds: how long one read waits for changes, and when it is tried again after it failed. */
const BLOCK = 1_000
const RETRY = 250
/** About how many changes are stored, and how many are read at once. */
const STORED = '10000'
const BATCH = 1_000
const BEFORE_ALL = '0-0'

type Item = [id: string, fields: string[]]

/**
 * Changes of values, as a stream in Redis: each node reads on where it was, also after it has lost its connection. It
 * has a connection of its own, because a read that waits holds up all others.
 */
export class ChangeFeed {
  readonly #write: RedisLink
  readonly #read: RedisLink
  readonly #keys: Keys
  readonly #node: string
  readonly #listeners = new Listeners<Parameters<ChangeListener>>()
  readonly #gaps = new Listeners<[]>()
  /** The id of the last change that was read; undefined until it is known where to begin. */
  #last: string | undefined
  /** True when changes may be missing in Redis. */
  #isDoubtful = true
  #isClosed = false

  constructor (write: RedisLink, read: RedisLink, keys: Keys, node: string) {
    this.#write = write
    this.#read = read
    this.#keys = keys
    this.#node = node
  }

  /** Begins to read after the latest change, which is fetched first, so that none is missed. */
  async start (): Promise<void> {
    this.#read.onReady(() => this.doubt())
    await this.#check().catch(() => {})
    void this.#follow()
  }

  /** Stores a change for the other nodes. One that cannot be stored is not announced to them. */
  note (space: string, key: string): void {
    this.#write
      .command('XADD', this.#keys.feed, 'MAXLEN', '~', STORED, '*', 'node', this.#node, 'space', space, 'key', key)
      .catch(() => {})
  }

  onChange (listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Adds a listener for when changes were missed, because Redis no longer has them; returns a function that removes it.
   */
  onGap (listener: () => void): () => void {
    return this.#gaps.add(listener)
  }

  /** Compares with what Redis has before the next read. */
  doubt (): void {
    this.#isDoubtful = true
  }

  close (): void {
    this.#isClosed = true
  }

  async #follow (): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (this.#isDoubtful) await this.#check()
        const reply = (await this.#read.waitFor(
          'XREAD',
          'COUNT',
          String(BATCH),
          'BLOCK',
          String(BLOCK),
          'STREAMS',
          this.#keys.feed,
          this.#last ?? BEFORE_ALL
        )) as Record<string, Item[]> | null
        const items = reply?.[this.#keys.feed] ?? []
        for (const [id, fields] of items) this.#announce(id, fields)
        // So far behind, the next ones may be dropped before they are read.
        if (items.length === BATCH) this.doubt()
      } catch {
        await new Promise(resolve => { setTimeout(resolve, RETRY).unref() })
      }
    }
  }

  /** Redis may have dropped what follows the last change that was read, or lost that one, or everything. */
  async #check (): Promise<void> {
    const [[first], [latest]] = await Promise.all([
      this.#read.command('XRANGE', this.#keys.feed, '-', '+', 'COUNT', '1') as Promise<Item[]>,
      this.#read.command('XREVRANGE', this.#keys.feed, '+', '-', 'COUNT', '1') as Promise<Item[]>
    ])
    this.#isDoubtful = false
    const last = this.#last
    const isMissing =
      last !== undefined &&
      last !== BEFORE_ALL &&
      (first === undefined || latest === undefined || isLater(first[0], last) || isLater(last, latest[0]))
    if (last === undefined || isMissing) this.#last = latest?.[0] ?? BEFORE_ALL
    if (isMissing) this.#gaps.notify()
  }

  #announce (id: string, fields: string[]): void {
    this.#last = id
    const {
      node,
      space = '',
      key = ''
    } = Object.fromEntries(
      Array.from({ length: fields.length / 2 }, (_, index) => [fields[index * 2], fields[index * 2 + 1]])
    ) as Record<string, string>
    if (node !== this.#node) this.#listeners.notify(space, key)
  }
}

/** Compares two ids of a Redis stream: milliseconds and a number. */
function isLater (id: string, other: string): boolean {
  const [[ms = 0, number = 0], [otherMs = 0, otherNumber = 0]] = [id, other].map(text =>
    text.split('-').map(Number)
  ) as [number[], number[]]
  return ms > otherMs || (ms === otherMs && number > otherNumber)
}
