import { now } from '../../lib/time/clock.js'
import { ClockStep } from '../../lib/time/clock-step.js'
import type { Call } from '../dispatch/call.js'
import type { CallOutcome } from '../dispatch/call-response.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { outcomeOf, subjectOf } from '../dispatch/observed/call-facts.js'
import type { Peer } from '../peer/peer.js'
import { CallsInFlight } from './calls-in-flight.js'
import { ClientNames } from './client-names.js'
import { ConnectedClients } from './connected-clients.js'
import { EndedCalls } from './ended-calls.js'
import { Refusals } from './refusals.js'
import { Rates } from './statistics/rates.js'
import { Tables, type State } from './tables.js'
import type { News } from './watcher.js'

/** How often the tables are made anew, in milliseconds. */
const TABLE_INTERVAL = 1_000

/** The outcomes that count as errors. */
const ERRORS = new Set(['failed', 'error', 'denied'])

/** What is recorded besides calls and clients. */
export interface Sources {
  /** The rest of the state, as it is now. */
  readonly others: () => Omit<State, 'inFlight' | 'clients' | 'tools' | 'totals' | 'refusals'>
  /** Runs when that has changed in a way that cannot wait; returns how to remove the listener. */
  readonly onChange: (listener: () => void) => () => void
}

/** Records calls from its making until `stop`. */
export class Recorder {
  /** The peers that watch. */
  readonly watching = new Set<Peer>()
  readonly ended = new EndedCalls()
  readonly #dispatcher: Dispatcher
  readonly #sources: Sources
  readonly #names = new ClientNames()
  readonly #inFlight = new CallsInFlight(this.#names)
  readonly #clients: ConnectedClients
  readonly #clock = new ClockStep()
  /** The time at which the monotonic clock was 0, in milliseconds since 1970. */
  #epoch = Date.now() - now()
  readonly #rates = new Rates(Date.now())
  readonly #refusals = new Refusals()
  readonly #offs: Array<() => void>
  #tables: Tables | undefined
  #tablesAt = -Infinity

  constructor (dispatcher: Dispatcher, sources: Sources) {
    const { observers, lifecycle } = dispatcher
    this.#dispatcher = dispatcher
    this.#sources = sources
    this.#clients = new ConnectedClients(lifecycle.peers, this.#names)
    this.#offs = [
      observers.end.add((call, ended) => this.#end(call, ended)),
      observers.progress.add((call, done, total) => this.#inFlight.note(call, done, total)),
      observers.refusal.add(refusal => this.#refusals.add(refusal, this.#epoch + now())),
      sources.onChange(() => { this.#tablesAt = -Infinity })
    ]
  }

  /** What there is to tell now. */
  read (): Omit<News, 'rowsSince'> {
    if (this.#clock.happened()) this.#epoch = Date.now() - now()
    const time = this.#epoch + now()
    this.#rates.moveTo(time)
    if (this.#tables === undefined || now() >= this.#tablesAt + TABLE_INTERVAL) {
      this.#tablesAt = now()
      this.#tables = new Tables(this.#state())
    }
    return { at: Math.round(time), ended: this.ended, rates: this.#rates, tables: this.#tables }
  }

  stop (): void {
    for (const off of this.#offs) off()
  }

  #end (call: Call, ended: CallOutcome): void {
    const ms = call.response.ms
    const at = this.#epoch + call.response.startedAt + ms
    const subject = subjectOf(call)
    const outcome = outcomeOf(call, ended)
    const client = this.#names.of(call.client)
    this.#inFlight.end(call)
    this.#clients.note(call, client)
    // How long a call lasts that stays open is up to its client.
    if (!this.#dispatcher.lasts(call.method)) this.#rates.add(at, ms, ERRORS.has(outcome), subject.tool)
    this.ended.add(call, ended, { at, ms, subject, outcome, client, watcher: this.watching.has(call.peer) ? call.peer : undefined })
  }

  #state (): State {
    const calls = this.#dispatcher.callsInFlight()
    for (const call of calls) this.#clients.note(call, this.#names.of(call.client))
    return {
      inFlight: { total: calls.length, rows: this.#inFlight.rows(calls, this.#epoch) },
      clients: this.#clients.table(this.#epoch),
      tools: this.#rates.byName,
      totals: this.#rates.totals,
      refusals: this.#refusals.rows(this.#epoch + now()),
      ...this.#sources.others()
    }
  }
}
