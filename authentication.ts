import type { Options } from './options.js'
import { BASIC } from './protocol/identity.js'
import { metadataUrl } from './protocol/protected-resource.js'

/** How callers say who they are, and what those are told who do not. */
export function authentication ({ prefix }: { prefix: string }, { name, apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials }: Options) {
  const metadata = oauth === undefined ? undefined : metadataUrl(oauth.resource, prefix)
  return { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, scopes: oauth?.scopes ?? BASIC, challenger: { realm: name, metadata } }
}
