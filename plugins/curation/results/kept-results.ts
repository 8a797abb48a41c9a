import { randomToken } from '../../../lib/random-token.js'
import { ByteCounts, type ResultLimits } from '../../../protocol/byte-counts.js'
import type { Store } from '../../../protocol/store.js'
import { grants, mayReach, type Identity } from '../../../protocol/wire/identity.js'
import { outsideOfPair } from './head-and-tail.js'

/** A text to keep. */
export interface NewResult {
  readonly text: string
  readonly mimeType: string
  /** The scopes of the tool: a caller without them cannot read its results. */
  readonly scopes: readonly string[]
  /** The view of the call; undefined outside of all views. */
  readonly view: string | undefined
  /** How many characters one part has, unless the reader says. */
  readonly part: number
  /** For how many milliseconds it is kept. */
  readonly keep: number
}

/** The place of a text that is kept. */
export interface Kept { readonly id: string, readonly bytes: number, readonly expires: number }

/** A part of a kept text, from one place in it up to another. */
export interface Part {
  readonly text: string
  readonly mimeType: string
  readonly from: number
  readonly to: number
  readonly total: number
}

/** The characters to read; without a length those of one part, or all where `isWhole`. */
export interface Range { readonly offset?: number, readonly length?: number | undefined, readonly isWhole?: boolean }

/** The caller of a request, and the view that it came by. */
export interface Reader { readonly identity: Identity, readonly view: string | undefined }

interface Head extends Omit<NewResult, 'text' | 'keep'> { readonly owner: string | null, readonly total: number }

/** The URI of a kept text, before its id. */
export const RESULT_URI = 'patchbay://result/'

const SPACE = 'results'
/** The most entries in the store. */
const MAX_ENTRIES = 100_000
/** How many characters are in one entry of the store: a part is read without the rest. */
const CHUNK = 262_144
const ID = /^[A-Za-z0-9_-]{22}$/

/** Long results, in the store until they expire. Only their owner finds them; callers without a name are one owner. */
export class KeptResults {
  readonly #store: Store
  readonly #counts: ByteCounts
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor (store: Store, limits: ResultLimits) {
    this.#store = store
    this.#counts = new ByteCounts(store.values, limits)
  }

  /** Keeps a text, or says why it is not kept. Rejects when the store fails. */
  async add (owner: string | undefined, { text, keep, ...rest }: NewResult): Promise<Kept | string> {
    const expires = Date.now() + keep
    // As much as the store has of it: it keeps JSON, in which a control character has six.
    const stored = Buffer.byteLength(JSON.stringify(text)) - 2
    const why = await this.#counts.add(owner, stored, keep, expires)
    if (why !== undefined) return why
    const id = randomToken(16, 'base64url')
    const head: Head = { ...rest, owner: owner ?? null, total: text.length }
    const keys = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, index) => keyOf(id, index))
    this.#deleteAfter(keep, [id, ...keys])
    const put = async (key: string, value: unknown): Promise<void> =>
      await this.#store.values.put(SPACE, key, value, { expires, max: MAX_ENTRIES })
    try {
      await Promise.all(
        keys.map(async (key, index) => await put(key, text.slice(index * CHUNK, (index + 1) * CHUNK)))
      )
      await put(id, head)
    } catch (error) {
      await this.#counts.remove(owner, stored, keep, expires)
      throw error
    }
    return { id, bytes: Buffer.byteLength(text), expires }
  }

  /** A part of a text; undefined where there is none that the caller may read. Parts that adjoin join to the whole. */
  async read (id: string, { identity, view }: Reader, range: Range): Promise<Part | undefined> {
    const head = ID.test(id) ? await this.#store.values.get(SPACE, id) as Head | undefined : undefined
    if (head?.owner !== (identity.principal ?? null) || !mayReach(view, head.view)) return undefined
    if (!grants(identity, head.scopes)) return undefined
    const { total, mimeType, part } = head
    const { offset = 0, length = range.isWhole === true ? total : part } = range
    const [start, end] = [Math.min(offset, total), Math.min(offset + length, total)]
    // With the characters around it, which say if a boundary is inside of a surrogate pair.
    const first = Math.max(start - 1, 0)
    const around = await this.#slice(id, first, Math.min(end + 1, total))
    if (around === undefined) return undefined
    const [from, to] = [start, end].map(index => outsideOfPair(around, index - first)) as [number, number]
    return { text: around.slice(from, to), mimeType, from: from + first, to: to + first, total }
  }

  close (): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  /** Undefined where a piece of it has expired. */
  async #slice (id: string, from: number, to: number): Promise<string | undefined> {
    const first = Math.floor(from / CHUNK)
    const count = to === from ? 0 : Math.floor((to - 1) / CHUNK) - first + 1
    const chunks = await Promise.all(
      Array.from({ length: count }, async (_, index) =>
        await this.#store.values.get(SPACE, keyOf(id, first + index)))
    )
    if (chunks.some(chunk => typeof chunk !== 'string')) return undefined
    return chunks.join('').slice(from - first * CHUNK, to - first * CHUNK)
  }

  /** Frees the memory of expired results. Other stores remove them with later writes, and hold them on disk. */
  #deleteAfter (ms: number, keys: readonly string[]): void {
    if (this.#store.kind !== 'memory') return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      for (const key of keys) this.#store.values.delete(SPACE, key).catch(() => {})
    }, ms)
    timer.unref()
    this.#timers.add(timer)
  }
}

const keyOf = (id: string, index: number): string => `${id}/${String(index).padStart(6, '0')}`
