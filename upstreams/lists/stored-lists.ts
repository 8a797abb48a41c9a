import type { Values } from '../../protocol/store.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'
import { identityOf } from '../server-identity.js'
import { ALL_KINDS } from './reading/kinds.js'
import { EMPTY, type Snapshot } from './snapshot.js'

const SPACE = 'upstream-lists'
/** The most upstreams whose lists are stored. */
const MAX_STORED = 1_000

/** The lists of upstreams as they were last read, which clients get until they are read again. */
export class StoredLists {
  readonly #values: Values
  readonly #maxLength: number

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

  /** Rejects when the store fails. */
  async save (entry: ServerEntry, snapshot: Snapshot): Promise<void> {
    const text = JSON.stringify(snapshot)
    if (text.length > this.#maxLength) await this.remove(entry.alias)
    else await this.#values.put(SPACE, entry.alias, { server: identityOf(entry), snapshot: text }, { max: MAX_STORED })
  }

  async remove (alias: string): Promise<void> {
    await this.#values.delete(SPACE, alias)
  }

  /** The aliases of which something is stored. */
  async aliases (): Promise<string[]> {
    return await this.#values.keys(SPACE, { limit: MAX_STORED })
  }
}

/** Undefined for what is no snapshot, such as one of another version of ours. */
function parse (text: unknown): Snapshot | undefined {
  try {
    const snapshot = { ...EMPTY, ...JSON.parse(String(text)) as Snapshot }
    return ALL_KINDS.every(kind => Array.isArray(snapshot.lists[kind])) ? snapshot : undefined
  } catch {
    return undefined
  }
}
