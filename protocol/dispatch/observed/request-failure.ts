import { RequestCancelled } from '../../peer/outgoing-requests.js'
import { isMcpError } from '../../wire/errors.js'

/** Why a request of ours failed; undefined for one that did not, and for one that we took back because its answer was not wanted any more. */
export function failureOf (error: unknown): unknown {
  if (!(error instanceof RequestCancelled)) return error
  return isMcpError(error.cause) || isTimeout(error.cause) ? error.cause : undefined
}

/** True for what `AbortSignal.timeout` aborts with. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'
