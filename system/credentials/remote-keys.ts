import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { CredentialUnknowable } from './credential-error.js'

type LocalKeys = ReturnType<typeof createLocalJWKSet>

/** From this age on keys are fetched again, while the old ones are used. */
const FRESH = 10 * 60_000
/** Up to this age keys are used while they cannot be fetched. */
const MAX_AGE = 60 * 60_000
/** The least time between two fetches because a key was missing. */
const RELOAD_INTERVAL = 60_000
/** The least time between two fetches while there are no keys at all. */
const RETRY_INTERVAL = 5_000

/** The public keys of an issuer, fetched on demand, and never more often than these intervals allow. */
export class RemoteKeys {
  readonly #load: () => Promise<unknown>
  readonly #onTrouble: (error: Error | undefined) => void
  readonly #now: () => number
  #keys: LocalKeys | undefined
  #loadedAt = -Infinity
  #triedAt = -Infinity
  #loading: Promise<void> | undefined
  #trouble: Error | undefined

  constructor (
    load: () => Promise<unknown>,
    onTrouble: (error: Error | undefined) => void = () => {},
    now: () => number = () => performance.now()
  ) {
    this.#load = load
    this.#onTrouble = onTrouble
    this.#now = now
  }

  /** Finds the key for a token; the signature is jose's `JWTVerifyGetKey`. */
  readonly find = async (header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<LocalKeys> => {
    const keys = await this.#current()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      // The issuer may have a new key.
      const newer = await this.#reload(RELOAD_INTERVAL).catch(() => keys)
      return await newer(header, token)
    }
  }

  /** Fetches the keys before the first token needs them. */
  warm (): void {
    this.#current().catch(() => {})
  }

  async #current (): Promise<LocalKeys> {
    const age = this.#now() - this.#loadedAt
    if (this.#keys === undefined || age >= MAX_AGE) return await this.#reload(RETRY_INTERVAL)
    if (age >= FRESH) this.#reload(RELOAD_INTERVAL).catch(() => {})
    return this.#keys
  }

  /** The keys after a fetch, or without one if the last was less than `interval` ago. */
  async #reload (interval: number): Promise<LocalKeys> {
    if (this.#loading === undefined && this.#now() - this.#triedAt >= interval) this.#loading = this.#fetch()
    await this.#loading
    if (this.#trouble !== undefined || this.#keys === undefined) {
      throw new CredentialUnknowable('the keys of the issuer cannot be fetched', { cause: this.#trouble })
    }
    return this.#keys
  }

  async #fetch (): Promise<void> {
    this.#triedAt = this.#now()
    try {
      this.#keys = createLocalJWKSet((await this.#load()) as JSONWebKeySet)
      this.#loadedAt = this.#now()
      this.#trouble = undefined
    } catch (error) {
      this.#trouble = error as Error
    }
    this.#loading = undefined
    this.#onTrouble(this.#trouble)
  }
}
