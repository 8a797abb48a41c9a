import { Listeners } from '../../lib/listeners.js'
import { errors } from '../../protocol/wire/errors.js'
import type { ChangeListener, Entry, ListOptions, PutOptions, Values } from '../../protocol/store.js'
import { checkKey, checkSum, encodeStored, isKey } from '../checks.js'
import type { RedisConnection } from './connection.js'
import type { ChangeFeed } from './change-feed.js'
import type { Keys } from './keys.js'
import { DELETE, GET, INCREMENT, LIST, PUT, SWAP, TAKE } from './scripts/values.js'
import type { Script } from './scripts/script.js'

/**
 * How many keys one script looks at, and about how many characters of values it returns: Redis does nothing else
 * meanwhile.
 */
const LIST_BATCH = 1_000
const LIST_TEXT = '1048576'

export class RedisValues implements Values {
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #feed: ChangeFeed
  readonly #listeners = new Listeners<Parameters<ChangeListener>>()

  constructor (redis: RedisConnection, keys: Keys, feed: ChangeFeed) {
    this.#redis = redis
    this.#keys = keys
    this.#feed = feed
    feed.onChange((space, key) => this.#listeners.notify(space, key))
  }

  async get (space: string, key: string): Promise<unknown> {
    if (!isKey(space) || !isKey(key)) return undefined
    const text = await this.#run(GET, space, key)
    return typeof text === 'string' ? JSON.parse(text) as unknown : undefined
  }

  async put (
    space: string,
    key: string,
    value: unknown,
    { expires, max, ifAbsent = false }: PutOptions = {}
  ): Promise<void> {
    checkKey(space, key)
    const most = max === undefined || max === Infinity ? '' : String(max)
    const written = await this.#run(
      PUT,
      space,
      key,
      encodeStored(value),
      expiryOf(expires),
      most,
      ifAbsent ? '1' : ''
    )
    if (written === -1) throw errors.full(Number(most))
    if (written === 1) this.#changed(space, key)
  }

  async swap (
    space: string,
    key: string,
    before: unknown,
    after: unknown,
    { expires }: Pick<PutOptions, 'expires'> = {}
  ): Promise<boolean> {
    checkKey(space, key)
    const [old, text] = [encodeStored(before), encodeStored(after)]
    const swapped = await this.#run(SWAP, space, key, old, text, expiryOf(expires)) === 1
    if (swapped) this.#changed(space, key)
    return swapped
  }

  async delete (space: string, key: string): Promise<boolean> {
    if (!isKey(space) || !isKey(key)) return false
    const deleted = await this.#run(DELETE, space, key) === 1
    if (deleted) this.#changed(space, key)
    return deleted
  }

  async take (space: string, key: string): Promise<unknown> {
    if (!isKey(space) || !isKey(key)) return undefined
    const text = await this.#run(TAKE, space, key)
    if (typeof text !== 'string') return undefined
    this.#changed(space, key)
    return JSON.parse(text) as unknown
  }

  async list (space: string, options: ListOptions = {}): Promise<Entry[]> {
    const found = await this.#list(space, options, '1')
    return Array.from({ length: found.length / 2 }, (_, index) => ({
      key: found[index * 2] ?? '',
      value: JSON.parse(found[index * 2 + 1] ?? 'null') as unknown
    }))
  }

  async keys (space: string, options: ListOptions = {}): Promise<string[]> {
    return await this.#list(space, options, '')
  }

  async increment (space: string, key: string, by: number): Promise<number> {
    checkKey(space, key)
    checkSum(0, by)
    const [done, text = ''] = await this.#run(INCREMENT, space, key, String(by)) as [string, string]
    if (done !== 'ok') return checkSum(JSON.parse(text), by)
    this.#changed(space, key)
    return Number(text)
  }

  onChange (listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  onMissedChanges (listener: () => void): () => void {
    return this.#feed.onGap(listener)
  }

  async #list (
    space: string,
    { after, limit = Infinity, descending = false }: ListOptions,
    values: string
  ): Promise<string[]> {
    if (!isKey(space)) return []
    const wanted = values === '' ? limit : limit * 2
    const found: string[] = []
    let from = after === undefined ? (descending ? '+' : '-') : `(${after}`
    while (found.length < wanted) {
      const looked = String(Math.min(limit, LIST_BATCH))
      const [last, ...more] = (await this.#run(
        LIST,
        space,
        from,
        descending ? '-' : '+',
        descending ? 'REV' : '',
        looked,
        values,
        LIST_TEXT
      )) as string[]
      for (const text of more) found.push(text)
      if (last === '') break
      from = `(${last ?? ''}`
    }
    return found.slice(0, wanted)
  }

  async #run (script: Script, space: string, ...args: string[]): Promise<unknown> {
    return await this.#redis.run(script, this.#keys.values(space), args)
  }

  #changed (space: string, key: string): void {
    this.#listeners.notify(space, key)
    this.#feed.note(space, key)
  }
}

const expiryOf = (expires: number | undefined): string =>
  expires === undefined || expires === Infinity ? '' : String(expires)
