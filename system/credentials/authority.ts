import type { AccessTokens } from './access-token.js'
import { ApiKeys, digestOf, type Holder, type KeyChanges, type ListedKey } from './api-key.js'
import { CredentialRefused } from './credential-error.js'
import { fetchJson } from './fetch-json.js'
import { findJwks } from './issuer.js'
import type { RemoteKeys } from './remote-keys.js'

export interface OAuth { issuer: string, audience: string[], jwks?: string, algorithms?: string[] }

export interface AuthorityOptions {
  apiKeys: ListedKey[]
  oauth: OAuth | undefined
  /** Hears why the keys of the issuer could not be fetched, and that they could when there is no error. */
  onTrouble: (error: Error | undefined) => void
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']

/** The URLs are those that `isSafe` lets pass. Throws a sentence that names the option when a key makes no sense. */
export async function openAuthority ({ apiKeys, oauth, onTrouble }: AuthorityOptions): Promise<Authority> {
  const closing = new AbortController()
  return new Authority(new ApiKeys(apiKeys), closing, oauth && await trust(oauth, closing.signal, onTrouble))
}

interface Issuer { keys: RemoteKeys, tokens: AccessTokens }

/** Knows whom a credential speaks for: an API key that is listed, or an access token of the issuer that is trusted. */
export class Authority {
  readonly #apiKeys: ApiKeys
  readonly #tokens: AccessTokens | undefined
  readonly #keys: RemoteKeys | undefined
  readonly #closing: AbortController
  /** False where neither keys nor an issuer were set at start. It does not change: a gateway whose last key is removed lets no caller in. */
  readonly exists: boolean

  constructor (apiKeys: ApiKeys, closing: AbortController, issuer: Issuer | undefined) {
    this.#apiKeys = apiKeys
    this.#closing = closing
    this.#keys = issuer?.keys
    this.#tokens = issuer?.tokens
    this.exists = issuer !== undefined || apiKeys.size > 0
  }

  /** Accepts these keys instead of the present ones. */
  replaceKeys (listed: ListedKey[]): KeyChanges {
    return this.#apiKeys.replace(listed)
  }

  /** At once where that is possible. Throws or rejects with `CredentialRefused`, or `CredentialUnknowable`. */
  recognise (credential: string): Holder | Promise<Holder> {
    const digest = digestOf(credential)
    const holder = this.#apiKeys.find(digest)
    if (holder === undefined && this.#tokens !== undefined) return this.#tokens.verify(credential, digest)
    if (holder === undefined) throw new CredentialRefused('the API key is not known', 'unknown_key')
    if (holder.expires !== undefined && holder.expires <= Date.now()) throw new CredentialRefused('the API key has expired', 'expired_key', { detail: holder.principal })
    return holder
  }

  /** Gets what is needed from the network before anybody waits for it. When that fails it is tried again on use. */
  warm (): void {
    this.#keys?.warm()
  }

  close (): void {
    this.#closing.abort(new Error('the server is shutting down'))
  }
}

async function trust (oauth: OAuth, signal: AbortSignal, onTrouble: AuthorityOptions['onTrouble']): Promise<Issuer> {
  // What verifies tokens is loaded by those who accept them.
  const [{ AccessTokens }, { RemoteKeys }] = await Promise.all([import('./access-token.js'), import('./remote-keys.js')])
  const { issuer, audience, algorithms = ALGORITHMS } = oauth
  const keys = new RemoteKeys(loaderOf(oauth, signal), error => { if (!signal.aborted) onTrouble(error) })
  return { keys, tokens: new AccessTokens({ issuer, audience, algorithms }, keys.find) }
}

function loaderOf ({ issuer, jwks }: OAuth, signal: AbortSignal): () => Promise<unknown> {
  const said = jwks === undefined ? undefined : new URL(jwks)
  let found: URL | undefined
  return async () => {
    const place = said ?? found ?? await findJwks(issuer, signal)
    // Looked for anew when it cannot be used.
    found = undefined
    const keys = await fetchJson(place, signal)
    found = place
    return keys
  }
}
