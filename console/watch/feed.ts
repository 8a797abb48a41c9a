import { batch, signal, type Signal } from '@preact/signals'
import type {
  Clients,
  EndedCall,
  GatewayFacts,
  Health,
  InFlight,
  NodeRow,
  Refusal,
  Second,
  Stats,
  ToolStats,
  UpstreamRow,
  WatchBatch
} from '../client/watch-batch.js'

export const MAX_CALLS = 1000
export const MAX_SECONDS = 300

/** A call that has ended, with a number that grows by one with each. */
export interface CallRow extends EndedCall { number: number }

interface FeedState {
  gateway: GatewayFacts | undefined
  /** How far the clock of the gateway is ahead of the page's, in milliseconds; `-Infinity` before the first batch. */
  ahead: number
  /** Oldest first. */
  calls: readonly CallRow[]
  /** Ended calls that the gateway left out, in all. */
  dropped: number
  /** Oldest first; seconds in which the gateway's machine slept are absent. */
  seconds: readonly Second[]
  inFlight: InFlight
  tools: readonly ToolStats[]
  totals: Stats
  clients: Clients
  refusals: readonly Refusal[]
  upstreams: readonly UpstreamRow[]
  nodes: readonly NodeRow[]
  health: Health | undefined
}

export type FeedSignals = { readonly [Part in keyof FeedState]: Signal<FeedState[Part]> }

const WHOLE = ['gateway', 'inFlight', 'tools', 'totals', 'clients', 'refusals', 'upstreams', 'nodes', 'health'] as const

/**
 * Folds batches into one state of bounded size. `take` is cheap and draws nothing; `publish` puts what has changed into
 * the signals, so that a page draws once for all batches that came since.
 */
export class Feed {
  readonly signals: FeedSignals
  #state = emptyState()
  #changed = new Set<keyof FeedState>()
  #watch: string | number | undefined
  #lastNumber = 0

  constructor () {
    this.signals = Object.fromEntries(
      Object.entries(this.#state).map(([part, value]) => [part, signal(value)])
    ) as unknown as FeedSignals
  }

  /** Returns false for a batch of another watch, such as one that was ended when this began. */
  take (received: WatchBatch, now = Date.now()): boolean {
    if (received.gateway !== undefined) this.#begin(received.requestId)
    if (received.requestId !== this.#watch) return false
    // A batch travels for a while, so the one that took the shortest tells most.
    if (received.at - now > this.#state.ahead) this.#set('ahead', received.at - now)
    for (const part of WHOLE) if (received[part] !== undefined) this.#set(part, received[part])
    if (received.ended !== undefined) this.#addCalls(received.ended)
    if (received.dropped !== undefined) this.#set('dropped', this.#state.dropped + received.dropped)
    if (received.seconds !== undefined) {
      this.#set('seconds', latest([...this.#state.seconds, ...received.seconds], MAX_SECONDS))
    }
    return true
  }

  publish (): void {
    batch(() => { for (const part of this.#changed) this.#copy(part) })
    this.#changed.clear()
  }

  #begin (watch: string | number): void {
    this.#watch = watch
    this.#state = emptyState()
    this.#changed = new Set(Object.keys(this.#state) as Array<keyof FeedState>)
  }

  #addCalls (ended: EndedCall[]): void {
    const rows = ended.map(call => ({ ...call, number: ++this.#lastNumber }))
    this.#set('calls', latest([...this.#state.calls, ...rows], MAX_CALLS))
  }

  #set<Part extends keyof FeedState> (part: Part, value: FeedState[Part]): void {
    this.#state[part] = value
    this.#changed.add(part)
  }

  #copy<Part extends keyof FeedState> (part: Part): void {
    (this.signals[part] as Signal<FeedState[Part]>).value = this.#state[part]
  }
}

function latest<T> (all: T[], most: number): T[] {
  return all.length > most ? all.slice(-most) : all
}

const emptyState = (): FeedState => ({
  gateway: undefined,
  ahead: -Infinity,
  calls: [],
  dropped: 0,
  seconds: [],
  inFlight: { total: 0, rows: [] },
  tools: [],
  totals: { calls: 0, errors: 0, p50: 0, p95: 0, p99: 0 },
  clients: { total: 0, sessions: 0, rows: [] },
  refusals: [],
  upstreams: [],
  nodes: [],
  health: undefined
})
