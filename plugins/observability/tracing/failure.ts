import { codes } from '../../../protocol/wire/errors.js'
import { OTHER, failureOf } from '../../../protocol/dispatch/call-facts.js'

/** How a call or a request failed. */
export interface Failure {
  /** The `error.type`: an error code, or a word of the conventions. */
  readonly type: string
  /** The code of the error that it was answered with. */
  readonly code: string | undefined
  /** True when the span counts as failed. */
  readonly isFault: boolean
}

/** The codes that servers give a meaning. */
const SERVER_ERRORS = { from: -32099, to: -32000 }

/**
 * How a call failed that was answered; undefined for one that did not. A span counts as failed for faults of this side
 * alone.
 */
export function callFailure (outcome: string, code: number | undefined): Failure | undefined {
  if (outcome === 'failed') return { type: 'tool_error', code: undefined, isFault: false }
  if (code === undefined) return undefined
  const isFault = code === codes.internal || (code >= SERVER_ERRORS.from && code <= SERVER_ERRORS.to)
  return { type: String(code), code: String(code), isFault }
}

/** How a request of ours failed that was answered with this result; undefined for one that did not. */
export function resultFailure (result: unknown): Failure | undefined {
  const isError = typeof result === 'object' && result !== null && 'isError' in result && result.isError === true
  return isError ? { type: 'tool_error', code: undefined, isFault: true } : undefined
}

/** How a request of ours failed that was rejected; undefined for one that was taken back. */
export function errorFailure (rejected: unknown): Failure | undefined {
  const error = failureOf(rejected)
  if (error === undefined) return undefined
  const code =
    typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
      ? String(error.code)
      : undefined
  return { type: code ?? OTHER, code, isFault: true }
}
