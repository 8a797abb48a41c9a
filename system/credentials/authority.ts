import type { AccessTokens } from './access-token.js'
import { ApiKeys, digestOf, type Holder, type KeyChanges, type ListedKey } from './api-key.js'
import { CredentialRefused } from './credential-error.js'
import { fetchJson } from './fetch-json.js'
import { findJwks } from './issuer.js'
import type { RemoteKeys } from './remote-keys.js'

export interface OAuth { issuer: string, audience: string[], jwks?: string, algorithms?: string[], viewClaim?: string }

export interface AuthorityOptions {
  apiKeys: ListedKey[]
  oauth: OAuth | undefined
  /** Called when the keys of the issuer could not be fetched, and with undefined when they could. */
  onTrouble: (error: Error | undefined) => void
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']

/** The URLs must have passed `isSafe`. Throws a sentence that names the option if a key is wrong. */
export async function openAuthority ({ apiKeys, oauth, onTrouble }: AuthorityOptions): Promise<Authority> {
  const closing = new AbortController()
  return new Authority(new ApiKeys(apiKeys), closing, oauth && await trust(oauth, closing.signal, onTrouble))
}

interface Issuer { keys: RemoteKeys, tokens: AccessTokens }

/** Verifies credentials: API keys of the options, and access tokens of the trusted issuer. */
export class Authority {
  readonly #apiKeys: ApiKeys
  readonly #tokens: AccessTokens | undefined
  readonly #keys: RemoteKeys | undefined
  readonly #closing: AbortController
  /**
   * False if neither keys nor an issuer were set at start. It does not change: a gateway whose last key is removed
   * refuses all callers.
   */
  readonly exists: boolean

  constructor (apiKeys: ApiKeys, closing: AbortController, issuer: Issuer | undefined) {
    this.#apiKeys = apiKeys
    this.#closing = closing
    this.#keys = issuer?.keys
    this.#tokens = issuer?.tokens
    this.exists = issuer !== undefined || apiKeys.size > 0
  }

  /** The holders of the API keys. */
  holders (): Holder[] {
    return this.#apiKeys.holders()
  }

  /** Accepts these keys instead of the present ones. */
  replaceKeys (listed: ListedKey[]): KeyChanges {
    return this.#apiKeys.replace(listed)
  }

  /**
   * The holder of a credential, without a promise where possible. Throws or rejects with `CredentialRefused` or
   * `CredentialUnknowable`.
   */
  recognise (credential: string): Holder | Promise<Holder> {
    const digest = digestOf(credential)
    const holder = this.#apiKeys.find(digest)
    if (holder === undefined && this.#tokens !== undefined) return this.#tokens.verify(credential, digest)
    if (holder === undefined) throw new CredentialRefused('the API key is not known', 'unknown_key')
    if (holder.expires !== undefined && holder.expires <= Date.now()) {
      throw new CredentialRefused('the API key has expired', 'expired_key', { detail: holder.principal })
    }
    return holder
  }

  /**
   * The id of the API key of an identity, by which every node that lists the key finds its holder; undefined where it
   * is of none.
   */
  idOf (identity: object): string | undefined {
    return this.#apiKeys.idOf(identity)
  }

  /** The holder of the API key with that id, with the rights that it has now; undefined where it is not listed. */
  holderOf (id: string): Holder | undefined {
    return this.#apiKeys.holderOf(id)
  }

  /** Reads these claims of access tokens from now on. */
  readClaims (names: readonly string[]): void {
    this.#tokens?.readClaims(names)
  }

  /** True for an identity that an access token gave. */
  isOfToken (identity: object): boolean {
    return this.#tokens?.isHolder(identity) === true
  }

  /** True for a principal of the issuer whose access tokens are accepted. */
  trustsIssuerOf (principal: string): boolean {
    return this.#tokens?.isOfIssuer(principal) === true
  }

  /** Fetches the keys of the issuer before the first request needs them. If that fails, the request tries again. */
  warm (): void {
    this.#keys?.warm()
  }

  close (): void {
    this.#closing.abort(new Error('the server is shutting down'))
  }
}

async function trust (oauth: OAuth, signal: AbortSignal, onTrouble: AuthorityOptions['onTrouble']): Promise<Issuer> {
  // Loaded only where tokens are accepted.
  const [{ AccessTokens }, { RemoteKeys }] = await Promise.all([
    import('./access-token.js'),
    import('./remote-keys.js')
  ])
  const { issuer, audience, algorithms = ALGORITHMS, viewClaim } = oauth
  const keys = new RemoteKeys(loaderOf(oauth, signal), error => { if (!signal.aborted) onTrouble(error) })
  return { keys, tokens: new AccessTokens({ issuer, audience, algorithms, viewClaim }, keys.find) }
}

function loaderOf ({ issuer, jwks }: OAuth, signal: AbortSignal): () => Promise<unknown> {
  const configured = jwks === undefined ? undefined : new URL(jwks)
  let found: URL | undefined
  return async () => {
    const url = configured ?? found ?? await findJwks(issuer, signal)
    // If this fails, the metadata are read again the next time.
    found = undefined
    const keys = await fetchJson(url, signal)
    found = url
    return keys
  }
}
