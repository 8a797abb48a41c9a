import { now } from '../../lib/time.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { CallsInFlight } from './calls-in-flight.js'
import { ConnectedClients } from './connected-clients.js'
import type { Recorder } from './recorder.js'
import { Tables, type State } from './tables.js'
import type { News } from './watcher.js'

/** How often the tables are made anew, in milliseconds. */
const TABLE_INTERVAL = 1_000

/** Sources of the state that watchers are told besides calls and clients. */
export interface Sources {
  /** The rest of the state, as it is now. */
  readonly others: () => Omit<State, 'inFlight' | 'clients' | 'tools' | 'totals' | 'refusals'>
  /** Runs when that has changed in a way that cannot wait; returns how to remove the listener. */
  readonly onChange: (listener: () => void) => () => void
}

/** Reads what there is to tell, from its making until `stop`. The progress of calls is noted only meanwhile. */
export class StateReader {
  readonly #dispatcher: Dispatcher
  readonly #recorder: Recorder
  readonly #sources: Sources
  readonly #inFlight: CallsInFlight
  readonly #clients: ConnectedClients
  readonly #offs: Array<() => void>
  #tables: Tables | undefined
  #tablesAt = -Infinity

  constructor (dispatcher: Dispatcher, recorder: Recorder, sources: Sources) {
    const { observers, lifecycle } = dispatcher
    this.#dispatcher = dispatcher
    this.#recorder = recorder
    this.#sources = sources
    this.#inFlight = new CallsInFlight(recorder.activities, recorder.names)
    this.#clients = new ConnectedClients(lifecycle.peers, recorder.activities, recorder.names)
    this.#offs = [
      observers.end.add(call => this.#inFlight.end(call)),
      observers.progress.add((call, done, total) => this.#inFlight.note(call, done, total)),
      sources.onChange(() => { this.#tablesAt = -Infinity })
    ]
  }

  /** Reads what there is to tell now. */
  read (): Omit<News, 'rowsSince'> {
    const { ended, rates } = this.#recorder
    const time = this.#recorder.epochAt(now()) + now()
    rates.moveTo(time)
    if (this.#tables === undefined || now() >= this.#tablesAt + TABLE_INTERVAL) {
      this.#tablesAt = now()
      this.#tables = new Tables(this.#state())
    }
    return { at: Math.round(time), ended, rates, tables: this.#tables }
  }

  stop (): void {
    for (const off of this.#offs) off()
  }

  #state (): State {
    const { names, activities, rates, refusals } = this.#recorder
    const epoch = this.#recorder.epochAt(now())
    const calls = this.#dispatcher.callsInFlight()
    for (const call of calls) activities.note(call, names.of(call.client))
    return {
      inFlight: { total: calls.length, rows: this.#inFlight.rows(calls, epoch) },
      clients: this.#clients.table(epoch),
      tools: rates.byName,
      totals: rates.totals,
      refusals: refusals.rows(epoch + now()),
      ...this.#sources.others()
    }
  }
}
