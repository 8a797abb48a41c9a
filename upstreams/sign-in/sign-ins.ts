import { createHash } from 'node:crypto'
import { randomToken } from '../../lib/random-token.js'
import { now } from '../../lib/time.js'
import type { Sealer } from '../../protocol/questions/seal.js'
import type { Values } from '../../protocol/store.js'
import { isObject } from '../../protocol/wire/json.js'
import { identityOf, type ServerEntry } from '../server-entry.js'
import { openSealer } from './sealing-key.js'
import type { SealingOptions } from './storable.js'

export type AuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post'

/** How the gateway presents itself to one authorization server. */
export interface OAuthClient {
  readonly id: string
  readonly secret?: string | undefined
  readonly method: AuthMethod
}

/** A sign-in to one server: what was agreed with its authorization server, and the tokens. */
export interface SignIn {
  readonly issuer: string
  /** The resource that the tokens are for. */
  readonly resource: string
  readonly tokenEndpoint: string
  readonly revocationEndpoint?: string | undefined
  readonly client: OAuthClient
  /** Undefined once the authorization server has refused to renew it. */
  readonly accessToken?: string | undefined
  readonly refreshToken?: string | undefined
  /** The scopes that were asked for, and those that were granted, as far as that was said. */
  readonly requested: readonly string[]
  readonly scopes: readonly string[]
  /** In milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  readonly obtainedAt: number
  /** When the person signed in; a renewal leaves it as it is. */
  readonly signedInAt: number
}

/** The owner of a sign-in that all callers share. */
export const SHARED = 'shared'

const SPACE = 'upstreams/sign-ins'
const LOCKS = 'upstreams/sign-in-locks'
const WANTED = 'upstreams/sign-in-scopes'
/** In milliseconds: how long a lock holds if its process dies, and how often its holder renews it while it works. */
const LEASE = 30_000
const RENEW_EVERY = 10_000
/** How often one that waits for a lock looks again, in milliseconds. */
const LOOK_AGAIN = 1_000
/** Longer than a lease: a process that died is waited for. */
const LONGEST_WAIT = 45_000

/** The most scopes that a server gets remembered by asking for them, and the longest of them, in characters. */
export const MAX_WANTED = 64
const MAX_SCOPE = 128

/**
 * The name of a sign-in: its server, by alias and address, and its owner. Another address gets no token, also where
 * only the query differs, which may choose a tenant.
 */
export function signInKey ({ alias, address }: Pick<ServerEntry, 'alias' | 'address'>, owner = SHARED): string {
  const server = address.kind === 'stdio' ? identityOf({ address }) : hashOf(address.url)
  return `${alias}/${server}/${owner}`
}

/** A hash of a URL without its fragment, which is not sent. */
function hashOf (text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined) url.hash = ''
  return createHash('sha256').update(url?.href ?? text).digest('base64url').slice(0, 22)
}

/** Sign-ins in the store, sealed; all processes that share the store share them. */
export class SignIns {
  readonly #values: Values
  readonly #options: SealingOptions
  #sealer: Sealer | undefined

  constructor (values: Values, options: SealingOptions) {
    this.#values = values
    this.#options = options
  }

  /** Undefined where there is none, or none that the present key opens. Rejects where the store or the key fails. */
  async load (key: string): Promise<SignIn | undefined> {
    return this.#open(key, await this.#values.get(SPACE, key))
  }

  /** The sign-ins of a server under any address, by their keys. */
  async keysOf (alias: string): Promise<string[]> {
    const all = await this.#values.keys(SPACE, { after: `${alias}/` })
    return all.filter(key => key.startsWith(`${alias}/`))
  }

  /** Stores a sign-in, when no process renews the one before. */
  async save (key: string, signIn: SignIn): Promise<void> {
    await this.exclusively(key, async () => {
      await this.#put(key, signIn)
      await this.#values.delete(WANTED, key)
    })
  }

  /** Removes a sign-in, when no process renews it. The one that was there, as far as it can be opened. */
  async remove (key: string): Promise<SignIn | undefined> {
    return await this.exclusively(key, async () => {
      const former = await this.load(key).catch(() => undefined)
      await this.#values.delete(SPACE, key)
      await this.#values.delete(WANTED, key)
      return former
    })
  }

