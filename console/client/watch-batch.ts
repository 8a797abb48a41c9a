/** Types of the message that the gateway sends to those who watch: `notifications/patchbay/watch`. */

export interface Subject { method?: string, tool?: string, prompt?: string, resource?: string, upstream?: string }

interface Caller { principal?: string, client?: string, transport: string, revision: string, own?: true }

export interface EndedCall extends Subject, Caller { at: number, ms: number, outcome: string, code?: number }

export interface CallInFlight extends Subject, Caller { key: string, startedAt: number, progress?: number, total?: number, question?: string }

/** Times in milliseconds. */
export interface Stats { calls: number, errors: number, p50: number, p95: number, p99: number }

export interface ToolStats extends Stats { name: string }

export interface Second extends Stats { at: number }

export interface ClientRow {
  key: string
  client?: string
  principal?: string
  transport: string
  revision?: string
  session: boolean
  since: number
  inFlight: number
  lastCallAt?: number
  own?: true
}

export interface Refusal { reason: string, status?: number, count: number, last: number }

export interface UpstreamRow {
  alias: string
  state: string
  since?: number
  /** From a failure until it is ready again. */
  failing?: true
  nextTryAt?: number
  lastError?: string
  lastLines?: string[]
  tools?: number
  /** How many entries of its lists are listed in another form, because clients would refuse them. */
  repaired?: number
  /** Sentences about entries that are left out of its lists, and why. */
  warnings?: string[]
}

export interface NodeRow { id: string, self: boolean }

export interface Health { status: string, ready: boolean, reason?: string, parts?: Record<string, unknown> }

export interface GatewayFacts { name: string, version: string, node?: string, startedAt: number }

export interface InFlight { total: number, rows: CallInFlight[] }

export interface Clients { total: number, sessions: number, rows: ClientRow[] }

/** A part that is absent has not changed; `ended` and `seconds` are added to what was sent before. */
export interface WatchBatch {
  requestId: string | number
  /** By the clock of the gateway, as all times here. */
  at: number
  /** In the first batch of a watch only. */
  gateway?: GatewayFacts
  ended?: EndedCall[]
  dropped?: number
  seconds?: Second[]
  inFlight?: InFlight
  tools?: ToolStats[]
  totals?: Stats
  clients?: Clients
  refusals?: Refusal[]
  upstreams?: UpstreamRow[]
  nodes?: NodeRow[]
  health?: Health
}

export const WATCH = 'patchbay/watch'
export const WATCH_BATCH = 'notifications/patchbay/watch'
