import type { Values } from './store.js'

/** The most bytes of results, and of tasks, that are kept: for one caller, and for all together. */
export interface ResultLimits { readonly maxResultBytes: number, readonly maxAllResultBytes: number }

const ALL = 'result bytes'
/** Into how many spans the time until expiry is divided, at least. Bytes are counted until the end of their span. */
const SPANS = 32
/** The most spans that are counted at once. */
const MAX_SPANS = 10_000

/** Counts the bytes that are kept, at all nodes together, by when they expire. */
export class ByteCounts {
  readonly #values: Values
  readonly #limits: ResultLimits

  constructor (values: Values, limits: ResultLimits) {
    this.#values = values
    this.#limits = limits
  }

  /** Counts bytes until they expire. Says why, and does not count them, where they would be too many. */
  async add (owner: string | undefined, bytes: number, keep: number, expires: number): Promise<string | undefined> {
    const { maxResultBytes, maxAllResultBytes } = this.#limits
    if (bytes > maxResultBytes) {
      return `it has ${bytes} bytes, and at most ${maxResultBytes} are kept for a caller (limit maxResultBytes)`
    }
    const own = await this.#change(spaceOf(owner), bytes, keep, expires)
    const all = await this.#change(ALL, bytes, keep, expires)
    if (own <= maxResultBytes && all <= maxAllResultBytes) return undefined
    await this.remove(owner, bytes, keep, expires)
    return own > maxResultBytes
      ? `what is kept for this caller would have more than ${maxResultBytes} bytes (limit maxResultBytes)`
      : `what is kept for all callers would have more than ${maxAllResultBytes} bytes (limit maxAllResultBytes)`
  }

  /** Takes back what `add` with the same arguments has counted. */
  async remove (owner: string | undefined, bytes: number, keep: number, expires: number): Promise<void> {
    for (const space of [spaceOf(owner), ALL]) await this.#change(space, -bytes, keep, expires)
  }

  /** The sum afterwards. */
  async #change (space: string, by: number, keep: number, expires: number): Promise<number> {
    const span = 2 ** Math.floor(Math.log2(Math.max(keep / SPANS, 1)))
    const end = Math.ceil(expires / span) * span
    const key = `${span} ${end}`
    await this.#values.put(space, key, 0, { ifAbsent: true, expires: end, max: MAX_SPANS })
    await this.#values.increment(space, key, by)
    const counts = await this.#values.list(space)
    return counts.reduce((sum, { value }) => sum + Number(value), 0)
  }
}

const spaceOf = (owner: string | undefined): string => owner === undefined ? `${ALL} of` : `${ALL} of/${owner}`
