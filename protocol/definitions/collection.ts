import { Listeners, type Report } from '../../lib/listeners.js'
import type { CacheHints } from '../revisions/revision.js'
import type { PreparedResult } from '../wire/result.js'

/** True for the items that a caller may see. */
export type Filter<T> = (key: string, item: T) => boolean

/** An item of an upstream, and the other names under which it is found. */
export interface RelayedItem<T> {
  readonly key: string
  readonly item: T
  readonly spellings?: readonly string[] | undefined
  /** True for one that is found by its key, and is on no page. */
  readonly unlisted?: boolean | undefined
}

/** The side of a collection from which it is read. */
export type Source<T> = Pick<Collection<T>, 'values' | 'page' | 'onChange' | 'onItems' | 'mostHints' | 'onLimit'>

/** The items that a change took out of a collection and put into it; an item may be in both. */
export interface ItemChange<T> { readonly removed: readonly T[], readonly put: readonly T[] }

/** A set of named things, sorted by key, that can be paged and that announces change. */
export class Collection<T> {
  readonly #kind: string
  readonly #keyName: string
  readonly #items = new Map<string, T>()
  /** Items of upstreams, also those whose key a local item has. */
  readonly #relayed = new Map<string, RelayedItem<T>>()
  /** The keys of relayed items by their other names. */
  readonly #spellings = new Map<string, string>()
  readonly #listeners: Listeners<[]>
  readonly #itemListeners: Listeners<[change: ItemChange<T>]>
  readonly #pageListeners: Listeners<[]>
  readonly #limitListeners: Listeners<[]>
  /** The keys of relayed items that are on no page. */
  readonly #unlisted = new Set<string>()
  #sorted: string[] | undefined
  /** The keys that are on pages, in order, where these are not all. */
  #listed: string[] | undefined
  #mostHints: CacheHints | undefined
  /** A cache of prepared pages; cleared when an item is added or removed. */
  readonly derived = new Map<string, PreparedResult>()

  /**
   * `kind` and `keyName` are what one item and its key are called in error messages; `report` gets what a listener
   * throws.
   */
  constructor (kind: string, report?: Report, keyName = 'name') {
    this.#kind = kind
    this.#keyName = keyName
    this.#listeners = new Listeners(report)
    this.#itemListeners = new Listeners(report)
    this.#pageListeners = new Listeners(report)
    this.#limitListeners = new Listeners(report)
  }

  /** Throws when the key is taken: two things of one name are a mistake, not an update. A relayed item gives way. */
  add (key: string, item: T): void {
    if (this.#items.has(key) && !this.#isRelayed(key)) {
      throw new Error(`there is a ${this.#kind} "${key}" already; choose another ${this.#keyName}`)
    }
    this.replace(key, item)
  }

  /** Puts the item where the one of its key is, or adds it: what is found by the order of adding stays in order. */
  replace (key: string, item: T): void {
    const former = this.#items.get(key)
    this.#items.set(key, item)
    this.#changed({ removed: former === undefined ? [] : [former], put: [item] })
  }

  /** A relayed item that gave way to the removed one takes its place again. */
  remove (key: string): boolean {
    const revealed = this.#isRelayed(key) ? undefined : this.#relayed.get(key)?.item
    const former = this.#items.get(key)
    const removed = this.#items.delete(key)
    if (revealed !== undefined) this.#items.set(key, revealed)
    if (removed) this.#changed({ removed: [former as T], put: revealed === undefined ? [] : [revealed] })
    return removed
  }

