import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisClientType } from '@redis/client'

/** Hears what is wrong with Redis, or that nothing is any more, and the error that told so. */
export type TroubleListener = (why: string | undefined, error?: Error) => void

/** How long a start waits for Redis, an answer may take, and a connection may be silent. */
const PATIENCE = { start: 1_000, answer: 250, connect: 2_000, silence: 3_000, ping: 1_000 }
const MAX_WAITING = 10_000
const RETRY = { first: 100, most: 1_000, jitter: 250 }

/** Connects, or goes on trying in the background; never throws for a Redis that is away. */
export async function connectRedis (url: string, onTrouble: TroubleListener): Promise<RedisLink> {
  // Loaded by those who have a Redis.
  const { createClient } = await import('@redis/client')
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    pingInterval: PATIENCE.ping,
    maintNotifications: 'disabled',
    socket: { connectTimeout: PATIENCE.connect, socketTimeout: PATIENCE.silence, reconnectStrategy: pause }
  })
  const link = new RedisLink(client as unknown as RedisClientType, onTrouble)
  await link.start()
  return link
}

/** What the rate limiter needs of a Redis client: it is ready, or it is not, and an answer comes soon or not at all. */
export class RedisLink {
  readonly #client: RedisClientType
  #tell: TroubleListener
  #trouble: string | undefined
  #silent = false

  constructor (client: RedisClientType, onTrouble: TroubleListener) {
    this.#client = client
    this.#tell = onTrouble
    client.on('error', (error: Error) => this.#is('cannot be reached', error))
    client.on('ready', () => this.#is(undefined))
  }

  get isReady (): boolean {
    return this.#client.isReady && !this.#silent
  }

  /** Settles when there is a connection, or it is known that there is none. */
  async start (): Promise<void> {
    const failed = new Promise<void>(resolve => this.#client.once('error', () => resolve()))
    // It is rejected when the link is closed meanwhile.
    const connected = this.#client.connect().then(() => {}, () => {})
    const done = new AbortController()
    await Promise.race([connected, failed, sleep(PATIENCE.start, undefined, { signal: done.signal }).catch(() => {})])
    done.abort()
    if (!this.#client.isReady) this.#is('cannot be reached')
  }

  async eval (script: string, options: { keys: string[], arguments: string[] }): Promise<unknown> {
    const done = new AbortController()
    const late = sleep(PATIENCE.answer, undefined, { signal: done.signal }).then(() => { throw this.#isSilent() })
    try {
      const answer = await Promise.race([this.#client.eval(script, options), late])
      this.#is(undefined)
      return answer
    } catch (error) {
      if (!this.#silent) this.#is(this.#client.isReady ? 'refuses to count' : 'cannot be reached', error as Error)
      throw error
    } finally {
      late.catch(() => {})
      done.abort()
    }
  }

  close (): void {
    this.#tell = () => {}
    this.#client.destroy()
  }

  // Nothing more is asked until it answers this, or the connection is given up.
  #isSilent (): Error {
    this.#silent = true
    this.#is('does not answer')
    const heard = () => { this.#silent = false }
    this.#client.ping().then(() => { heard(); this.#is(undefined) }, heard)
    return new Error('Redis does not answer')
  }

  #is (trouble: string | undefined, error?: Error): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    this.#tell(trouble, error)
  }
}

const pause = (retries: number) => Math.min(RETRY.first * 2 ** retries, RETRY.most) + Math.floor(Math.random() * RETRY.jitter)
