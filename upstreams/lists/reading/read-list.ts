import { isDeepStrictEqual } from 'node:util'
import { oneLine } from '../../../lib/one-line.js'
import { Slices } from '../../../lib/slices.js'
import { hintsOf, leastHints } from '../../../protocol/revisions/cache-hints.js'
import type { CacheHints } from '../../../protocol/revisions/revision.js'
import { isMcpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { hopsIn, joinHops, MARKED } from '../../hops.js'
import type { Connection, Upstream } from '../../ports.js'
import type { ListLimits } from '../limits.js'
import { checkEntry } from './check-entry.js'
import { KINDS, type Entry, type Kind } from './kinds.js'
import { quote, Warnings } from './warnings.js'

/**
 * One list of an upstream: the entries that clients can get, sentences about those that were left out, and the hops
 * that a gateway of ours names.
 */
export interface ReadList {
  readonly entries: readonly Entry[]
  readonly hints: CacheHints | undefined
  readonly warnings: string[]
  readonly hops: readonly string[]
}

export const EMPTY_LIST: ReadList = { entries: [], hints: undefined, warnings: [], hops: [] }

/** A longer cursor ends the list: all of them are kept until it is read. */
const MAX_CURSOR = 65_536

/**
 * Reads all pages of a list, within the limits. Rejects when the upstream fails to answer. Entries that are equal to
 * one of `former` are that one, and equal lists are the same. A long list is checked over several turns of the event
 * loop.
 */
export async function readList (
  connection: Connection,
  kind: Kind,
  limits: ListLimits,
  signal: AbortSignal,
  former: readonly Entry[] = []
): Promise<ReadList> {
  const { method, noun } = KINDS[kind]
  const gathering = new Gathering(
    kind,
    limits,
    connection.transport === 'http' && connection.revision?.stateless === true,
    former
  )
  const marked = connection.server.hops === undefined ? {} : { _meta: MARKED }
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await connection.request({
      method,
      allowsUnsafeKeys: true,
      params: cursor === undefined ? marked : { cursor, ...marked },
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.callTimeout)])
    })
    const isFull = !(await gathering.take(page))
    const { nextCursor } = page
    if (isFull || nextCursor === undefined || nextCursor === null) return gathering.list()
    if (typeof nextCursor !== 'string') {
      return gathering.list(`the cursor of the ${noun} list is not text: the list ends there`)
    }
    if (nextCursor.length > MAX_CURSOR) {
      return gathering.list(`a cursor of the ${noun} list has more than ${MAX_CURSOR} characters: the list ends there`)
    }
    if (cursors.has(nextCursor)) return gathering.list(`a cursor of the ${noun} list came twice: the list ends there`)
    if (pages >= limits.maxUpstreamPages) {
      return gathering.list(
        `the ${noun} list has more than ${pages} pages (limit maxUpstreamPages): the others are left out`
      )
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
}

/** The entries of the pages so far. */
class Gathering {
  readonly #kind: Kind
  readonly #limits: ListLimits
  readonly #mirrorsHeaders: boolean
  readonly #known: readonly Entry[]
  readonly #former: ReadonlyMap<unknown, Entry>
  readonly #entries = new Map<string, Entry>()
  readonly #slices = new Slices()
  readonly #warnings = new Warnings()
  #hops: readonly string[] = []
  #length = 0
  #hints: CacheHints | undefined

  constructor (kind: Kind, limits: ListLimits, mirrorsHeaders: boolean, former: readonly Entry[]) {
    this.#kind = kind
    this.#limits = limits
    this.#mirrorsHeaders = mirrorsHeaders
    this.#known = former
    this.#former = new Map(former.map(entry => [entry[KINDS[kind].key], entry]))
  }

  /** False when a limit was reached, so that no more can be taken. */
  async take (page: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { member, noun } = KINDS[this.#kind]
    const hints = hintsOf(page)
    if (hints !== undefined) this.#hints = this.#hints === undefined ? hints : leastHints(this.#hints, hints)
    this.#hops = joinHops(this.#hops, hopsIn(page) ?? [])
    const entries = page[member]
    if (!Array.isArray(entries)) {
      this.#warnings.add(`a page of the ${noun} list has no "${member}"`)
      return true
    }
    for (const entry of entries as unknown[]) {
      const { length } = JSON.stringify(entry)
      if (!this.#takeOne(entry, length)) return false
      const pause = this.#slices.spend(length)
      if (pause !== undefined) await pause
    }
    return true
  }

  list (warning?: string): ReadList {
    if (warning !== undefined) this.#warnings.add(warning)
    return {
      entries: this.#isAsBefore() ? this.#known : [...this.#entries.values()],
      hints: this.#hints,
      warnings: this.#warnings.list(),
      hops: this.#hops
    }
  }

  #isAsBefore (): boolean {
    let index = 0
    for (const entry of this.#entries.values()) if (entry !== this.#known[index++]) return false
    return index === this.#known.length
  }

  #takeOne (entry: unknown, length: number): boolean {
    const { maxUpstreamList } = this.#limits
    const option = this.#kind === 'templates' ? 'maxUpstreamTemplates' : 'maxUpstreamEntries'
    const { noun, key } = KINDS[this.#kind]
    const wrong = checkEntry(this.#kind, entry, length, this.#limits, this.#mirrorsHeaders)
    const fields = entry as Record<string, unknown> | null | undefined
    const name = fields?.[key] ?? fields?.name
    if (wrong !== undefined) return this.#leaveOut(name, wrong)
    if (this.#entries.has(name as string)) return this.#leaveOut(name, 'there is one of that name before it')
    this.#length += length
    if (this.#entries.size >= this.#limits[option]) {
      return this.#end(
        `the ${noun} list has more than ${this.#limits[option]} entries (limit ${option}): the others are left out`
      )
    }
    if (this.#length > maxUpstreamList) {
      return this.#end(
        `the ${noun} list is longer than ${maxUpstreamList} characters (limit maxUpstreamList): the rest is left out`
      )
    }
    const former = this.#former.get(name)
    this.#entries.set(name as string, isDeepStrictEqual(former, entry) ? former as Entry : entry as Entry)
    return true
  }

  #leaveOut (name: unknown, why: string): true {
    this.#warnings.add(`${KINDS[this.#kind].noun} ${quote(name)} is left out: ${why}`)
    return true
  }

  #end (warning: string): false {
    this.#warnings.add(warning)
    return false
  }
}

/** How much of the text of an error is repeated. */
const MAX_TEXT = 500
/** How much of it is searched for secrets: none of them is cut in two by the end of what is repeated. */
const LOOKED_AT = 4_000

/**
 * Why a list of a server could not be read, for operators: in our words, or with the code and the text of the server's
 * own error, without its secrets.
 */
export function describeUnread (
  error: unknown,
  { entry, redact }: Pick<Upstream, 'entry' | 'redact'>,
  timeout: number
): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `it did not answer within ${timeout} ms`
  if (!isMcpError(error)) return 'the gateway failed to read it'
  const text = oneLine(redact(error.message.slice(0, LOOKED_AT)), MAX_TEXT)
  return isObject(error.data) && error.data.upstream === entry.alias
    ? text
    : `it answered with error ${error.code}: ${text}`
}
