import { fromWire, isMcpError, type WireError } from '../../../protocol/wire/errors.js'
import type { RoundOutcome } from './round.js'

/** The outcome of a round as JSON, for another node: an error that is not for clients has a text only, for the log. */
export type CarriedOutcome = RoundOutcome | { readonly error: WireError } | { readonly failure: string }

export function carryError (error: unknown): CarriedOutcome {
  if (!isMcpError(error)) return { failure: String(error) }
  const { code, message, data } = error
  return { error: { code, message, data } }
}

/** Throws the error, if it is one. */
export function takeOutcome (outcome: CarriedOutcome): RoundOutcome {
  if ('error' in outcome) throw fromWire(outcome.error)
  if ('failure' in outcome) throw new Error(`the node that called the upstream server failed: ${outcome.failure}`)
  return outcome
}
