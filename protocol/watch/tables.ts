import type { Activity } from './activities.js'
import type { Health, NodeRow, Refusal, Stats, ToolStats, Unwritten, UpstreamRow } from './batch.js'
import { rowsFor, type Row } from './row.js'

interface Rows { readonly total: number, readonly rows: readonly Row[] }

/** Tables that are sent as a whole, whenever they have changed. */
export interface State {
  readonly inFlight: Rows
  readonly clients: Rows & { readonly sessions: number }
  readonly tools: readonly ToolStats[]
  readonly totals: Stats
  readonly refusals: ReadonlyArray<Unwritten<Refusal>>
  readonly approvals: number
  readonly upstreams: ReadonlyArray<Unwritten<UpstreamRow>>
  readonly nodes: readonly NodeRow[]
  readonly health: Unwritten<Health>
}

/** The state as JSON text by member: encoded once for all watchers, but for rows that are marked for one of them. */
export class Tables {
  readonly #inFlight: Rows
  readonly #clients: State['clients']
  readonly #shared: ReadonlyArray<readonly [name: string, json: string]>

  constructor ({ inFlight, clients, ...shared }: State) {
    this.#inFlight = inFlight
    this.#clients = clients
    this.#shared = Object.entries(shared).map(([name, value]) => [name, JSON.stringify(value)] as const)
  }

  /** As that watcher sees them. */
  for (watcher: Activity): Array<readonly [name: string, json: string]> {
    const { total, sessions } = this.#clients
    return [
      ['inFlight', `{"total":${this.#inFlight.total},"rows":${rowsFor(this.#inFlight.rows, watcher)}}`],
      ['clients', `{"total":${total},"sessions":${sessions},"rows":${rowsFor(this.#clients.rows, watcher)}}`],
      ...this.#shared
    ]
  }
}
