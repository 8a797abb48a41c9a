import { Listeners } from '../../lib/listeners.js'
import { randomToken } from '../../lib/random-token.js'
import type { NodeMessage } from '../../protocol/nodes/message.js'
import type { Nodes } from '../../protocol/nodes/nodes.js'
import { errors } from '../../protocol/wire/errors.js'
import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'

/** In milliseconds: for how long a node counts as alive after it wrote that it is, how often it does, and for how long a long message is stored. */
const LEASE = 15_000
const RENEW_EVERY = 3_000
const MESSAGE_LIFETIME = 30_000
/** How long a text may be, in characters, that goes through a channel. */
export const MAX_PUBLISHED = 65_536

/** A line that tells what it is, and the rest of a message. */
type NoticeListener = (head: string[], body: string) => void

/** The nodes on one Redis: a lease for each, a channel for each and one for all. */
export class RedisNodes implements Nodes {
  readonly self = randomToken(6, 'hex')
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #messages = new Listeners<[message: NodeMessage, from: string]>()
  readonly #notices = new Listeners<Parameters<NoticeListener>>()
  readonly #gaps = new Listeners<[]>()
  #timer: NodeJS.Timeout | undefined
  #isSubscribed = false

  constructor (redis: RedisConnection, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async start (): Promise<void> {
    this.#redis.link.onReady(() => {
      if (this.#isSubscribed) this.#gaps.notify()
      void this.#join()
    })
    this.#timer = setInterval(() => this.#renew(), RENEW_EVERY).unref()
    await this.#join()
  }

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

  /** Adds a listener for each time the connection was lost and is there again: messages may have been missed. Returns a function that removes it. */
  onGap (listener: () => void): () => void {
    return this.#gaps.add(listener)
  }

  async isAlive (node: string): Promise<boolean> {
    return node === this.self || await this.#redis.command('EXISTS', this.#keys.lease(node)) === 1
  }

  async close (): Promise<void> {
    clearInterval(this.#timer)
    await this.#redis.command('DEL', this.#keys.lease(this.self)).catch(() => {})
  }

  // The client subscribes again by itself once it has been subscribed.
  async #join (): Promise<void> {
    this.#renew()
    if (this.#isSubscribed || !this.#redis.link.isReady) return
    this.#isSubscribed = true
    try {
      for (const channel of [this.#keys.channel(this.self), this.#keys.all]) await this.#redis.link.subscribe(channel, text => this.#receive(text))
    } catch {
      this.#isSubscribed = false
    }
  }

  #renew (): void {
    this.#redis.command('SET', this.#keys.lease(this.self), '1', 'PX', String(LEASE)).catch(() => {})
  }

  async #publish (channel: string, message: NodeMessage): Promise<number> {
    const text = JSON.stringify(message)
    if (text.length <= MAX_PUBLISHED) return await this.#redis.command('PUBLISH', channel, `message ${this.self}\n${text}`) as number
    const id = randomToken(9, 'hex')
    await this.#redis.command('SET', this.#keys.message(id), text, 'PX', String(MESSAGE_LIFETIME))
    return await this.#redis.command('PUBLISH', channel, `stored ${this.self} ${id}\n`) as number
  }

  #receive (text: string): void {
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
    this.#messages.notify(JSON.parse(text) as NodeMessage, from)
  }
}
