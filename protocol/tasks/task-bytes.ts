import { ByteCounts } from '../byte-counts.js'

/** Bytes that are counted, with the time for which they are: those who take them back need all of it. */
export interface CountedBytes { readonly bytes: number, readonly keep: number, readonly expires: number }

/** Up to how many bytes are not counted: `maxTasks` bounds how many such results and requests there are. */
const SHORT = 16_384

/** Counts the long results and requests of tasks, together with the results that are kept. */
export class TaskBytes {
  readonly #counts: ByteCounts

  constructor (...given: ConstructorParameters<typeof ByteCounts>) {
    this.#counts = new ByteCounts(...given)
  }

  /** Counts a text until it expires; undefined for a short one. Says why where it would be too much. */
  async add (owner: string | null, text: string, expires: number): Promise<CountedBytes | string | undefined> {
    const bytes = Buffer.byteLength(text)
    if (bytes <= SHORT) return undefined
    const keep = expires - Date.now()
    const why = await this.#counts.add(owner ?? undefined, bytes, keep, expires)
    return why ?? { bytes, keep, expires }
  }

  /** Takes back what was counted. Where the store fails, that counts until it expires. */
  async remove (owner: string | null, counted: CountedBytes | undefined): Promise<void> {
    if (counted === undefined || counted.expires <= Date.now()) return
    const { bytes, keep, expires } = counted
    await this.#counts.remove(owner ?? undefined, bytes, keep, expires).catch(() => {})
  }
}
