import { setTimeout as sleep } from 'node:timers/promises'
import { Listeners } from '../../lib/listeners.js'
import { randomToken } from '../../lib/random-token.js'
import { decodeNodeMessage, type NodeMessage } from '../../protocol/nodes/message.js'
import type { Nodes } from '../../protocol/nodes/nodes.js'
import { errors } from '../../protocol/wire/errors.js'
import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'
import { isRenewed, Lease, RENEW_EVERY } from './lease.js'

/** For how long a long message is stored, in milliseconds. */
const MESSAGE_LIFETIME = 30_000
/** How long a text may be, in characters, that goes through a channel. */
export const MAX_PUBLISHED = 65_536
/** How much longer the texts in a channel may be, for the line before them. */
const MAX_HEAD = 1_024

/**
 * How often, and after how many milliseconds, we look for the connection of a node that did not renew its lease. When
 * Redis, or the whole machine, stood still, all leases are old and all nodes connect again, not all at the same time.
 */
const LOOKS = 3
const LOOK_AGAIN_AFTER = 500

/** A line that tells what it is, and the rest of a message. */
type NoticeListener = (head: string[], body: string) => void

/** The nodes on one Redis: a lease for each, a channel for each and one for all. */
export class RedisNodes implements Nodes {
  readonly self: string
  readonly losesMessages = true
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #lease: Lease
  readonly #onShared: () => void
  readonly #messages = new Listeners<[message: NodeMessage, from: string]>()
  readonly #notices = new Listeners<Parameters<NoticeListener>>()
  readonly #gaps = new Listeners<[]>()
  readonly #receive = (text: string): void => this.#receiveText(text)
  #timer: NodeJS.Timeout | undefined
  #isSubscribed = false

  /** `onShared` runs when another process has the same id. */
  constructor (redis: RedisConnection, keys: Keys, onShared: () => void, self = randomToken(6, 'hex')) {
    this.self = self
    this.#redis = redis
    this.#keys = keys
    this.#lease = new Lease(redis, keys.lease(self))
    this.#onShared = onShared
  }

  async start (): Promise<void> {
    this.#redis.link.onReady(() => {
      if (this.#isSubscribed) this.#gaps.notify()
      void this.#join()
    })
    this.#timer = setInterval(() => this.#renew(), RENEW_EVERY).unref()
    await this.#join()
  }

  /** Nothing: it is known from the start on. */
  async join (): Promise<void> {}

  async send (node: string, message: NodeMessage): Promise<boolean> {
    return await this.#publish(this.#keys.channel(node), message) > 0
  }

  async broadcast (message: NodeMessage): Promise<void> {
    await this.#publish(this.#keys.all, message)
  }

  onMessage (listener: (message: NodeMessage, from: string) => void): () => void {
    return this.#messages.add(listener)
  }

  /** Adds a listener for what scripts tell this node; returns a function that removes it. */
  onNotice (listener: NoticeListener): () => void {
    return this.#notices.add(listener)
  }

  /**
   * Adds a listener for when messages may have been missed, or Redis has lost writes. Returns a function that removes
   * it.
   */
  onGap (listener: () => void): () => void {
    return this.#gaps.add(listener)
  }

  /**
   * By its lease; a process that has died, so that its connection is gone, is known soon after it should have renewed
   * that.
   */
  async isAlive (node: string): Promise<boolean> {
    if (node === this.self) return true
    for (let looks = 1; ; looks++) {
      const left = await this.#redis.command('PTTL', this.#keys.lease(node)) as number
      if (left < 0 || isRenewed(left)) return left >= 0
      if (await this.#isConnected(node)) return true
      if (looks === LOOKS) return false
      await sleep(LOOK_AGAIN_AFTER, undefined, { ref: false })
    }
  }

  /**
   * Another node that sends a message after this settles is told at once that no node received it, however late Redis
   * closes the connection.
   */
  async close (): Promise<void> {
    clearInterval(this.#timer)
    await this.#redis.link.unsubscribe().catch(() => {})
    await this.#lease.end().catch(() => {})
  }

  // The client subscribes again by itself once it has been subscribed.
  async #join (): Promise<void> {
    this.#renew()
    if (this.#isSubscribed || !this.#redis.link.isReady) return
    this.#isSubscribed = true
    try {
      for (const channel of [this.#keys.channel(this.self), this.#keys.all]) {
        await this.#redis.link.subscribe(channel, this.#receive)
      }
    } catch {
      this.#isSubscribed = false
    }
  }

  // A replica that was the primary before does not become it again by waiting: the URL may lead to the new one.
  #renew (): void {
    this.#lease.renew().then(found => {
      if (found === 'lost') this.#gaps.notify()
      if (found === 'shared') this.#onShared()
      if (!this.#isSubscribed) void this.#join()
    }, (error: Error) => { if (error.message.includes('is a replica')) this.#redis.link.reconnect() })
  }

  // Where this may not be asked, only the lease counts.
  async #isConnected (node: string): Promise<boolean> {
    const reply = (await this.#redis.link
      .command('PUBSUB', 'NUMSUB', this.#keys.channel(node))
      .catch(() => undefined)) as [string, number] | undefined
    return reply?.[1] !== 0
  }

  async #publish (channel: string, message: NodeMessage): Promise<number> {
    const text = JSON.stringify(message)
    if (text.length <= MAX_PUBLISHED) {
      return (await this.#redis.command('PUBLISH', channel, `message ${this.self}\n${text}`)) as number
    }
    const id = randomToken(9, 'hex')
    await this.#redis.command('SET', this.#keys.message(id), text, 'PX', String(MESSAGE_LIFETIME))
    return await this.#redis.command('PUBLISH', channel, `stored ${this.self} ${id}\n`) as number
  }

  // No node sends longer texts.
  #receiveText (text: string): void {
    if (text.length > MAX_PUBLISHED + MAX_HEAD) return
    const end = text.indexOf('\n')
    const head = text.slice(0, end).split(' ')
    const body = text.slice(end + 1)
    const [kind, from = '', id = ''] = head
    if (kind === 'message' || kind === 'stored') {
      if (from !== this.self) this.#receiveMessage(kind === 'message' ? body : undefined, from, id).catch(() => {})
    } else this.#notices.notify(head, body)
  }

  async #receiveMessage (body: string | undefined, from: string, id: string): Promise<void> {
    const text = body ?? await this.#redis.command('GET', this.#keys.message(id))
    if (typeof text !== 'string') throw errors.storage('a message of another node has expired')
    const message = decodeNodeMessage(text)
    if (message !== undefined) this.#messages.notify(message, from)
  }
}
