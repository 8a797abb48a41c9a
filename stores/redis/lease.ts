import { randomToken } from '../../lib/random-token.js'
import { now } from '../../lib/time.js'
import type { RedisConnection } from './connection.js'

/** In milliseconds: for how long a node counts as alive after it wrote that it is, and how often it does. */
export const LEASE = 15_000
export const RENEW_EVERY = 3_000

/**
 * The state of a lease when it was renewed: it was there, or Redis has lost it, or another process with the same id has
 * one.
 */
export type Renewed = 'kept' | 'lost' | 'shared'

/** A key that says that this node is alive, until it expires. */
export class Lease {
  readonly #redis: RedisConnection
  readonly #key: string
  readonly #token = randomToken(6, 'hex')
  #renewals = 0
  #lastRenewal = -Infinity

  constructor (redis: RedisConnection, key: string) {
    this.#redis = redis
    this.#key = key
  }

  async renew (): Promise<Renewed> {
    const number = ++this.#renewals
    const sentAt = now()
    const before = await this.#redis.probe('SET', this.#key, `${this.#token} ${number}`, 'PX', String(LEASE), 'GET')
    const wasThere = now() - this.#lastRenewal < LEASE
    this.#lastRenewal = sentAt
    if (typeof before !== 'string') return wasThere ? 'lost' : 'kept'
    const [token, earlier] = before.split(' ')
    // A copy of this process, such as a virtual machine that was cloned, has the same token and counts on its own.
    return token === this.#token && Number(earlier) < number ? 'kept' : 'shared'
  }

  async end (): Promise<void> {
    await this.#redis.command('DEL', this.#key)
  }
}

/** False when the node has not renewed its lease although it should have, by the milliseconds that are left of it. */
export const isRenewed = (left: number): boolean => left > LEASE - RENEW_EVERY - RENEW_EVERY / 6
