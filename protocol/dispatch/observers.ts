import { randomUUID } from 'node:crypto'
import type { Call } from './call.js'
import type { CallOutcome } from './outcome.js'
import { errors, isMcpError, type McpError } from '../wire/errors.js'
import { Listeners, type Report } from '../../lib/listeners.js'
import type { LogLevel } from '../wire/log-level.js'
import type { Peer } from '../peer/peer.js'

export type CallListener = (call: Call) => void
export type EndListener = (call: Call, outcome: CallOutcome) => void
/** Hears of what calls log and of what handlers throw unexpectedly. */
export type LogSink = (level: LogLevel, data: unknown, call?: Call) => void
export type PeerListener = (peer: Peer) => void

/** Those who hear of what the dispatcher does. One that fails is reported to the log and harms neither a call nor the others. */
export class Observers {
  readonly begin = new Listeners<Parameters<CallListener>>(this.reporting('onBegin'))
  readonly end = new Listeners<Parameters<EndListener>>(this.reporting('onEnd'))
  readonly drain = new Listeners<[]>(this.reporting('onDrain'))
  readonly reopen = new Listeners<Parameters<PeerListener>>(this.reporting('onReopen'))
  /** A sink that fails is reported to the others: itself it is marked as failed already. */
  readonly log = new Listeners<Parameters<LogSink>>(this.reporting('onLog'))

  /** Reports listeners of single peers. */
  readonly ofPeer = this.reporting('peer')

  /** What reports a listener that failed; `of` is what it listens to. */
  reporting (of: string): Report {
    return error => this.log.notify('error', { err: error, listener: of })
  }

  /** What a client may be told of an error. The text of one that is not ours never leaves the process; the client gets an id to ask about. */
  mcpError (error: unknown): McpError {
    if (isMcpError(error)) return error
    const correlation = randomUUID()
    this.log.notify('error', { correlation, err: error })
    return errors.internal(correlation)
  }
}
