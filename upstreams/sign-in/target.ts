import { isConfidential } from '../../lib/network.js'
import type { ServerEntry } from '../server-entry.js'
import { probe, type Probed } from './discovery.js'
import { GuardedFetch, rangeOfHost, SignInFailed } from './guarded-fetch.js'

type RemoteEntry = ServerEntry & { readonly address: Exclude<ServerEntry['address'], { kind: 'stdio' | 'openapi' }> }

/** The server as it is asked for a sign-in. */
export interface Target { readonly url: URL, readonly guarded: GuardedFetch, readonly kind: RemoteEntry['address']['kind'] }

/** Throws in words for a server that takes no sign-in. */
export async function targetOf ({ address, oauth: settings }: ServerEntry): Promise<Target> {
  if (address.kind === 'stdio') throw new SignInFailed('is a program on this machine, which signs in by itself')
  if (address.kind === 'openapi') throw new SignInFailed('is an API, to which no person signs in; put a credential into its entry')
  if (hasAuthorization(address)) throw new SignInFailed('has the header Authorization in its configuration, which is used')
  if (settings?.grant === 'client_credentials') throw new SignInFailed('is signed in to by the gateway itself, with client credentials')
  const url = new URL(address.url.replace(/^ws/, 'http'))
  if (!isConfidential(url)) throw new SignInFailed('has an http URL, over which tokens could be read; use https')
  return { url, guarded: new GuardedFetch(await rangeOfHost(url)), kind: address.kind }
}

/** True where the configuration has a credential of its own. */
export const hasAuthorization = ({ headers }: RemoteEntry['address']): boolean =>
  Object.keys(headers).some(name => name.toLowerCase() === 'authorization')

/** Asks the server whether it wants a sign-in. */
export async function probeServer (target: Target, token?: string, signal?: AbortSignal): Promise<Probed> {
  const { guarded, url, kind } = target
  const isStream = kind === 'sse' || kind === 'websocket'
  const first = await probe(guarded, url, { isStream, token, signal })
  // A server that knows HTTP+SSE alone refuses the POST for another reason.
  return kind === 'any' && [400, 404, 405].includes(first.status)
    ? await probe(guarded, url, { isStream: true, token, signal })
    : first
}
