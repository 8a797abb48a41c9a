import { errors } from '../../protocol/wire/errors.js'
import type { RedisLink } from '../../system/redis/connection.js'
import type { Script } from './scripts/script.js'

/** Runs scripts and commands. Errors name Redis as the reason. */
export class RedisConnection {
  readonly link: RedisLink

  constructor (link: RedisLink) {
    this.link = link
  }

  async run ({ source, digest }: Script, keys: string[], args: string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args]
    return await this.#translated(async () => {
      try {
        return await this.link.command('EVALSHA', digest, ...rest)
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
        return await this.link.command('EVAL', source, ...rest)
      }
    })
  }

  async command (...args: string[]): Promise<unknown> {
    return await this.#translated(async () => await this.link.command(...args))
  }

  async #translated<T> (work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw errors.storage(describe(error as Error, this.link.trouble))
    }
  }
}

function describe (error: Error, trouble: string | undefined): string {
  if (error.message.startsWith('OOM')) return 'Redis has no memory left: raise its maxmemory'
  if (error.message.startsWith('READONLY')) return 'Redis is a replica, which cannot be written to'
  return `Redis ${trouble ?? 'refuses a command'}`
}
