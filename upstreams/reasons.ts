import { isLoopback } from '../lib/network.js'
import type { Call } from '../protocol/dispatch/call.js'
import { ADMIN_SCOPE } from '../protocol/wire/identity.js'

type Caller = Pick<Call, 'peer' | 'identity' | 'forwarded'>

/** The errors with a reason in place of those without. */
const explained = new WeakMap<object, Error>()

/** The error for every caller; those who may know the reason get `withReason` in its place. */
export function withReason (error: Error, withReason: Error): Error {
  explained.set(error, withReason)
  return error
}

/** The error as this caller may see it. */
export const explainTo = (caller: Caller, error: unknown): unknown =>
  typeof error === 'object' && error !== null && mayKnowReasons(caller) ? explained.get(error) ?? error : error

/**
 * True for operators, and for callers who need no credential and are on this machine: a reason may name programs,
 * folders and addresses.
 */
function mayKnowReasons ({ peer: { transport }, identity, forwarded }: Caller): boolean {
  const { principal, scopes, address } = identity
  if (scopes !== 'all') return scopes.has(ADMIN_SCOPE)
  if (principal !== undefined || transport === 'stdio' || transport === 'memory') return true
  return address !== undefined && isLoopback(address) && !forwarded
}
