import type { Report } from '../../support/report.js'
import { Caller, describe, isFinal, judge } from './caller.js'
import { resume } from './calls.js'
import type { Cluster } from './cluster.js'
import type { Tally } from './tally.js'
import { withoutRepeated, type Answer, type AskOptions, type Message } from './wire.js'

const STEP = 100
const PATIENCE = 120_000

/** Many calls that are under way at the victim when it is harmed, half of them in sessions. */
export class Burst {
  readonly #cluster: Cluster
  readonly #tally: Tally
  readonly #steps: number
  readonly #calls: Array<Promise<void>> = []
  readonly #begun: Array<Promise<void>> = []
  readonly #inSession: Caller[] = []
  readonly #replies: Array<{ caller: Caller, firstId: string, messages: Message[] }> = []
  /** When the harm was done, and how long after it the last reply was complete, in milliseconds. */
  #harmed = Infinity
  #longest = 0

  /** Each call takes so many milliseconds. */
  constructor (cluster: Cluster, tally: Tally, ms: number) {
    this.#cluster = cluster
    this.#tally = tally
    this.#steps = Math.ceil(ms / STEP)
  }

  /** Settles when all calls have begun. */
  async start (calls: number): Promise<void> {
    for (let index = 0; index < calls; index++) this.#calls.push(this.#call(index % 2 === 0))
    await Promise.all(this.#begun)
  }

  /** The victim is harmed now. */
  mark (): void {
    this.#harmed = performance.now()
  }

  /** The clients with sessions end their connections to the victim, to resume elsewhere. */
  leave (): void {
    for (const { wire } of this.#inSession) wire.close()
  }

  /** Settles when each call has its answer, or its connection has ended. */
  async end (): Promise<void> {
    await Promise.all(this.#calls)
  }

  /** Reads all replies again: nothing may have been added to them since. */
  async compare (report: Report): Promise<void> {
    let added = 0
    for (const { caller, firstId, messages } of this.#replies) {
      const { answer, messages: again } = await resume(caller, { ...NOTHING, lastId: firstId })
      const before = withoutRepeated(messages.slice(messages.findIndex(({ id }) => id === firstId) + 1))
      const change = Array.from({ length: Math.max(before.length, again.length) }, (_, index) => index).find(index =>
        isChanged(before[index], again[index])
      )
      if (answer.status !== 200 || change === undefined) continue
      added++
      this.#tally.sample(
        'changed replies',
        `${before.length} and ${again.length} messages, from ${change}: ${before[change]?.id} ${before[change]?.text} is now ${again[change]?.id} ${again[change]?.text}`
      )
    }
    report.promise(
      added === 0,
      `no reply is changed after its end, not ${added}: ${this.#tally.samples.get('changed replies')?.[0]}`
    )
    report.note(
      `calls in flight: ${this.#calls.length}; the replies of ${this.#replies.length} were resumed elsewhere, the last was complete ${this.#longest.toFixed()} ms after the harm`
    )
  }

  get longest (): number {
    return this.#longest
  }

  async #call (inSession: boolean): Promise<void> {
    const { victim } = this.#cluster
    const caller = new Caller(this.#cluster, this.#tally)
    let begin = (): void => {}
    this.#begun.push(new Promise<void>(resolve => { begin = resolve }))
    const mark = caller.mark()
    const params = {
      name: 'nodes_echo',
      arguments: { text: mark, steps: this.#steps, ms: STEP },
      _meta: { progressToken: mark }
    }
    const options: AskOptions = { patience: PATIENCE, onMessage: () => begin() }
    if (!inSession) {
      const answer = await caller.callModern(victim, params, options)
      begin()
      return this.#tally.note('burst, harmed', judge(answer, mark), describe(answer))
    }
    await caller.open(victim)
    this.#inSession.push(caller)
    const first = await caller.callTool(victim, params, options)
    begin()
    await this.#finish(caller, first, mark)
  }

  async #finish (caller: Caller, first: Answer, mark: string): Promise<void> {
    const { answer, messages } = await resume(caller, first)
    this.#longest = Math.max(this.#longest, performance.now() - this.#harmed)
    for (const { id, text } of messages) this.#tally.identify(caller.session ?? '', id, text)
    const firstId = messages.find(({ id }) => id !== undefined)?.id
    if (firstId !== undefined && isFinal(messages.at(-1)?.text)) this.#replies.push({ caller, firstId, messages })
    // Its last response says that it was interrupted.
    const outcome = judge(answer, mark)
    this.#tally.note(
      outcome === 'failed' ? 'burst, harmed' : 'burst',
      outcome,
      `${describe(first)} then ${describe(answer)}`
    )
  }
}

/** An event that was sent before it was stored has its id only now. */
const isChanged = (before: Message | undefined, now: Message | undefined): boolean =>
  before?.text !== now?.text || (before?.id !== undefined && before.id !== now?.id)

const NOTHING: Answer = { status: 200, headers: new Map(), messages: [], lastId: undefined, whole: false, late: false }
