import { errors } from '../../protocol/wire/errors.js'
import type { RedisLink } from '../../system/redis/connection.js'
import { allScripts, type Script } from './scripts/script.js'

/** Meanings of the errors with which Redis refuses a write, by their first word. */
const REFUSALS: Record<string, string> = {
  OOM: 'has no memory left: raise its maxmemory',
  READONLY: 'is a replica, which cannot be written to',
  NOREPLICAS: 'refuses writes, because it has too few replicas',
  MISCONF: 'refuses writes, because it cannot save to its disk',
  MASTERDOWN: 'is a replica that has lost its primary',
  LOADING: 'is starting: it reads its data',
  NOPERM: 'does not permit a command to this user: see the ACL in docs/scale-out.md',
  CLUSTERDOWN: 'is a cluster that does not work',
  MOVED: 'is one of several nodes of a Redis Cluster, which is not supported: use one primary'
}

/** Runs scripts and commands. Errors name Redis as the reason. */
export class RedisConnection {
  readonly link: RedisLink
  readonly #onFailureChange: () => void
  readonly #warn: (sentence: string) => void
  #refusal: string | undefined
  /** Why this server cannot be used at all. */
  #unfit: string | undefined

  constructor (link: RedisLink, onFailureChange: () => void, warn: (sentence: string) => void) {
    this.link = link
    this.#onFailureChange = onFailureChange
    this.#warn = warn
  }

  /** Prepares the server, now and after each time the connection was made again, maybe to another server. */
  async start (): Promise<void> {
    this.link.onReady(() => { void this.#prepare() })
    await this.#prepare()
  }

  /** Why Redis cannot be used, or refused the latest write; undefined while it works. */
  get failure (): string | undefined {
    const why = this.link.trouble ?? this.#unfit ?? this.#refusal
    return why === undefined ? undefined : `Redis ${why}`
  }

  async run (script: Script, keys: string[], args: string[]): Promise<unknown> {
    return await this.#run(script, keys, args, async (...command) => await this.link.command(...command))
  }

  /** Runs a script, however long the reply takes. Rejects when the connection fails. */
  async runUntimed (script: Script, keys: string[], args: string[]): Promise<unknown> {
    return await this.#run(script, keys, args, async (...command) => await this.link.commandUntimed(...command))
  }

  async command (...args: string[]): Promise<unknown> {
    return await this.#translated(async () => await this.link.command(...args))
  }

  /** Runs a command that shows whether Redis takes writes. */
  async probe (...args: string[]): Promise<unknown> {
    const reply = await this.command(...args)
    this.#setRefusal(undefined)
    return reply
  }

  // Where the user may neither load scripts nor ask for information, everything else works.
  async #prepare (): Promise<void> {
    if (!this.link.isReady) return
    for (const { source } of allScripts()) this.link.command('SCRIPT', 'LOAD', source).catch(() => {})
    const info = await this.link.command('INFO').catch(() => '')
    const { unfit, warnings } = readServerInfo(String(info))
    for (const sentence of warnings) this.#warn(sentence)
    this.#unfit = unfit
    if (unfit !== undefined) this.#onFailureChange()
  }

  async #run (
    { source, digest }: Script,
    keys: string[],
    args: string[],
    send: (...command: string[]) => Promise<unknown>
  ): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args]
    if (this.#unfit !== undefined) throw errors.storage(`Redis ${this.#unfit}`)
    return await this.#translated(async () => {
      try {
        return await send('EVALSHA', digest, ...rest)
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
        return await send('EVAL', source, ...rest)
      }
    })
  }

  async #translated<T> (work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw errors.storage(this.#describe(error as Error))
    }
  }

  #describe ({ message }: Error): string {
    if (this.link.trouble !== undefined) return `Redis ${this.link.trouble}`
    const refusal = REFUSALS[message.split(' ', 1)[0] ?? '']
    if (refusal === undefined) return 'Redis refuses a command'
    this.#setRefusal(refusal)
    return `Redis ${refusal}`
  }

  #setRefusal (refusal: string | undefined): void {
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    this.#onFailureChange()
  }
}

/** Facts about a Redis server, as it says them. */
interface ServerInfo {
  /** Why it cannot be used; undefined when it can. */
  unfit: string | undefined
  /** Settings that an operator should change. */
  warnings: string[]
}

/** Reads the reply to `INFO`. */
export function readServerInfo (info: string): ServerInfo {
  const fields = new Map(info.split('\r\n').map(line => line.split(':', 2) as [string, string]))
  const version = fields.get('redis_version') ?? ''
  const policy = fields.get('maxmemory_policy')
  return {
    // Valkey names the version of Redis that it is compatible with, which is 7.2 or later.
    unfit:
      Number.parseInt(version, 10) < 7
        ? `is version ${version}, which is too old: use Redis 7.0 or Valkey 7.2, or a later one`
        : undefined,
    warnings: [
      ...(policy === undefined || policy === 'noeviction'
        ? []
        : [
            `Redis may drop sessions and notes when its memory is full, because its maxmemory-policy is ${policy}: set it to noeviction`
          ]),
      ...(fields.get('role') === 'slave'
        ? ['Redis is a replica, which cannot be written to: option redis has to lead to the primary']
        : []),
      ...(fields.get('cluster_enabled') === '1'
        ? ['Redis is in cluster mode: that works only while one of its nodes has all slots']
        : [])
    ]
  }
}
