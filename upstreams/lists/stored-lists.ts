import { Slices } from '../../lib/slices.js'
import type { Values } from '../../protocol/store.js'
import { isObject } from '../../protocol/wire/json.js'
import { identityOf, type ServerEntry } from '../server-entry.js'
import { ALL_KINDS } from './reading/kinds.js'
import { EMPTY, type Snapshot } from './snapshot.js'

/** The space of the store that the lists are in, by alias. */
export const SPACE = 'upstream-lists'
/** The most upstreams whose lists are stored. */
const MAX_STORED = 1_000
/**
 * How long those of a server are kept that is not used, in milliseconds: another gateway with the same data folder may
 * have it.
 */
const KEPT = 30 * 24 * 60 * 60_000

/** The lists of upstreams as they were last read, which clients get until they are read again. */
export class StoredLists {
  readonly #values: Values
  readonly #maxLength: number
  #saved: Promise<void> = Promise.resolve()

  /** Lists of more than `maxLength` characters of JSON are not stored. */
  constructor (values: Values, maxLength: number) {
    this.#values = values
    this.#maxLength = maxLength
  }

  /** Undefined when there are none of the server that the entry describes. */
  async load (entry: ServerEntry): Promise<Snapshot | undefined> {
    const stored = await this.#values.get(SPACE, entry.alias).catch(() => undefined)
    return isObject(stored) && stored.server === identityOf(entry) ? parse(stored.snapshot) : undefined
  }

  /** Rejects when the store fails. Saves one after the other, so that the latest stays. */
  async save (entry: ServerEntry, snapshot: Snapshot): Promise<void> {
    const saved = this.#saved.then(async () => await this.#save(entry, snapshot))
    this.#saved = saved.catch(() => {})
    await saved
  }

  async remove (alias: string): Promise<void> {
    await this.#values.delete(SPACE, alias)
  }

  async #save (entry: ServerEntry, snapshot: Snapshot): Promise<void> {
    if ((await lengthOf(snapshot)) > this.#maxLength) await this.remove(entry.alias)
    else {
      await this.#values.put(
        SPACE,
        entry.alias,
        { server: identityOf(entry), snapshot },
        { max: MAX_STORED, expires: Date.now() + KEPT }
      )
    }
  }
}

/** The characters of its entries as JSON, counted over several turns. */
async function lengthOf ({ lists }: Snapshot): Promise<number> {
  const slices = new Slices()
  let length = 0
  for (const entry of ALL_KINDS.flatMap(kind => lists[kind])) {
    const added = JSON.stringify(entry).length
    length += added
    const pause = slices.spend(added)
    if (pause !== undefined) await pause
  }
  return length
}

/** Undefined for what is no snapshot, such as one of another version of ours. */
function parse (stored: unknown): Snapshot | undefined {
  if (!isObject(stored) || !isObject(stored.lists)) return undefined
  const lists = { ...EMPTY.lists, ...stored.lists }
  return ALL_KINDS.every(kind => Array.isArray(lists[kind])) ? { ...EMPTY, ...stored, lists } as Snapshot : undefined
}
