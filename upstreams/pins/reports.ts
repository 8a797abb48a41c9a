import { isSameJson } from '../../lib/same-json.js'
import { Turns } from '../../lib/turns.js'
import { describe, type Difference } from './differences.js'
import type { Mark } from './marks.js'

/** How long a thing that goes on changing is not reported again, in milliseconds. */
const QUIET = 60 * 60_000
/** How many differences one line of the log has. */
const SHOWN = 20

const now = (): number => performance.now()

interface Log { warn: (data: object, text: string) => void }
interface Reported { readonly offered: unknown, readonly isBreaking: boolean, readonly at: number }
type Known = ReadonlyMap<string, Reported>

const isQuiet = ({ at }: Reported): boolean => now() - at < QUIET

/** Reports differences and marks in the log, each once, and what changes all the time once an hour. */
export class PinReports {
  readonly #log: Log
  readonly #reported = new Map<string, Known>()
  readonly #marked = new Map<string, Known>()

  constructor (log: Log) {
    this.#log = log
  }

  /** Reports the differences of one server that are new. */
  async add (alias: string, differences: readonly Difference[]): Promise<void> {
    const former = this.#reported.get(alias) ?? new Map<string, Reported>()
    const turns = new Turns()
    const next = quietOf(former)
    await turns.pause()
    const fresh: Difference[] = []
    for (const difference of differences) {
      const { offered, isBreaking } = difference
      if (noteIn(next, former, `${difference.kind} ${difference.name}`, { offered, isBreaking, at: now() })) fresh.push(difference)
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    this.#reported.set(alias, next)
    if (fresh.length === 0) return
    const shown = fresh.slice(0, SHOWN).map(describe)
    this.#log.warn(
      { upstream: alias, differences: shown },
      `upstream ${alias} does not offer what was accepted: ${shown.join('; ')}${moreThan(fresh)}. patchbay pins diff ${alias} shows all of it`
    )
  }

  /** Reports the marks of one server that are new. */
  async addMarks (alias: string, marks: readonly Mark[]): Promise<void> {
    const turns = new Turns()
    const former = this.#marked.get(alias) ?? new Map<string, Reported>()
    const next = quietOf(former)
    const byThing = new Map<string, string[]>()
    for (const { thing, text } of marks) byThing.set(thing, [...(byThing.get(thing) ?? []), text])
    await turns.pause()
    const fresh: Array<[thing: string, texts: string[]]> = []
    for (const [thing, offered] of byThing) {
      if (noteIn(next, former, thing, { offered, isBreaking: false, at: now() })) fresh.push([thing, offered])
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    this.#marked.set(alias, next)
    if (fresh.length === 0) return
    const shown = fresh.slice(0, SHOWN).map(([thing, texts]) => `${thing}: ${texts.join(', ')}`)
    this.#log.warn(
      { upstream: alias, marks: shown },
      `upstream ${alias} has what a reader of its definitions may miss: ${shown.join('; ')}${moreThan(fresh)}`
    )
  }

  /** Reports a sentence about a server, unless it was the latest one. */
  note (alias: string, text: string): void {
    const known = this.#reported.get(alias)?.get('')
    if (known?.offered === text) return
    this.#reported.set(alias, new Map([['', { offered: text, isBreaking: false, at: now() }]]))
    this.#log.warn({ upstream: alias }, `upstream ${alias}: ${text}`)
  }

  forget (alias: string): void {
    this.#reported.delete(alias)
    this.#marked.delete(alias)
  }
}

/** The reports of the last hour: things that are as they were accepted again are kept, too, for that long. */
const quietOf = (former: Known): Map<string, Reported> =>
  new Map([...former].filter(([, reported]) => isQuiet(reported)))

/** Notes that a thing is reported; false where it was, and need not be again. */
function noteIn (next: Map<string, Reported>, former: Known, key: string, reported: Reported): boolean {
  const known = former.get(key)
  const isKept = known !== undefined &&
    ((isQuiet(known) && (known.isBreaking || !reported.isBreaking)) || isSameJson(known.offered, reported.offered))
  next.set(key, isKept ? known : reported)
  return !isKept
}

const moreThan = (fresh: readonly unknown[]): string => fresh.length > SHOWN ? `, and ${fresh.length - SHOWN} more` : ''
