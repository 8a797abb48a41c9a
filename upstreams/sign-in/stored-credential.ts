import { isConfidential } from '../../lib/network.js'
import { SignInRequired, type AccessRefused, type Credential } from '../../transports/client/credential.js'
import type { ApiCredentials, OAuthSettings, ServerEntry } from '../server-entry.js'
import { ClientCredential } from './client-credential.js'
import { SHARED, signInKey, type SignIn, type SignIns } from './sign-ins.js'

const NONE = 'there is none yet'
const EXPIRED = 'the last one has expired'
const REFUSED = 'the server does not accept the last one'

/** The credential of one server and owner, as it is stored: it is renewed when the server refuses it. */
export class StoredCredential implements Credential {
  readonly #signIns: SignIns
  readonly #key: string
  readonly #upstream: URL
  #signIn: SignIn | undefined
  #renewing: Promise<void> | undefined
  /** Why there is none, where the store or its key cannot be used. */
  #trouble: string | undefined

  constructor (signIns: SignIns, entry: ServerEntry, url: string, owner = SHARED) {
    this.#signIns = signIns
    this.#key = signInKey(entry, owner)
    this.#upstream = new URL(url.replace(/^ws/, 'http'))
  }

  get key (): string {
    return this.#key
  }

  get token (): string | undefined {
    return this.#signIn?.accessToken
  }

  get signedInAt (): number | undefined {
    return this.#signIn?.signedInAt
  }

  get absence (): string {
    return this.#signIn === undefined ? this.#trouble ?? NONE : EXPIRED
  }

  /** The texts that are to be hidden wherever the server is written about. */
  get secrets (): string[] {
    const { accessToken, refreshToken, client } = this.#signIn ?? {}
    return [accessToken, refreshToken, client?.secret].filter(text => text !== undefined)
  }

  async load (): Promise<void> {
    try {
      this.#signIn = await this.#signIns.load(this.#key)
      this.#trouble = undefined
    } catch (error) {
      // The store may be away for a moment; what is known goes on being used.
      this.#trouble = (error as Error).message
    }
  }

  async renew (refusal: AccessRefused): Promise<void> {
    if (!refusal.wasSentWith(this.token)) return
    if (refusal.status === 403) return await this.#stepUp(refusal)
    this.#renewing ??= this.#renew(refusal).finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
  }

  async #renew (refusal: AccessRefused): Promise<void> {
    await this.load()
    const signIn = this.#signIn
    if (signIn?.accessToken === undefined) throw new SignInRequired(this.absence)
    if (!refusal.wasSentWith(signIn.accessToken)) return
    if (signIn.refreshToken === undefined) throw new SignInRequired(isExpired(signIn) ? EXPIRED : REFUSED)
    // Loaded only now: most gateways never renew a token.
    const { refresh, GrantRefused } = await import('./token-requests.js')
    let isRefused = false
    this.#signIn = await this.#signIns.replace(this.#key, signIn.accessToken, async present => {
      try {
        return renewed(present, await refresh(present, this.#upstream))
      } catch (error) {
        if (!(error instanceof GrantRefused)) throw error
        isRefused = true
        return { ...present, accessToken: undefined, refreshToken: undefined }
      }
    }).catch((error: Error) => {
      throw new Error(`its token has expired and could not be renewed now: ${error.message}`)
    })
    if (isRefused || this.token === undefined) throw new SignInRequired(EXPIRED)
  }

  /** More scopes cannot be had without a person, unless one has signed in anew meanwhile. */
  async #stepUp (refusal: AccessRefused): Promise<void> {
    await this.load()
    if (!refusal.wasSentWith(this.token)) return
    const scopes = refusal.challenge?.scopes ?? []
    await this.#signIns.want(this.#key, scopes).catch(() => {})
    throw new SignInRequired(
      scopes.length === 0 ? 'it asks for more scopes' : `it asks for ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(' ')}`
    )
  }
}

/**
 * The credential of a server; undefined for programs, and where the configuration has one, or tokens would go over the
 * network unencrypted.
 */
export function credentialOf (
  entry: ServerEntry,
  signIns: SignIns | undefined,
  owner = SHARED
): StoredCredential | ClientCredential | undefined {
  const { address, oauth } = entry
  if (address.kind === 'openapi') return apiCredential(address.credentials)
  if (address.kind === 'stdio' || !URL.canParse(address.url)) return undefined
  const isConfigured = Object.keys(address.headers).some(name => name.toLowerCase() === 'authorization')
  if (isConfigured || !isConfidential(new URL(address.url))) return undefined
  if (oauth?.grant === 'client_credentials') return clientCredential(oauth, address.url)
  return signIns === undefined ? undefined : new StoredCredential(signIns, entry, address.url, owner)
}

// The requests for tokens are loaded with the first of them, with their library.
/** The credential of an MCP server that the gateway signs in to by itself. */
export function clientCredential (settings: OAuthSettings, url: string, pause?: number): ClientCredential {
  const upstream = new URL(url.replace(/^ws/, 'http'))
  return new ClientCredential(
    async challenge => await (await import('./client-grant.js')).obtainToken(settings, upstream, challenge),
    settings.clientSecret,
    pause
  )
}

function apiCredential (settings: ApiCredentials | undefined): ClientCredential | undefined {
  if (settings === undefined) return undefined
  const obtain = async () => await (await import('./client-grant.js')).obtainApiToken(settings)
  return new ClientCredential(obtain, settings.clientSecret)
}

const isExpired = ({ expiresAt = Infinity }: SignIn): boolean => expiresAt <= Date.now()

/** A server that gives no new refresh token, or names no scopes, leaves them as they were. */
function renewed (former: SignIn, tokens: Awaited<ReturnType<typeof import('./token-requests.js').refresh>>): SignIn {
  const { scopes = former.scopes, refreshToken = former.refreshToken, accessToken, expiresAt, obtainedAt } = tokens
  return { ...former, accessToken, refreshToken, expiresAt, obtainedAt, scopes }
}
