import type { Call } from '../../../protocol/dispatch/call.js'
import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

/**
 * Our part of the sealed `requestState` of a relayed call: the seal binds it to the method, the params and the
 * principal.
 */
export interface CarriedState {
  /** The alias: a name may lead to another upstream on another URL, or after a change of the configuration. */
  readonly upstream: string
  /** The state of a stateless upstream, exactly; undefined when it gave none. */
  readonly state?: string | undefined
  readonly parked?: ParkedAt | undefined
  /** The id of the task that the call became at the upstream. */
  readonly task?: string | undefined
}

/**
 * The parked call that waits for the answers, and the process in which it waits; the node, where others can reach that.
 */
export interface ParkedAt { readonly parkedId: string, readonly nonce: string, readonly node?: string | undefined }

/**
 * Reads what an earlier round of this request left; undefined for a first request, and where only the gateway itself
 * has asked, as for an approval. Throws when its state is not one for this upstream.
 */
export function carriedState (call: Call, upstream: string): CarriedState | undefined {
  if (!call.revision.stateless || call.params.requestState === undefined) return undefined
  const { carried } = call.clientRequests
  if (carried === undefined) return undefined
  if (!isObject(carried) || carried.upstream !== upstream) throw errors.stateRefused('was not issued for this request')
  return carried as unknown as CarriedState
}

/** The answers of this round without those that questions of the gateway itself have taken; undefined for none. */
export function answersFor ({ params: { inputResponses }, clientRequests: { taken } }: Call): Params | undefined {
  if (!isObject(inputResponses) || taken.size === 0) return inputResponses as Params | undefined
  const left = Object.entries(inputResponses).filter(([key]) => !taken.has(key))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** The `requestState` that brings it back. */
export const carryState = (call: Call, state: CarriedState, lifetime?: number): string =>
  call.clientRequests.carry(state, lifetime)
