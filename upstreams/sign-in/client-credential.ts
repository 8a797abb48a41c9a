import { now } from '../../lib/time.js'
import type { BearerChallenge } from '../../protocol/http/challenge.js'
import type { AccessRefused, Credential } from '../../transports/client/credential.js'

/** A token, and when it ends, in milliseconds since 1970, where that is known. */
export interface ClientToken { readonly accessToken?: string | undefined, readonly expiresAt?: number | undefined }

/** Asks for a token; `challenge` is what the server said when it refused the last one. */
export type ObtainToken = (challenge: BearerChallenge | undefined) => Promise<ClientToken>

/** How long a new token that the server refuses keeps another from being asked for, in milliseconds. */
const PAUSE = 10_000
/** How long before its end a token is replaced, in milliseconds, where that is done before the server refuses it. */
const BEFORE_END = 30_000

/**
 * The credential of a server that the gateway gets by itself, as a client and for no person (client credentials). It is
 * kept in memory: another is asked for when the server refuses it.
 */
export class ClientCredential implements Credential {
  readonly #obtainToken: ObtainToken
  readonly #secret: string | undefined
  readonly #pause: number
  /** No person signs in, whom connections would have to end for. */
  readonly signedInAt = undefined
  readonly absence = 'no token was asked for yet'
  #token: string | undefined
  #former: string | undefined
  #replaceAt = Infinity
  #obtainedAt = -Infinity
  #obtaining: Promise<void> | undefined

  constructor (obtainToken: ObtainToken, secret: string | undefined, pause = PAUSE) {
    this.#obtainToken = obtainToken
    this.#secret = secret
    this.#pause = pause
  }

  get token (): string | undefined {
    return this.#token
  }

  /** The texts that are to be hidden wherever the server is written about. */
  get secrets (): string[] {
    return [this.#token, this.#former, this.#secret].filter(text => text !== undefined)
  }

  async load (): Promise<void> {}

  /** The token, after another was asked for where there is none, or it ends within a moment. Rejects in words. */
  async fresh (): Promise<string> {
    if (this.#token === undefined || now() >= this.#replaceAt) await this.#obtainOnce(undefined)
    return this.#token ?? ''
  }

  async renew (refusal: AccessRefused): Promise<void> {
    if (!refusal.wasSentWith(this.#token)) return
    if (refusal.status === 403) {
      const scopes = refusal.challenge?.scopes ?? []
      throw new Error(`it asks for more scopes; add them to oauth.scopes of its entry: ${scopes.join(' ')}`)
    }
    if (this.#token !== undefined && now() - this.#obtainedAt < this.#pause) {
      throw new Error('it does not accept the token that its authorization server gave a moment ago')
    }
    await this.#obtainOnce(refusal.challenge)
  }

  async #obtainOnce (challenge: BearerChallenge | undefined): Promise<void> {
    this.#obtaining ??= this.#obtain(challenge).finally(() => {
      this.#obtaining = undefined
    })
    await this.#obtaining
  }

  async #obtain (challenge: BearerChallenge | undefined): Promise<void> {
    const { accessToken, expiresAt } = await this.#obtainToken(challenge).catch((error: Error) => {
      throw new Error(`no token could be had with client credentials: ${error.message}`)
    })
    if (this.#token !== accessToken) this.#former = this.#token
    this.#token = accessToken
    this.#obtainedAt = now()
    const lifetime = expiresAt === undefined ? Infinity : expiresAt - Date.now()
    // Of a token that lasts for less, half of its time is used.
    this.#replaceAt = now() + Math.max(lifetime - BEFORE_END, lifetime / 2)
  }
}