  /** Removes everything, which is announced once. */
  clear (): void {
    if (this.#items.size === 0) return
    const removed = [...this.#items.values()]
    for (const all of [this.#items, this.#relayed, this.#spellings, this.#unlisted]) all.clear()
    this.#changed({ removed, put: [] })
  }

  /** Removes and puts relayed items, and announces all of it once. Returns the keys that local items have. */
  relay (removed: Iterable<string>, put: Iterable<RelayedItem<T>>): string[] {
    const taken: string[] = []
    const change = { removed: [] as T[], put: [] as T[] }
    let [changes, unlisted] = [0, 0]
    for (const key of removed) {
      if (this.#unlisted.has(key)) unlisted++
      if (this.#removeRelayed(key, change.removed)) changes++
    }
    for (const relayed of put) {
      const { key, item, spellings = [] } = relayed
      if (relayed.unlisted === true && (this.#unlisted.has(key) || !this.#items.has(key))) unlisted++
      this.#removeRelayed(key, change.removed)
      this.#relayed.set(key, relayed)
      if (relayed.unlisted === true) this.#unlisted.add(key)
      for (const spelling of spellings) this.#spellings.set(spelling, key)
      if (this.#items.has(key)) taken.push(key)
      else {
        this.#items.set(key, item)
        change.put.push(item)
      }
      changes++
    }
    if (changes > 0) this.#changed(change, changes > unlisted)
    return taken
  }

  /** How long clients may keep the list at most; undefined where upstreams do not limit it. */
  get mostHints (): CacheHints | undefined {
    return this.#mostHints
  }

  set mostHints (hints: CacheHints | undefined) {
    if (hints?.ttlMs === this.#mostHints?.ttlMs && hints?.cacheScope === this.#mostHints?.cacheScope) return
    this.#mostHints = hints
    this.derived.clear()
    this.#limitListeners.notify()
  }

  /** By its key, or by another name of a relayed item. */
  get (key: string): T | undefined {
    return (
      this.#items.get(key) ??
      (this.#spellings.size === 0 ? undefined : this.#relayed.get(this.#spellings.get(key) ?? '')?.item)
    )
  }

  get size (): number {
    return this.#items.size
  }

  /** All keys, in order. */
  keys (): string[] {
    this.#sorted ??= [...this.#items.keys()].sort()
    return [...this.#sorted]
  }

  values (): IterableIterator<T> {
    return this.#items.values()
  }

  /**
   * The items after a key, in order. Stable while the set changes: what is neither added nor removed is seen exactly
   * once.
   */
  page (after: string | undefined, size: number, keep?: Filter<T>): { items: T[], last: string | undefined } {
    if (keep !== undefined) return this.#filteredPage(after, size, keep)
    const keys = this.#keysOnPages()
    const start = after === undefined ? 0 : firstAbove(keys, after)
    const slice = keys.slice(start, start + size)
    return {
      items: slice.map(key => this.#items.get(key) as T),
      last: start + size < keys.length ? slice.at(-1) : undefined
    }
  }

  #filteredPage (after: string | undefined, size: number, keep: Filter<T>): { items: T[], last: string | undefined } {
    const keys = this.#keysOnPages()
    const items: T[] = []
    let last: string | undefined
    for (let index = after === undefined ? 0 : firstAbove(keys, after); index < keys.length; index++) {
      const key = keys[index] as string
      const item = this.#items.get(key) as T
      if (!keep(key, item)) continue
      if (items.length === size) return { items, last }
      items.push(item)
      last = key
    }
    return { items, last: undefined }
  }

  onChange (listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Runs when something has changed that is on pages. */
  onPages (listener: () => void): () => void {
    return this.#pageListeners.add(listener)
  }

  /** Runs after each change, with the items that it took out and put in. */
  onItems (listener: (change: ItemChange<T>) => void): () => void {
    return this.#itemListeners.add(listener)
  }

  /** Runs when `mostHints` has changed. */
  onLimit (listener: () => void): () => void {
    return this.#limitListeners.add(listener)
  }

  #keysOnPages (): string[] {
    const sorted = this.#sorted ??= [...this.#items.keys()].sort()
    if (this.#unlisted.size === 0) return sorted
    this.#listed ??= sorted.filter(key => !this.#unlisted.has(key) || !this.#isRelayed(key))
    return this.#listed
  }

  #isRelayed (key: string): boolean {
    const relayed = this.#relayed.get(key)
    return relayed !== undefined && this.#items.get(key) === relayed.item
  }

  /** Adds the item to `removed` unless a local one has its place. */
  #removeRelayed (key: string, removed: T[]): boolean {
    const relayed = this.#relayed.get(key)
    if (relayed === undefined) return false
    for (const spelling of relayed.spellings ?? []) {
      if (this.#spellings.get(spelling) === key) this.#spellings.delete(spelling)
    }
    if (this.#isRelayed(key)) {
      this.#items.delete(key)
      removed.push(relayed.item)
    }
    this.#unlisted.delete(key)
    return this.#relayed.delete(key)
  }

  /** `isListed` is false where no page has changed. */
  #changed (change: ItemChange<T>, isListed = true): void {
    this.#sorted = undefined
    if (isListed) {
      this.#listed = undefined
      this.derived.clear()
    }
    this.#listeners.notify()
    this.#itemListeners.notify(change)
    if (isListed) this.#pageListeners.notify()
  }
}

function firstAbove (keys: string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) <= key) low = middle + 1
    else high = middle
  }
  return low
}
