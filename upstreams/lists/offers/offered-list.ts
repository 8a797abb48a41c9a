import type { ServerEntry } from '../../server-entry.js'
import type { Origin } from './definitions.js'
import type { Entry, Kind } from '../reading/kinds.js'
import type { LostKey, MergedList, Show } from './merged-list.js'
import { quote, Warnings } from '../reading/warnings.js'
import { shownPages } from './pages.js'
import { makeOffers, type Definitions, type LeftOutEntry, type Offered, type Offering } from './offered.js'

/** The offers of one upstream of one kind: to all clients, and under its own names to those of its view. */
export class OfferedList<K extends Kind> {
  readonly #kind: K
  readonly #origin: Origin
  readonly #serverOf: () => ServerEntry
  readonly #merged: MergedList<Definitions[K]>
  readonly #showInView: Show<Definitions[K]>
  #offered: ReadonlyMap<string, Offered<Definitions[K]>> = new Map()
  #leftOut: ReadonlyMap<string, LeftOutEntry> = new Map()
  #clashes: readonly string[] = []
  #repaired = 0

  constructor (
    kind: K,
    origin: Origin,
    serverOf: () => ServerEntry,
    merged: MergedList<Definitions[K]>,
    showInView: Show<Definitions[K]>
  ) {
    this.#kind = kind
    this.#origin = origin
    this.#serverOf = serverOf
    this.#merged = merged
    this.#showInView = showInView
  }

  get size (): number {
    return this.#offered.size
  }

  /** True for a name that the upstream gave to one of them. */
  has (own: string): boolean {
    return this.#offered.has(own)
  }

  /** The names by which operators know them. */
  names (): string[] {
    return [...this.#offered.values()].flatMap(
      ({ name: { name, spellings, scopeNames = [name, ...spellings] } }) => scopeNames
    )
  }

  /** The definitions, by the upstream's own names. */
  items (): Array<[name: string, item: Definitions[K]]> {
    return [...this.#offered].map(([name, { offer: { item } }]) => [name, item])
  }

  /** The repairs, by the upstream's own names. */
  repairs (): Array<[name: string, changes: readonly string[]]> {
    return [...this.#offered]
      .filter(([, { changes }]) => changes.length > 0)
      .map(([name, { changes }]) => [name, changes])
  }

  /** True where clients find a page that a tool names elsewhere by now. */
  get hasMovedPages (): boolean {
    return [...this.#offered.values()].some(({ entry, pages }) =>
      pages !== '' && pages !== shownPages(this.#origin, entry))
  }

  /** How many of them were repaired. */
  get repaired (): number {
    return this.#repaired
  }

  /**
   * Makes the definitions of these entries. The function that it resolves to offers them in place of the former ones;
   * what did not change is not touched. `held` has why others are held back.
   */
  async prepare (entries: readonly Entry[], held: ReadonlyMap<string, string>): Promise<() => void> {
    const offering = await makeOffers(this.#kind, this.#origin, entries, this.#serverOf(), this.#offered, held)
    return () => this.#replace(offering)
  }

  /** Takes everything back. */
  clear (): void {
    this.#replace({ offered: new Map(), leftOut: new Map(), clashes: [] })
  }

  /**
   * The entry that is left out and would have this name for all clients, or has it for those of the upstream's view.
   */
  leftOut (name: string, isOwn: boolean): LeftOutEntry | undefined {
    if (isOwn) return this.#leftOut.get(name)
    for (const entry of this.#leftOut.values()) {
      if (entry.name.name === name || entry.name.spellings.includes(name)) return entry
    }
    return undefined
  }

  /**
   * Sentences about entries that clients do not get, because they could not read them, or not under their own name,
   * because others have it.
   */
  warnings (noun: string): string[] {
    const warnings = new Warnings()
    for (const clash of this.#clashes) warnings.add(() => clash)
    for (const [name, { why }] of this.#leftOut) warnings.add(() => `${noun} ${quote(name)} is left out: ${why}`)
    for (const lost of this.#merged.lostBy(this.#origin)) {
      warnings.add(() => `${noun} ${quote(lost.key)} ${reasonOf(lost)}`)
    }
    return warnings.list()
  }

  #replace ({ offered, leftOut, clashes }: Offering<Definitions[K]>): void {
    const former = this.#offered
    this.#leftOut = leftOut
    this.#clashes = clashes
    this.#repaired = [...offered.values()].filter(({ changes }) => changes.length > 0).length
    this.#offered = offered
    const withdrawn = difference(former, offered)
    const made = difference(offered, former)
    if (withdrawn.length + made.length === 0) return
    this.#merged.change(this.#origin, withdrawn.map(({ offer }) => offer), made.map(({ offer }) => offer))
    this.#showInView(withdrawn.map(({ bare }) => bare), made.map(({ bare }) => bare))
  }
}

function reasonOf ({ to, isReserved }: LostKey): string {
  if (isReserved) return `is not served under that name, because what begins so belongs to upstream ${to}`
  return `is also one of ${to === undefined ? 'this gateway' : `upstream ${to}`}, which comes first`
}

function difference<T> (some: ReadonlyMap<string, T>, others: ReadonlyMap<string, T>): T[] {
  const found: T[] = []
  for (const [name, item] of some) if (others.get(name) !== item) found.push(item)
  return found
}
