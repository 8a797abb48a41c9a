import { Listeners } from '../../lib/listeners.js'
import type { Values } from '../../protocol/store.js'
import type { Offerable, Snapshot } from '../lists/snapshot.js'
import type { ServerEntry } from '../server-entry.js'
import { readAccepted, sectionFor, SPACE, type Place } from './accepted.js'
import { describe } from './differences.js'
import type { Lock } from './lock-text.js'
import { everythingIn, Marks, type Unread } from './marks.js'
import { PinReports } from './reports.js'
import { hold, review, whyNothing, type Accepted } from './review.js'

export interface PinLog { warn: (data: object, text: string) => void }

/** The state of a server that operators see. */
export interface PinState {
  readonly mode: 'report' | 'hold'
  /** Sentences about the differences from what was accepted. */
  readonly differences: readonly string[]
  /** Sentences about what their readers may miss: characters that are hidden, and names of tools of other servers. */
  readonly marks: readonly string[]
}

/** How many sentences of each kind operators get of a server. */
const MAX_SENTENCES = 100

/** The latest reading of a server, beside what was accepted of it. */
interface Compared {
  readonly mode: PinState['mode']
  readonly differences: readonly string[]
  readonly unread: readonly Unread[]
}

/** Holds what servers offer to what operators accepted of them. */
export class Pins {
  readonly #place: Place
  readonly #reports: PinReports
  readonly #onFailure: (why: string | undefined) => void
  readonly #changed: Listeners<[]>
  readonly #offs: Array<() => void> = []
  readonly #former = new Map<string, Offerable>()
  readonly #known = new Set<string>()
  readonly #compared = new Map<string, Compared>()
  readonly #states = new Map<string, PinState>()
  readonly #marks = new Marks(() => { void this.#markAll() })
  #aliases: ReadonlySet<string> = new Set()
  #lock: Lock = new Map()
  #isRead = false
  #failure: string | undefined
  #loading: Promise<void> = Promise.resolve()
  #reloading: Promise<void> | undefined

  /** `onFailure` takes why the accepted definitions cannot be read, or undefined when they can. */
  constructor (place: Place, values: Values, log: PinLog, onFailure: (why: string | undefined) => void) {
    this.#place = place
    this.#reports = new PinReports(log)
    this.#onFailure = onFailure
    this.#changed = new Listeners(error => log.warn({ err: error }, 'a listener to pins failed'))
    if ('values' in place) {
      this.#offs.push(
        values.onChange(space => { if (space === SPACE) void this.reload() }),
        values.onMissedChanges(() => { void this.reload() })
      )
    }
  }

  /** Takes over which servers are configured, so that sections of others can be those of renamed ones. */
  async configure (entries: readonly ServerEntry[]): Promise<void> {
    this.#aliases = new Set(entries.map(({ alias }) => alias))
    for (const alias of this.#known) if (!this.#aliases.has(alias)) this.#forget(alias)
    if (!this.#isRead) await this.#load()
  }

  /** Reads again what was accepted. What was read before stays where that fails. Never rejects. */
  async reload (): Promise<void> {
    // Many changes at once are one reading, which begins after the latest of them.
    this.#reloading ??= this.#loading.then(async () => {
      this.#reloading = undefined
      await this.#load()
      this.#changed.notify()
    })
    await this.#reloading
  }

  /** Runs when what was accepted may be other than before. */
  onChange (listener: () => void): () => void {
    return this.#changed.add(listener)
  }

  /** The lists of a server as clients get them. */
  async review (entry: ServerEntry, read: Snapshot): Promise<Offerable | undefined> {
    const { alias, pins } = entry
    this.#known.add(alias)
    this.#marks.note(alias, read.lists.tools)
    if (pins === undefined) {
      this.#compared.delete(alias)
      this.#states.delete(alias)
      return undefined
    }
    const accepted: Accepted = {
      section: sectionFor(this.#lock, entry, this.#aliases),
      failure: this.#isRead ? undefined : this.#failure
    }
    const differences = await review(read, accepted)
    const why = whyNothing(alias, accepted)
    this.#compared.set(alias, {
      mode: pins,
      differences: why === undefined ? shorten(differences, describe) : [why],
      unread: accepted.section === undefined ? everythingIn(read) : differences
    })
    if (why === undefined) await this.#reports.add(alias, differences)
    else this.#reports.note(alias, why)
    await this.#mark(alias)
    if (pins === 'report') return undefined
    const offerable = await hold(alias, read, accepted, this.#former.get(alias))
    this.#former.set(alias, offerable)
    return offerable
  }

  stateOf (alias: string): PinState | undefined {
    return this.#states.get(alias)
  }

  close (): void {
    for (const off of this.#offs) off()
    this.#changed.clear()
  }

  async #load (): Promise<void> {
    this.#loading = this.#loading.then(async () => {
      try {
        this.#lock = await readAccepted(this.#place)
        this.#marks.take(this.#lock)
        this.#isRead = true
        this.#failure = undefined
      } catch (error) {
        this.#failure = `what was accepted cannot be read: ${(error as Error).message}`
      }
      this.#onFailure(this.#failure)
    })
    await this.#loading
  }

  async #markAll (): Promise<void> {
    for (const alias of this.#compared.keys()) await this.#mark(alias)
  }

  /** Looks for marks in what was read last of a server. */
  async #mark (alias: string): Promise<void> {
    const compared = this.#compared.get(alias)
    if (compared === undefined) return
    const { mode, differences, unread } = compared
    const marks = await this.#marks.find(alias, unread)
    if (this.#compared.get(alias) !== compared) return
    this.#states.set(alias, { mode, differences, marks: shorten(marks, ({ thing, text }) => `${thing}: ${text}`) })
    await this.#reports.addMarks(alias, marks)
  }

  #forget (alias: string): void {
    this.#known.delete(alias)
    this.#marks.forget(alias)
    this.#compared.delete(alias)
    this.#states.delete(alias)
    this.#former.delete(alias)
    this.#reports.forget(alias)
  }
}

function shorten<T> (all: readonly T[], describe: (one: T) => string): string[] {
  const first = all.slice(0, MAX_SENTENCES).map(describe)
  return all.length > MAX_SENTENCES ? [...first, `and ${all.length - MAX_SENTENCES} more`] : first
}
