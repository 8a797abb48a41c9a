import { errors } from '../../protocol/wire/errors.js'
import type { ChangeListener, Entry, ListOptions, PutOptions, Store, Values } from '../../protocol/store.js'
import { byCodePoint, checkKey, checkSum, encodeStored } from '../checks.js'
import { Expiries } from '../../lib/expiries.js'
import { Listeners } from '../../lib/listeners.js'
import type { Nodes } from '../../protocol/nodes/nodes.js'
import { MemorySessions } from './sessions.js'

/** A store that lasts until the process ends. */
export function memoryStore (): Store {
  return {
    kind: 'memory',
    values: new MemoryValues(),
    sessions: new MemorySessions(),
    nodes: NO_OTHERS,
    failure: undefined,
    onFailureChange: () => () => {},
    close: async () => {}
  }
}

const NO_OTHERS: Nodes = {
  self: undefined,
  join: async () => {},
  send: async () => false,
  broadcast: async () => {},
  onMessage: () => () => {},
  isAlive: async () => false
}

interface StoredValue { readonly text: string, readonly expires: number }

class MemoryValues implements Values {
  readonly #spaces = new Map<string, Space>()
  readonly #listeners = new Listeners<Parameters<ChangeListener>>()

  async get (space: string, key: string): Promise<unknown> {
    const stored = this.#space(space).get(key)
    return stored === undefined ? undefined : JSON.parse(stored.text) as unknown
  }

  async put (
    space: string,
    key: string,
    value: unknown,
    { expires = Infinity, max = Infinity, ifAbsent = false }: PutOptions = {}
  ): Promise<void> {
    checkKey(space, key)
    const text = encodeStored(value)
    const present = this.#space(space).get(key) !== undefined
    if (present && ifAbsent) return
    if (!present && this.#space(space).count() >= max) throw errors.full(max)
    this.#write(space, key, { text, expires })
  }

  async swap (
    space: string,
    key: string,
    before: unknown,
    after: unknown,
    { expires = Infinity }: Pick<PutOptions, 'expires'> = {}
  ): Promise<boolean> {
    checkKey(space, key)
    const [old, text] = [encodeStored(before), encodeStored(after)]
    if (this.#space(space).get(key)?.text !== old) return false
    this.#write(space, key, { text, expires })
    return true
  }

  async delete (space: string, key: string): Promise<boolean> {
    const deleted = this.#space(space).delete(key)
    if (deleted) this.#changed(space, key)
    return deleted
  }

  async take (space: string, key: string): Promise<unknown> {
    const { text } = this.#space(space).get(key) ?? {}
    if (text === undefined) return undefined
    this.#space(space).delete(key)
    this.#changed(space, key)
    return JSON.parse(text) as unknown
  }

  async list (space: string, options: ListOptions = {}): Promise<Entry[]> {
    return this.#space(space).list(options).map(([key, { text }]) => ({ key, value: JSON.parse(text) as unknown }))
  }

  async keys (space: string, options: ListOptions = {}): Promise<string[]> {
    return this.#space(space).list(options).map(([key]) => key)
  }

  async increment (space: string, key: string, by: number): Promise<number> {
    checkKey(space, key)
    const { text = '0', expires = Infinity } = this.#space(space).get(key) ?? {}
    const sum = checkSum(JSON.parse(text), by)
    this.#write(space, key, { text: String(sum), expires })
    return sum
  }

  onChange (listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  /** Nothing: none is missed. */
  onMissedChanges (): () => void {
    return () => {}
  }

  #write (space: string, key: string, stored: StoredValue): void {
    const entries = this.#space(space)
    entries.set(key, stored)
    this.#spaces.set(space, entries)
    this.#changed(space, key)
  }

  #space (space: string): Space {
    return this.#spaces.get(space) ?? new Space()
  }

  #changed (space: string, key: string): void {
    this.#listeners.notify(space, key)
  }
}

/** Entries sorted by key, without those that have expired. */
class Space {
  readonly #entries = new Map<string, StoredValue>()
  readonly #keys: string[] = []
  readonly #expiring = new Expiries((key, expires) => this.#entries.get(key)?.expires === expires)

  get (key: string): StoredValue | undefined {
    const stored = this.#entries.get(key)
    return stored === undefined || stored.expires <= Date.now() ? undefined : stored
  }

  set (key: string, stored: StoredValue): void {
    const { expires } = stored
    const before = this.#entries.get(key)
    if (before === undefined) this.#keys.splice(this.#position(key), 0, key)
    this.#entries.set(key, stored)
    if (expires !== Infinity && expires !== before?.expires) this.#expiring.add(key, expires)
    this.#purge()
  }

  delete (key: string): boolean {
    const living = this.get(key) !== undefined
    if (this.#entries.delete(key)) this.#keys.splice(this.#position(key), 1)
    return living
  }

  count (): number {
    this.#purge()
    return this.#entries.size
  }

  #purge (): void {
    for (const key of this.#expiring.takeUntil(Date.now())) this.delete(key)
  }

  list ({ after, limit = Infinity, descending = false }: ListOptions): Array<[string, StoredValue]> {
    const found: Array<[string, StoredValue]> = []
    const step = descending ? -1 : 1
    for (
      let at = this.#start(after, descending);
      at >= 0 && at < this.#keys.length && found.length < limit;
      at += step
    ) {
      const key = this.#keys[at] as string
      const stored = this.get(key)
      if (stored !== undefined) found.push([key, stored])
    }
    return found
  }

  #start (after: string | undefined, descending: boolean): number {
    if (after === undefined) return descending ? this.#keys.length - 1 : 0
    const position = this.#position(after)
    if (descending) return position - 1
    return this.#keys[position] === after ? position + 1 : position
  }

  /** The index of a key, or the one at which to insert it. */
  #position (key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (byCodePoint(this.#keys[middle] as string, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
