import { createHash } from 'node:crypto'
import type { Call } from '../../protocol/dispatch/call.js'
import type { ServerEntry } from '../server-entry.js'
import { SHARED } from './sign-ins.js'

/** The owner of sign-ins of the client on standard input, and of people at a terminal. */
export const LOCAL = 'local'

/** Why a call to a server that each caller signs in to is refused where it is not known who calls. */
export const UNKNOWN_CALLER =
  'each caller signs in to it, and this gateway does not know who calls: have callers identify themselves (options apiKeys, oauth), or set "auth": "shared"'

/** The owner of the sign-ins of one principal, whose name may have any characters. */
export const ownerNamed = (principal: string): string =>
  `caller-${createHash('sha256').update(principal).digest('base64url').slice(0, 22)}`

/** Whose sign-in a call uses; undefined where each caller needs its own and it is not known who calls. */
export function ownerOf (
  { auth }: Pick<ServerEntry, 'auth'>,
  { principal, local }: Pick<Call, 'principal' | 'local'>
): string | undefined {
  if (auth !== 'caller') return SHARED
  return principal !== undefined ? ownerNamed(principal) : local ? LOCAL : undefined
}
