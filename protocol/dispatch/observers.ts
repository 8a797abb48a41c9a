import { randomUUID } from 'node:crypto'
import { Listeners, type Report } from '../../lib/listeners.js'
import type { Peer } from '../peer/peer.js'
import type { TaskListener } from '../tasks/task-record.js'
import { errors, isMcpError, type McpError, type Refusal, type RefusalReason } from '../wire/errors.js'
import type { LogLevel } from '../wire/log-level.js'
import type { Call } from './call.js'
import type { CallOutcome } from './call-response.js'

export type CallListener = (call: Call) => void
export type EndListener = (call: Call, outcome: CallOutcome) => void
export type ProgressListener = (call: Call, done: number, total: number | undefined) => void
/** Gets what calls log, and errors that handlers throw unexpectedly. */
export type LogListener = (level: LogLevel, data: unknown, call?: Call) => void
/** Gets each message, request or connection that is refused before anything is done for it. */
export type RefusalListener = (refusal: Refusal) => void
/**
 * How a question to a client ended; `deferred` when it left with the result of its call, whose client answers it with
 * another call.
 */
export interface QuestionEnd {
  readonly method: string
  readonly outcome: 'answered' | 'error' | 'cancelled' | 'deferred'
  readonly ms: number
}
export type QuestionListener = (question: QuestionEnd) => void

/**
 * How a request to an upstream server ended; `failed` when its result reports a failure. `server` is another object
 * once a reload has changed the server.
 */
export interface UpstreamRequestEnd {
  readonly upstream: string
  readonly server: object
  readonly method: string
  readonly ms: number
  readonly failed: boolean
  readonly error: unknown
}

export type PeerListener = (peer: Peer) => void

/** An error that no handler foresaw, and where it happened. */
export interface Fault {
  err: unknown
  /** The id that the client got with an internal error. */
  correlation?: string
  /** The event that the listener which threw listens to. */
  listener?: string
  /** The method of the notification whose handler threw. */
  notification?: string
}

// A value that a handler logs may have the members of a fault; it is none.
const faults = new WeakSet<object>()

/** True for a fault that the dispatcher reported, not for anything that a handler logged. */
export const isFault = (data: unknown): data is Fault => typeof data === 'object' && data !== null && faults.has(data)

/**
 * Listeners to what the dispatcher does. One that throws is reported to the log and harms neither a call nor the
 * others.
 */
export class Observers {
  /** Each call when it comes, before anything is checked. */
  readonly begin = new Listeners<Parameters<CallListener>>(this.reporter('onBegin'))
  /** Each call when it is answered or given up, and its outcome. */
  readonly end = new Listeners<Parameters<EndListener>>(this.reporter('onEnd'))
  /** The progress that calls report, whether or not their clients want to hear of it. */
  readonly progress = new Listeners<Parameters<ProgressListener>>(this.reporter('onProgress'))
  /** A client that sends `initialize` again, before what it agreed on is forgotten. */
  readonly reinitialize = new Listeners<Parameters<PeerListener>>(this.reporter('onReinitialize'))
  /** Each message, request or connection that is refused before anything is done for it. */
  readonly refusal = new Listeners<Parameters<RefusalListener>>(this.reporter('onRefusal'))
  /** A client with a handshake that has disconnected, or whose session has ended. */
  readonly disconnect = new Listeners<Parameters<PeerListener>>(this.reporter('onDisconnect'))
  /** Each question to a client when it is answered or given up, or when it leaves with the result of its call. */
  readonly question = new Listeners<Parameters<QuestionListener>>(this.reporter('onQuestion'))
  /** Each call that is answered before it ends, because it outlasts the patience of its client. */
  readonly earlyAnswer = new Listeners<[call: Call]>(this.reporter('onEarlyAnswer'))
  /** Each task that is created or ended at this node. */
  readonly task = new Listeners<Parameters<TaskListener>>(this.reporter('onTask'))
  /** Each attempt to resume a stream. */
  readonly resume = new Listeners<[outcome: 'ok' | 'gone' | 'exhausted']>(this.reporter('onResume'))
  /** Each request to an upstream server when it is answered or has failed. */
  readonly upstreamRequest = new Listeners<[request: UpstreamRequestEnd]>(this.reporter('onUpstreamRequest'))
  /** A log listener that throws is reported to the others. */
  readonly log = new Listeners<Parameters<LogListener>>(this.reporter('onLog'))

  /** Reports a listener of a single peer that threw. */
  readonly reportPeerListener = this.reporter('peer')

  /** Makes a function that logs the error of a listener; `of` is what it listens to. */
  reporter (of: string): Report {
    return error => this.reportFault({ err: error, listener: of })
  }

  /** Logs an error that no handler foresaw. */
  reportFault (fault: Fault, call?: Call): void {
    faults.add(fault)
    this.log.notify('error', fault, call)
  }

  /** Tells the listeners of an error that is a refusal; `status` is that of the HTTP reply, where there is one. */
  reportRefusal ({ refusal: reason }: { refusal?: RefusalReason | undefined }, status?: number): void {
    if (reason !== undefined) this.refusal.notify({ reason, status })
  }

  /** Responds with an error of ours as it is, and with any other as an internal error. */
  respondWith (error: unknown, respond: (sent: McpError) => void): void {
    if (isMcpError(error)) respond(error)
    else this.respondInternal(error, respond)
  }

  /**
   * Responds with an internal error. The text of `error` goes to the log only; the client gets a correlation id to ask
   * about.
   */
  respondInternal (error: unknown, respond: (sent: McpError) => void, call?: Call): void {
    const correlation = call?.correlation ?? randomUUID()
    if (call !== undefined) call.correlation = correlation
    respond(errors.internal(correlation))
    this.reportFault({ correlation, err: error }, call)
  }
}
