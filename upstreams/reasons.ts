import { isLoopback } from '../lib/network.js'
import type { Call } from '../protocol/dispatch/call.js'
import { errors, type McpError } from '../protocol/wire/errors.js'
import { ADMIN_SCOPE } from '../protocol/wire/identity.js'

type Caller = Pick<Call, 'peer' | 'identity' | 'forwarded'>

/** The errors with a reason in place of those without. */
const explained = new WeakMap<object, Error>()

/** The error for every caller; those who may know the reason get `withReason` in its place. */
export function withReason (error: Error, withReason: Error): Error {
  explained.set(error, withReason)
  return error
}

/** Why a sign-in is needed, by the error that says so. Errors of upstreams that look like it are not here. */
const unsigned = new WeakMap<object, string>()

/** The error for callers while a person has to sign in. */
export function signInRequired (alias: string, why: string): McpError {
  const error = errors.signInRequired(alias, why)
  unsigned.set(error, why)
  return error
}

/** Why a sign-in is needed, where that is what an error of ours says. */
export const whyUnsigned = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? unsigned.get(error) : undefined

/** The error as this caller may see it. */
export const explainTo = (caller: Caller, error: unknown): unknown =>
  typeof error === 'object' && error !== null && mayKnowReasons(caller) ? explained.get(error) ?? error : error

/**
 * True for operators, and for callers who need no credential and are on this machine: a reason may name programs,
 * folders and addresses.
 */
export function mayKnowReasons ({ peer: { transport }, identity, forwarded }: Caller): boolean {
  const { principal, scopes, address } = identity
  if (scopes !== 'all') return scopes.has(ADMIN_SCOPE)
  if (principal !== undefined || transport === 'stdio' || transport === 'memory') return true
  return address !== undefined && isLoopback(address) && !forwarded
}
