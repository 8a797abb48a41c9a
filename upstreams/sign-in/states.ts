import type { ServerEntry } from '../server-entry.js'
import type { SignInState } from './person.js'
import { hasAuthorization, probeServer, targetOf } from './target.js'
import { SHARED, signInKey, type SignIn, type SignIns } from './sign-ins.js'
import { revoke } from './token-requests.js'

/** The sign-ins of the servers that may want one: those with a URL and no credential of their own. */
export async function statesOf (
  entries: readonly ServerEntry[],
  signIns: SignIns,
  signal: AbortSignal
): Promise<SignInState[]> {
  const remote = entries.filter(({ address, disabled, oauth }) =>
    address.kind !== 'stdio' && address.kind !== 'openapi' && !disabled && !hasAuthorization(address) && oauth?.grant !== 'client_credentials')
  return await Promise.all(remote.map(async entry => await stateOf(entry, signIns, signal)))
}

/** Statuses of servers that read a request without a token, and know its form or its revision not. */
const SERVED = new Set([400, 405, 406, 415])

async function stateOf (entry: ServerEntry, signIns: SignIns, signal: AbortSignal): Promise<SignInState> {
  const { alias } = entry
  const key = signInKey(entry)
  try {
    if (entry.auth === 'caller') {
      const server = signInKey(entry, '')
      const keys = await signIns.keysOf(alias)
      const { length: callers } = keys.filter(key => key.startsWith(server) && key !== server + SHARED)
      return { alias, state: callers > 0 ? 'signed in' : 'needs sign-in', callers }
    }
    const signIn = await signIns.load(key)
    if (signIn !== undefined) return withWanted(describe(alias, signIn), await signIns.wanted(key))
    const { status, challenge, isUnknownMethod } = await probeServer(await targetOf(entry), undefined, signal)
    if (status === 401 || (status === 403 && challenge !== undefined)) return { alias, state: 'needs sign-in' }
    if (status < 300 || isUnknownMethod || SERVED.has(status)) return { alias, state: 'needs none' }
    const hint = status < 500 && status !== 429 ? '; see that its "url" is right' : ''
    return { alias, state: 'unknown', why: `it answered with status ${status}${hint}` }
  } catch (error) {
    return { alias, state: 'unknown', why: (error as Error).message }
  }
}

function describe (alias: string, signIn: SignIn): SignInState {
  const { issuer, scopes, accessToken, refreshToken, expiresAt } = signIn
  const isRenewable = refreshToken !== undefined
  const isOver = accessToken === undefined || (!isRenewable && expiresAt !== undefined && expiresAt <= Date.now())
  return {
    alias,
    state: isOver ? 'needs sign-in' : 'signed in',
    ...(isOver && { why: 'the last one has expired' }),
    issuer,
    scopes,
    ...(expiresAt !== undefined && { expiresAt }),
    isRenewable
  }
}

const withWanted = (state: SignInState, wanted: readonly string[]): SignInState =>
  wanted.length === 0 ? state : { ...state, state: 'needs sign-in', why: `it asks for the scopes ${wanted.join(' ')}` }

/** Removes the sign-ins of a server, of all owners or of one, under all addresses that it had. */
export async function signOut (
  alias: string,
  entry: ServerEntry | undefined,
  signIns: SignIns,
  owner?: string
): Promise<{ issuers: string[], notRevoked: string[] }> {
  const [issuers, notRevoked]: [string[], string[]] = [[], []]
  const all = await signIns.keysOf(alias)
  for (const key of owner === undefined ? all : all.filter(key => key.endsWith(`/${owner}`))) {
    const former = await signIns.remove(key)
    issuers.push(former?.issuer ?? 'unknown')
    if (former === undefined || entry === undefined || entry.address.kind === 'stdio') continue
    const url = new URL(entry.address.url.replace(/^ws/, 'http'))
    await revoke(former, url).catch((error: Error) => notRevoked.push(error.message))
  }
  return { issuers, notRevoked }
}
