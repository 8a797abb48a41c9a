import { createHash } from 'node:crypto'
import { errors } from '../wire/errors.js'
import { canonicalJson, isObject } from '../wire/json.js'
import type { Params } from '../wire/jsonrpc.js'
import type { Sealer } from './seal.js'

const PURPOSE = 'requestState'
const LIFETIME_MS = 10 * 60_000

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
export function readRounds (sealer: Sealer, method: string, params: Params, principal: string | undefined): Rounds {
  const { inputResponses = {}, requestState } = params
  if (!isObject(inputResponses)) throw errors.invalidParams('inputResponses must be an object')
  const earlier: Rounds =
    requestState === undefined
      ? { answers: {}, once: {} }
      : open(sealer, requestState, binding(method, params, principal))
  return {
    answers: { ...earlier.answers, ...inputResponses },
    once: earlier.once,
    ...(earlier.carried === undefined ? {} : { carried: earlier.carried })
  }
}

/** The state for the next round; it is accepted for `lifetime` milliseconds. */
export function writeRounds (
  sealer: Sealer,
  method: string,
  params: Params,
  principal: string | undefined,
  rounds: Rounds,
  lifetime = LIFETIME_MS
): string {
  return sealer.seal(PURPOSE, { ...rounds, bound: binding(method, params, principal), expires: Date.now() + lifetime })
}

/**
 * The hash of a request without what changes between its rounds: a state is good for the same method with the same
 * params by the same principal, and for nothing else.
 */
export function binding (method: string, params: Params, principal: string | undefined): string {
  const { _meta, inputResponses, requestState, ...own } = params
  return createHash('sha256').update(canonicalJson([method, principal ?? null, own])).digest('base64url')
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
