// The params of `notifications/patchbay/watch`. Types alone: the console, which shares no code with the gateway, is
// compiled against them, too.

/** The method that is called to watch, and the notification of each batch. */
export type WatchMethod = 'patchbay/watch'
export type BatchMethod = 'notifications/patchbay/watch'

/** A value before it is JSON, which leaves out the members that are undefined. */
export type Unwritten<T> = { [K in keyof T]: T extends Record<K, T[K]> ? T[K] : T[K] | undefined }

/** The target of a call. */
export interface Subject { method?: string, tool?: string, prompt?: string, resource?: string, upstream?: string }

/** `own` marks the rows of the watcher's own client. */
interface Caller { principal?: string, client?: string, transport: string, revision: string, own?: true }

/** A call that has ended. */
export interface EndedCall extends Subject, Caller {
  at: number
  ms: number
  outcome: string
  rule?: string
  code?: number
}

/** A call that is not answered yet. */
export interface CallInFlight extends Subject, Caller {
  key: string
  startedAt: number
  progress?: number
  total?: number
  question?: string
}

/**
 * Counts of calls and of those that failed, and what half, 95 % and 99 % of them took at most, to 7 %, in milliseconds.
 */
export interface Stats { calls: number, errors: number, p50: number, p95: number, p99: number }

/** The calls of one tool. */
export interface ToolStats extends Stats { name: string }

/** One second, by the time at which it began, in milliseconds since 1970. */
export interface Second extends Stats { at: number }

/** A client that is connected or has a session. */
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

/** Refusals of one reason in the last five minutes. */
export interface Refusal { reason: string, status?: number, count: number, last: number }

/** An upstream server. */
export interface UpstreamRow {
  alias: string
  state: string
  since?: number
  /** From a failure until it is ready again. */
  failing?: true
  nextTryAt?: number
  lastError?: string
  lastLines?: readonly string[]
  tools?: number
  /** How many entries of its lists are listed in another form, because clients would refuse them. */
  repaired?: number
  /** Sentences about entries that are left out of its lists, and why. */
  warnings?: readonly string[]
  pins?: PinRow
}

/** How what a server offers differs from what was accepted of it, and what readers of that may miss, in sentences. */
export interface PinRow { mode: 'report' | 'hold', differences: readonly string[], marks: readonly string[] }

/** A node of the store. */
export interface NodeRow { id: string, self: boolean }

/** The state of the gateway. */
export interface Health { status: string, ready: boolean, reason?: string, parts?: Record<string, unknown> }

/** The gateway itself. */
export interface GatewayFacts { name: string, version: string, node?: string, startedAt: number }

/** The calls in flight; the rows are the first of them. */
export interface InFlight { total: number, rows: CallInFlight[] }

/** The clients; the rows are those that called last. */
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
  /** Another number whenever a call began or ended to wait for an operator. */
  approvals?: number
  upstreams?: UpstreamRow[]
  nodes?: NodeRow[]
  health?: Health
}
