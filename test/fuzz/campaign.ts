import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { toRow, type Case, type TargetName } from './case.js'
import { Suspects, type Finding } from './findings.js'
import { generate } from './generate.js'
import { memoryInUse, type Memory } from './memory.js'
import type { Fault } from './oracle.js'
import type { Outcome, Target } from './target.js'
import { SIDE_BY_SIDE } from './targets/all.js'
import { fairTime, HANG, waitLimits } from './waiting.js'
import type { Watch } from './watch.js'

export interface Plan {
  name: TargetName
  open: () => Promise<Target>
  seed: string
  /** How many new messages to send, after those of the corpus. */
  count: number
  /** When to stop in any case. */
  until: number
  corpus: Case[]
  watch: Watch
  /** True when what is new is changed further at once, whatever the target; what is sent depends on chance then. */
  learn: boolean
  /** After how many findings it is enough. */
  enough: number
}

export interface Report {
  name: TargetName
  /** How many messages were sent. */
  inputs: number
  /** How many of them came from the corpus as they are. */
  known: number
  cases: number
  seconds: number
  behaviours: number
  /** What showed a behaviour for the first time, in this run. */
  kept: Array<{ input: Case, why: string }>
  findings: Finding[]
  /** Stands for all inputs in their order. */
  digest: string
  grown: Memory
}

const MAX_SLOW = 30
const MAX_POOL = 1_000
/** What is larger is made anew and not changed further. */
const MAX_SIZE = 1_024
const LARGE = 20_000
const MAX_GROWTH = 20 * 1024 * 1024
/** After this part of the messages, or of the time, everything that is made once is made. */
const WARM = 0.4

/** Sends mutated messages to one target until the count is reached, and reports the results. */
export async function campaign (plan: Plan): Promise<Report> {
  const { name, open } = plan
  const target = await open()
  try {
    const run = new Run(plan, target)
    const base = await run.census()
    await run.replay()
    await run.fuzz()
    await run.close(base)
    return run.report()
  } finally {
    // A process that did not end in order has been reported by then, or is reported now.
    await target.close().catch((error: Error) => { throw new Error(`${name}: ${error.message}`) })
  }
}

class Run {
  readonly #plan: Plan
  readonly #target: Target
  readonly #suspects: Suspects
  readonly #seen = new Set<string>()
  readonly #pool: Case[]
  readonly #coarse = new Set<string>()
  readonly #kept: Report['kept'] = []
  readonly #findings: Finding[] = []
  readonly #slow: Case[] = []
  readonly #reported = new Set<string>()
  readonly #hash = createHash('sha256')
  readonly #startedAt = performance.now()
  #made = 0
  #inputs = 0
  #known = 0
  #cases = 0
  #warm: Memory | undefined
  #grown: Memory = { heap: 0, native: 0 }

  constructor (plan: Plan, target: Target) {
    this.#plan = plan
    this.#pool = [...plan.corpus]
    this.#target = target
    this.#suspects = new Suspects(plan.open, plan.watch)
  }

