import type { LogLevel } from '../wire/log-level.js'
import type { Implementation } from '../revisions/revision.js'

/**
 * The agreement of one handshake, besides the revision. Every call keeps the conversation it was asked in: a later
 * handshake on the same connection opens another, and changes nothing for calls that are still being answered.
 */
export interface Conversation {
  client: Implementation | undefined
  capabilities: Record<string, unknown>
  logLevel: LogLevel
  /** True once another has been opened in its place. */
  replaced: boolean
  /** When it was opened, on the monotonic clock; undefined for one that an earlier process opened. */
  openedAt?: number
}

/** Before any handshake: one and the same for all peers. */
export const NO_CONVERSATION: Readonly<Conversation> = Object.freeze({
  client: undefined,
  capabilities: Object.freeze({}),
  logLevel: 'warning',
  replaced: false
})

/** Why a call of a conversation that is over cannot ask its client. */
export const REINITIALIZED = 'it has sent initialize again since this request'
