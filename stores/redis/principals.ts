import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'
import { ADD_TO_PRINCIPAL, TOUCH_OF_PRINCIPAL } from './scripts/principals.js'

/**
 * How many sessions each principal has at all nodes. They are counted beside the sessions, so for a moment the number
 * may be wrong.
 */
export class RedisPrincipals {
  readonly #redis: RedisConnection
  readonly #keys: Keys

  constructor (redis: RedisConnection, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** False if there are as many as `max` without this one. */
  async add (principal: string, id: string, expires: number, max: number): Promise<boolean> {
    const most = Math.min(max, Number.MAX_SAFE_INTEGER)
    return (
      (await this.#redis.run(
        ADD_TO_PRINCIPAL,
        [this.#keys.principal(principal)],
        [id, String(expires), String(most)]
      )) === 1
    )
  }

  /** Sessions by the principal that they are of. */
  async touch (sessions: ReadonlyMap<string, string[]>, expires: number): Promise<void> {
    await Promise.all(
      [...sessions].map(
        async ([principal, ids]) =>
          await this.#redis.run(TOUCH_OF_PRINCIPAL, [this.#keys.principal(principal)], [String(expires), ...ids])
      )
    )
  }

  async remove (principal: string, id: string): Promise<void> {
    await this.#redis.command('ZREM', this.#keys.principal(principal), id)
  }
}