  /** What is known goes first: it has to stay right, and it is where the new begins. */
  async replay (): Promise<void> {
    const { corpus } = this.#plan
    for (let at = 0; at < corpus.length; at += this.#size) await this.#batch(corpus.slice(at, at + this.#size))
    this.#known = this.#inputs
  }

  async fuzz (): Promise<void> {
    const { count, until } = this.#plan
    const halfTime = Number.isFinite(count) ? Infinity : Date.now() + (until - Date.now()) * WARM
    await this.#send(count * WARM, halfTime)
    this.#warm = await memoryInUse()
    await this.#send(count, until)
  }

  /** Everybody has left: nothing may be held of them. */
  async close (base: Record<string, number>): Promise<void> {
    await this.#retry()
    if (await this.#growth() > MAX_GROWTH) await this.#growOn()
    await this.#suspects.close()
    const end = fairTime() + waitLimits.ms
    let now = await this.census()
    while (isMore(now, base) && fairTime() < end) {
      await sleep(10)
      now = await this.census()
    }
    if (isMore(now, base)) {
      this.#note({ kind: 'leak', text: `held before: ${JSON.stringify(base)}, afterwards: ${JSON.stringify(now)}` })
    }
  }

  /**
   * A leak grows with each message. What a process has once needed for a large one, and keeps for the next, does not.
   */
  async #growOn (): Promise<void> {
    this.#warm = await memoryInUse()
    await this.#send((this.#inputs - this.#known) * (2 - WARM), Infinity)
    const grown = await this.#growth()
    if (grown > MAX_GROWTH) {
      this.#note({ kind: 'leak', text: `${(grown / 1024 / 1024).toFixed(1)} MB more are in use than before, again` })
    }
  }

  async #growth (): Promise<number> {
    const after = await memoryInUse()
    const before = this.#warm ?? after
    this.#grown = { heap: after.heap - before.heap, native: after.native - before.native }
    // In a small campaign, what the process gets from the system is mostly memory it has not used yet.
    return Math.max(this.#grown.heap, this.#plan.count < LARGE ? 0 : this.#grown.native)
  }

  /**
   * Things that the gateway and this process hold; a small campaign is part of tests, which hold things of their
   * own.
   */
  async census (): Promise<Record<string, number>> {
    const held = await this.#target.census()
    if (this.#plan.count < LARGE) return held
    const resources = process.getActiveResourcesInfo()
    const timers = resources.filter(name => name === 'Timeout' || name === 'Immediate').length
    return { ...held, timers, handles: resources.length - timers }
  }

  report (): Report {
    return {
      name: this.#plan.name,
      inputs: this.#inputs,
      known: this.#known,
      cases: this.#cases,
      seconds: (performance.now() - this.#startedAt) / 1_000,
      behaviours: this.#seen.size,
      kept: this.#kept,
      findings: this.#findings,
      digest: this.#hash.copy().digest('hex').slice(0, 12),
      grown: this.#grown
    }
  }

  async #send (count: number, until: number): Promise<void> {
    const { name, seed, enough } = this.#plan
    while (this.#inputs - this.#known < count && Date.now() < until && this.#findings.length < enough) {
      const batch = Array.from({ length: this.#size }, () => generate(name, seed, this.#made++, this.#pool))
      for (const input of batch) this.#hash.update(JSON.stringify(toRow(input, '')))
      await this.#batch(batch)
    }
  }

  async #batch (inputs: Case[]): Promise<void> {
    const outcomes = await Promise.all(inputs.map(async input => await this.#timed(input)))
    this.#cases += inputs.length
    this.#inputs += inputs.reduce((sum, { steps }) => sum + steps.length, 0)
    for (const [at, input] of inputs.entries()) await this.#judge(input, outcomes[at] as Outcome)
    const shared = [...await this.#probe(), ...this.#plan.watch.take(), ...this.#target.takeFaults?.() ?? []]
    for (const fault of shared) {
      await this.#find((await this.#suspects.culprit(inputs, fault)) ?? (inputs[0] as Case), fault)
    }
  }

  /** How many conversations go on side by side; in a small campaign not all of them at once. */
  get #size (): number {
    const { name, count } = this.#plan
    return Math.min(SIDE_BY_SIDE[name], Math.max(8, count >> 4))
  }

  async #timed (input: Case): Promise<Outcome> {
    const startedAt = performance.now()
    const outcome = await this.#target.run(input)
    if (performance.now() - startedAt > waitLimits.alone && this.#slow.length < MAX_SLOW) this.#slow.push(input)
    return outcome
  }

  /** What took long among others has to be quick alone. */
  async #retry (): Promise<void> {
    for (const input of this.#slow.splice(0)) {
      for (const fault of await this.#suspects.faults(input)) await this.#find(input, fault)
    }
  }

  /**
   * The next good message is answered, and soon; once more if it took long, as those before may have left work behind.
   */
  async #probe (): Promise<Fault[]> {
    for (let tries = 0; tries < 2; tries++) {
      const startedAt = fairTime()
      if (!await this.#target.probe()) return [{ kind: 'hang', text: 'the next good message is not answered' }]
      if (fairTime() - startedAt <= HANG) return []
    }
    return [{ kind: 'hang', text: `the next good message is answered after more than ${HANG} ms` }]
  }

  async #judge (input: Case, { faults, signatures }: Outcome): Promise<void> {
    for (const fault of faults) await this.#find(input, fault)
    const news = signatures.filter(signature => !this.#seen.has(signature))
    if (news.length === 0) return
    for (const signature of news) this.#seen.add(signature)
    if (
      this.#learnsFrom(input) &&
      this.#pool.length < MAX_POOL &&
      input.steps.every(({ bytes }) => bytes.length < MAX_SIZE)
    ) { this.#pool.push(input) }
    if (input.steps.every(({ bytes }) => bytes.length < MAX_SIZE)) this.#keep(input, news)
  }

  /** Of what differs in words only, the first is enough. */
  #keep (input: Case, news: string[]): void {
    const coarse = news.map(signature => signature.split(' ').slice(1, 3).join(' '))
    if (coarse.every(word => this.#coarse.has(word))) return
    for (const word of coarse) this.#coarse.add(word)
    this.#kept.push({ input, why: news.join('; ').slice(0, 120) })
  }

  // Over a wire, and between steps that wait for each other, what comes first is a matter of chance: the same seed
  // would not send the same.
  #learnsFrom ({ target, burst }: Case): boolean {
    return this.#plan.learn || (target === 'dispatcher' && burst)
  }

  async #find (input: Case, fault: Fault): Promise<void> {
    const name = `${fault.kind} ${fault.text.replace(/"[^"]*"|[-\d.]+/g, '').slice(0, 40)}`
    if (this.#reported.has(name) || this.#findings.length >= this.#plan.enough) return
    this.#reported.add(name)
    this.#findings.push(await this.#suspects.reduce(input, fault))
  }

  #note (fault: Fault): void {
    const nothing: Case = { target: this.#plan.name, opening: 'none', steps: [], answers: [], burst: false, cut: 0 }
    this.#findings.push({ input: nothing, fault, again: false })
  }
}

const isMore = (now: Record<string, number>, before: Record<string, number>): boolean =>
  Object.entries(now).some(([name, count]) => count > (before[name] ?? 0))
