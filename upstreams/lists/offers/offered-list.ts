import type { ServerEntry } from '../../server-entry.js'
import type { Origin } from './definitions.js'
import type { Entry, Kind } from '../reading/kinds.js'
import type { LostKey, MergedList, Show } from './merged-list.js'
import { quote, Warnings } from '../reading/warnings.js'
import { offeredBy, type Definitions, type Offered } from './offered.js'

/** What one upstream offers of one kind: to all clients, and under its own names to those of its view. */
export class OfferedList<K extends Kind> {
  readonly #kind: K
  readonly #origin: Origin
  readonly #server: ServerEntry
  readonly #merged: MergedList<Definitions[K]>
  readonly #showInView: Show<Definitions[K]>
  #offered: ReadonlyMap<string, Offered<Definitions[K]>> = new Map()

  constructor (kind: K, origin: Origin, server: ServerEntry, merged: MergedList<Definitions[K]>, showInView: Show<Definitions[K]>) {
    this.#kind = kind
    this.#origin = origin
    this.#server = server
    this.#merged = merged
    this.#showInView = showInView
  }

  get size (): number {
    return this.#offered.size
  }

  /** Offers these entries in place of the former ones. What did not change is not touched. */
  replace (entries: readonly Entry[]): void {
    const former = this.#offered
    this.#offered = offeredBy(this.#kind, this.#origin, entries, this.#server, former)
    const withdrawn = difference(former, this.#offered)
    const made = difference(this.#offered, former)
    if (withdrawn.length + made.length === 0) return
    this.#merged.change(this.#origin, withdrawn.map(({ offer }) => offer), made.map(({ offer }) => offer))
    this.#showInView(withdrawn.map(({ bare }) => bare), made.map(({ bare }) => bare))
  }

  /** Sentences about entries that clients do not get under their own name, because others have it. */
  conflicts (noun: string): string[] {
    const warnings = new Warnings()
    for (const lost of this.#merged.lostBy(this.#origin)) warnings.add(() => `${noun} ${quote(lost.key)} ${reasonOf(lost)}`)
    return warnings.list()
  }
}

function reasonOf ({ to, isReserved }: LostKey): string {
  if (isReserved) return `is not served under that name, because what begins so belongs to upstream ${to}`
  return `is also one of ${to === undefined ? 'this gateway' : `upstream ${to}`}, which comes first`
}

function difference<T> (some: ReadonlyMap<string, T>, others: ReadonlyMap<string, T>): T[] {
  return [...some].filter(([name, item]) => others.get(name) !== item).map(([, item]) => item)
}