  /**
   * Replaces a sign-in by what `renew` makes of it, unless it has another access token than the one that was `used`:
   * then another process was faster, and its sign-in counts. Of all processes, one renews at a time.
   */
  async replace (
    key: string,
    used: string | undefined,
    renew: (signIn: SignIn) => Promise<SignIn>
  ): Promise<SignIn | undefined> {
    return await this.exclusively(key, async () => {
      const present = await this.load(key)
      if (present === undefined || present.accessToken !== used) return present
      const next = await renew(present)
      await this.#put(key, next)
      return next
    })
  }

  /**
   * Scopes that the server asked for at a call, for the next sign-in; those beyond a limit are left out. True when they
   * were not known.
   */
  async want (key: string, scopes: readonly string[]): Promise<boolean> {
    const known = await this.wanted(key)
    const fitting = scopes.filter(({ length }) => length <= MAX_SCOPE)
    const all = [...new Set([...known, ...fitting])].slice(0, Math.max(MAX_WANTED, known.length))
    if (all.length === known.length) return false
    await this.#values.put(WANTED, key, all)
    return true
  }

  async wanted (key: string): Promise<string[]> {
    const scopes = await this.#values.get(WANTED, key)
    return Array.isArray(scopes) ? scopes.filter(scope => typeof scope === 'string') : []
  }

  /** Adds a listener for changes, also of other processes, by key; undefined for any. Returns how to remove it. */
  onChange (listener: (key: string | undefined) => void): () => void {
    const offs = [
      this.#values.onChange((space, key) => {
        if (space === SPACE) listener(key)
      }),
      this.#values.onMissedChanges(() => listener(undefined))
    ]
    return () => {
      for (const off of offs) off()
    }
  }

  /** Runs work while no other process, and nothing else in this one, does for the same key. */
  async exclusively<T> (key: string, work: () => Promise<T>): Promise<T> {
    const holder = randomToken(12, 'base64url')
    const end = now() + LONGEST_WAIT
    while (!(await this.#lock(key, holder))) {
      if (now() > end) throw new Error('its sign-in is being renewed by another process, which does not end; try again later')
      await this.#unlocked(key)
    }
    // Work that outlasts the lease, such as a slow token endpoint, would let another process spend the same token.
    const keeping = setInterval(() => {
      void this.#values.swap(LOCKS, key, holder, holder, { expires: Date.now() + LEASE }).catch(() => {})
    }, RENEW_EVERY)
    keeping.unref()
    try {
      return await work()
    } finally {
      clearInterval(keeping)
      if ((await this.#values.get(LOCKS, key).catch(() => undefined)) === holder) {
        await this.#values.delete(LOCKS, key).catch(() => {})
      }
    }
  }

  async #lock (key: string, holder: string): Promise<boolean> {
    await this.#values.put(LOCKS, key, holder, { ifAbsent: true, expires: Date.now() + LEASE })
    return (await this.#values.get(LOCKS, key)) === holder
  }

  /** Settles when the lock has changed, at the latest after a moment: it may have expired. */
  async #unlocked (key: string): Promise<void> {
    let off = (): void => {}
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      off = this.#values.onChange((space, changed) => {
        if (space === LOCKS && changed === key) resolve()
      })
      timer = setTimeout(resolve, LOOK_AGAIN)
    })
    off()
    clearTimeout(timer)
  }

  /** Seals a value that is good for one purpose. */
  seal (purpose: string, value: unknown): string {
    this.#sealer ??= openSealer(this.#options, true)
    if (this.#sealer === undefined) throw new Error('there is no key to seal the sign-in with')
    return this.#sealer.seal(purpose, value)
  }

  /** The value that was sealed; undefined where the text is not one of ours, or for another purpose. */
  open (purpose: string, text: string): unknown {
    this.#sealer ??= openSealer(this.#options, false)
    return this.#sealer?.open(purpose, text)
  }

  async #put (key: string, signIn: SignIn): Promise<void> {
    await this.#values.put(SPACE, key, { sealed: this.seal(purposeOf(key), signIn) })
  }

  #open (key: string, stored: unknown): SignIn | undefined {
    if (!isObject(stored) || typeof stored.sealed !== 'string') return undefined
    const opened = this.open(purposeOf(key), stored.sealed)
    return isObject(opened) ? opened as unknown as SignIn : undefined
  }
}

/** A sealed sign-in counts for its own key only. */
const purposeOf = (key: string): string => `sign-in ${key}`
