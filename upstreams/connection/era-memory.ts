import type { Values } from '../../protocol/store.js'
import { isObject } from '../../protocol/wire/json.js'
import { identityOf, type ServerEntry } from '../server-entry.js'

/** The era of a server: whether it needs a handshake, and whether asking it first makes it exit. */
export interface Era { readonly modern: boolean, readonly exitsOnProbe: boolean, readonly probedAt: number }

const SPACE = 'upstreams/eras'
const DAY = 24 * 60 * 60_000
const KEPT = 30 * DAY

/** The part of a store that is used. */
type Remembered = Pick<Values, 'get' | 'put' | 'delete'>

/** Remembers the era of one configured server, here and in the store, where the next process finds it. */
export class EraMemory {
  readonly #values: Remembered
  readonly #alias: string
  readonly #server: string
  #era: Era | undefined
  #probedHere = false

  constructor (values: Remembered, entry: ServerEntry) {
    this.#values = values
    this.#alias = entry.alias
    this.#server = identityOf(entry)
  }

  /** The remembered era; undefined when none is. */
  async recall (): Promise<Era | undefined> {
    this.#era ??= await this.#load()
    return this.#era
  }

  /**
   * True when the server has to be asked: at the first start in this process, and a day after it was last asked. A
   * probe that ends it is made once a day.
   */
  isDue (era: Era | undefined): boolean {
    if (era === undefined) return true
    if (Date.now() - era.probedAt >= DAY) return true
    return !this.#probedHere && !era.exitsOnProbe
  }

  /** A store that fails costs one more probe at the next start. */
  remember (modern: boolean, exitsOnProbe = false): void {
    this.#probedHere = true
    const era = { modern, exitsOnProbe, probedAt: Date.now() }
    this.#era = era
    this.#values
      .put(SPACE, this.#alias, { ...era, server: this.#server }, { expires: Date.now() + KEPT })
      .catch(() => {})
  }

  /** Makes the next start ask the server again. */
  forget (): void {
    this.#probedHere = false
  }

  /** Makes the next start treat the server as one that is not known, in other processes, too. */
  discard (): void {
    this.#era = undefined
    this.#values.delete(SPACE, this.#alias).catch(() => {})
  }

  async #load (): Promise<Era | undefined> {
    const value = await this.#values.get(SPACE, this.#alias).catch(() => undefined)
    if (!isObject(value) || value.server !== this.#server) return undefined
    const { modern, exitsOnProbe, probedAt } = value
    return typeof probedAt === 'number'
      ? { modern: modern === true, exitsOnProbe: exitsOnProbe === true, probedAt }
      : undefined
  }
}
