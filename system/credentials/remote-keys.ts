import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { CredentialUnknowable } from './credential-error.js'

type LocalKeys = ReturnType<typeof createLocalJWKSet>

/** How old keys may be before they are fetched again, while the old ones serve. */
const FRESH = 10 * 60_000
/** How old keys may become while they cannot be fetched. */
const MAX_AGE = 60 * 60_000
/** How soon the issuer is asked again, for keys that were not there. */
const AGAIN = 60_000
/** How soon it is asked again when there are no keys at all. */
const RETRY = 5_000

/** The public keys of an issuer, fetched when they are needed and never more often than these times allow, whatever tokens come. */
export class RemoteKeys {
  readonly #load: () => Promise<unknown>
  readonly #onTrouble: (error: Error | undefined) => void
  readonly #now: () => number
  #keys: LocalKeys | undefined
  #loadedAt = -Infinity
  #triedAt = -Infinity
  #loading: Promise<void> | undefined
  #trouble: Error | undefined

  constructor (load: () => Promise<unknown>, onTrouble: (error: Error | undefined) => void = () => {}, now: () => number = () => performance.now()) {
    this.#load = load
    this.#onTrouble = onTrouble
    this.#now = now
  }

  /** The key for a token, in the form that jose asks for it. */
  readonly find = async (header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<LocalKeys> => {
    const keys = await this.#current()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      // The issuer may have a new one.
      const newer = await this.#reloaded(AGAIN).catch(() => keys)
      return await newer(header, token)
    }
  }

  /** Fetches the keys before anybody needs them. */
  warm (): void {
    this.#current().catch(() => {})
  }

  async #current (): Promise<LocalKeys> {
    const age = this.#now() - this.#loadedAt
    if (this.#keys === undefined || age >= MAX_AGE) return await this.#reloaded(RETRY)
    if (age >= FRESH) this.#reloaded(AGAIN).catch(() => {})
    return this.#keys
  }

  /** What is there after asking the issuer, or after having asked not long ago. */
  async #reloaded (gap: number): Promise<LocalKeys> {
    if (this.#loading === undefined && this.#now() - this.#triedAt >= gap) this.#loading = this.#reload()
    await this.#loading
    if (this.#trouble !== undefined || this.#keys === undefined) throw new CredentialUnknowable('the keys of the issuer cannot be fetched', { cause: this.#trouble })
    return this.#keys
  }

  async #reload (): Promise<void> {
    this.#triedAt = this.#now()
    try {
      this.#keys = createLocalJWKSet(await this.#load() as JSONWebKeySet)
      this.#loadedAt = this.#now()
      this.#trouble = undefined
    } catch (error) {
      this.#trouble = error as Error
    }
    this.#loading = undefined
    this.#onTrouble(this.#trouble)
  }
}
