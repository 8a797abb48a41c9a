import { ClockStep, now } from '../../lib/time.js'
import type { Call } from '../dispatch/call.js'
import type { CallOutcome } from '../dispatch/call-response.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { methodOf, outcomeOf, ruleOf, subjectOf } from '../dispatch/call-facts.js'
import { Activities } from './activities.js'
import { ClientNames } from './client-names.js'
import { EndedCalls } from './ended-calls.js'
import { Refusals } from './refusals.js'
import { Rates } from './statistics/rates.js'

/** How often the time of day is compared with the monotonic clock, in milliseconds. */
const CLOCK_INTERVAL = 1_000

/**
 * Records calls and refusals from the start of the gateway on, for watchers that come later: the last five minutes as
 * counts, and the last 1,000 calls.
 */
export class Recorder {
  readonly names = new ClientNames()
  readonly activities = new Activities()
  readonly ended = new EndedCalls()
  readonly rates = new Rates(Date.now())
  readonly refusals = new Refusals()
  readonly #dispatcher: Dispatcher
  readonly #clock = new ClockStep()
  #clockAt = now() + CLOCK_INTERVAL
  #epoch = Date.now() - now()

  constructor (dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher
    // The call that created a task is recorded, its work is not.
    dispatcher.observers.end.add((call, ended) => { if (call.task?.runs !== true) this.#end(call, ended) })
    dispatcher.observers.refusal.add(refusal => this.refusals.add(refusal, this.epochAt(now()) + now()))
  }

  /**
   * The time at which the monotonic clock was 0, in milliseconds since 1970. The time of day may have been set since it
   * was found out.
   */
  epochAt (time: number): number {
    if (time >= this.#clockAt) {
      this.#clockAt = time + CLOCK_INTERVAL
      if (this.#clock.happened()) this.#epoch = Date.now() - now()
    }
    return this.#epoch
  }

  #end (call: Call, ended: CallOutcome): void {
    const { startedAt, ms } = call.response
    const at = this.epochAt(startedAt + ms) + startedAt + ms
    const subject = subjectOf(call)
    const outcome = outcomeOf(call, ended)
    const client = this.names.of(call.client)
    // How long a call lasts that stays open is up to its client.
    if (!this.#dispatcher.lasts(call.method)) {
      this.rates.add(at, ms, outcome !== 'ok' && outcome !== 'cancelled', subject.tool)
    }
    const kept = this.ended.next()
    kept.at = at
    kept.ms = ms
    kept.method = methodOf(call, ended, subject)
    kept.subject = subject
    kept.outcome = outcome
    kept.rule = ruleOf(call)
    kept.code = ended.code
    kept.principal = call.principal
    kept.client = client
    kept.transport = call.peer.transport
    kept.revision = call.revision.version
    kept.owner = this.activities.note(call, client)
  }
}
