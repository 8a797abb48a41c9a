import type { Store, StoreObserver } from '../../../protocol/store.js'
import { STORE_BOUNDS } from './bounds.js'
import { Counter, gauge, Histogram, type HistogramSeries, type Metric } from './series.js'

/** Metrics of the store, and of messages that nodes send each other through it. */
export class StoreMetrics {
  readonly #durations = new Histogram(
    'patchbay_store_duration_seconds',
    'How long operations of the store took.',
    ['op', 'kind'],
    STORE_BOUNDS
  )

  readonly #appended = new Counter(
    'patchbay_events_appended_total',
    'Events that were stored for clients with sessions.'
  )

  readonly #replayed = new Counter(
    'patchbay_events_replayed_total',
    'Stored events that were read again for a client that connected.'
  )

  readonly #messages = new Counter('patchbay_node_messages_total', 'Messages to other nodes.', ['kind', 'outcome'])

  constructor () {
    // There from the start, so that their first increase is seen.
    this.#appended.with()
    this.#replayed.with()
  }

  /** Measures a store of this kind. */
  observerOf (kind: Store['kind']): StoreObserver {
    const appended = this.#appended.with()
    const replayed = this.#replayed.with()
    const durations = new Map<string, HistogramSeries>()
    const durationsOf = (op: string): HistogramSeries => {
      const series = durations.get(op) ?? this.#durations.with(op, kind)
      durations.set(op, series)
      return series
    }
    return {
      operation: (op, ms) => durationsOf(op).observe(ms / 1_000),
      appended: () => appended.add(),
      replayed: count => replayed.add(count),
      messageSent: (message, outcome) => this.#messages.with(message, outcome).add()
    }
  }

  metricsOf (store: Store): Metric[] {
    const up = gauge('patchbay_store_up', 'Whether the latest write of the store succeeded.', ['kind'], () => [
      [store.failure === undefined ? 1 : 0, store.kind]
    ])
    return [this.#durations, up, this.#appended, this.#replayed, this.#messages]
  }
}
