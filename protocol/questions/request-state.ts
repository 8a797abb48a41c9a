import { createHash } from 'node:crypto'
import { errors } from '../wire/errors.js'
import { canonicalJson, isObject } from '../wire/json.js'
import type { Params } from '../wire/jsonrpc.js'
import type { Sealer } from './seal.js'

const PURPOSE = 'requestState'
/** How long a state is accepted where nothing else is said, in milliseconds. */
export const STATE_LIFETIME = 10 * 60_000

/** The members of a call that a state is bound to. */
export interface Bound {
  readonly method: string
  readonly params: Params
  readonly principal: string | undefined
  readonly peer: { readonly view?: string | undefined }
}

/** The memory of earlier rounds, for a call that is run again. */
export interface Rounds {
  answers: Record<string, unknown>
  once: Record<string, unknown>
  /** The part that the handler itself put into the state. */
  carried?: unknown
}

/**
 * Everything a retry brings: earlier rounds from the sealed state, and new answers, which count with or without a
 * state.
 */
export function readRounds (sealer: Sealer, call: Bound): Rounds {
  const { inputResponses = {}, requestState } = call.params
  if (!isObject(inputResponses)) throw errors.invalidParams('inputResponses must be an object')
  const earlier: Rounds =
    requestState === undefined
      ? { answers: {}, once: {} }
      : open(sealer, requestState, binding(call))
  return {
    answers: { ...earlier.answers, ...inputResponses },
    once: earlier.once,
    ...(earlier.carried === undefined ? {} : { carried: earlier.carried })
  }
}

/** The state for the next round; it is accepted for `lifetime` milliseconds. */
export function writeRounds (sealer: Sealer, call: Bound, rounds: Rounds, lifetime = STATE_LIFETIME): string {
  return sealer.seal(PURPOSE, { ...rounds, bound: binding(call), expires: Date.now() + lifetime })
}

/**
 * The hash of a request without what changes between its rounds: a state is good for the same method with the same
 * params by the same principal in the same view, and for nothing else. In another view a name may be that of another
 * tool.
 */
export function binding ({ method, params, principal, peer: { view } }: Bound): string {
  const { _meta, inputResponses, requestState, ...own } = params
  return createHash('sha256').update(canonicalJson([method, principal ?? null, view ?? null, own])).digest('base64url')
}

function open (sealer: Sealer, token: unknown, bound: string): Rounds {
  const state =
    typeof token === 'string'
      ? (sealer.open(PURPOSE, token) as (Rounds & { bound: string, expires: number }) | undefined)
      : undefined
  if (state === undefined || state.bound !== bound) throw errors.stateRefused('was not issued for this request')
  if (state.expires < Date.now()) throw errors.stateRefused('has expired; send the request again without it')
  return state
}
