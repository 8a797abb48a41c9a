import type { RedisClientType } from '@redis/client'
import { withTimeout } from '../../lib/time.js'
import { ReplyWatch } from './reply-watch.js'

/** Called when Redis fails, with the reason and the error, and with undefined when it works again. */
export type TroubleListener = (why: string | undefined, error?: Error) => void

/**
 * In milliseconds: how long the start waits, a connection may take to be made, and may be idle; and how often it is
 * pinged.
 */
const TIMEOUTS = { start: 1_000, connect: 2_000, idle: 3_000 }
const PING_INTERVAL = 1_000
const MAX_QUEUED = 10_000
const RETRY = { first: 100, most: 1_000, jitter: 250 }

/** Connects, or keeps trying in the background. Does not throw if Redis cannot be reached. */
export async function connectRedis (url: string, onTrouble: TroubleListener): Promise<RedisLink> {
  // Loaded only where Redis is used.
  const { createClient } = await import('@redis/client')
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED,
    pingInterval: PING_INTERVAL,
    maintNotifications: 'disabled',
    // A timeout of the client's makes an AbortSignal for each command and ends with its writing; the link watches
    // replies itself.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: TIMEOUTS.connect, socketTimeout: TIMEOUTS.idle, reconnectStrategy: retryDelay }
  })
  const link = new RedisLink(client as unknown as RedisClientType, onTrouble, url.startsWith('rediss:'))
  await link.start()
  return link
}

/** A connection to Redis: whether it is ready, replies that come soon or fail, and messages of channels. */
export class RedisLink {
  readonly #client: RedisClientType
  #onTrouble: TroubleListener
  #trouble: string | undefined
  readonly #watch = new ReplyWatch(() => this.#onSilence())
  #isUnresponsive = false

  constructor (client: RedisClientType, onTrouble: TroubleListener, isSecure = false) {
    this.#client = client
    this.#onTrouble = onTrouble
    client.on('error', (error: Error) => this.#setTrouble(describeFailure(error, isSecure), error))
    client.on('ready', () => this.#setTrouble(undefined))
  }

  get isReady (): boolean {
    return this.#client.isReady && !this.#isUnresponsive
  }

  /** Settles when it is connected, or known that it is not. */
  async start (): Promise<void> {
    const failed = new Promise<void>(resolve => this.#client.once('error', () => resolve()))
    // Rejects when the link is closed meanwhile.
    const connected = this.#client.connect().then(() => {}, () => {})
    await withTimeout(Promise.race([connected, failed]), TIMEOUTS.start, () => {})
    if (!this.#client.isReady && this.#trouble === undefined) this.#setTrouble('cannot be reached')
  }

  /** Why Redis cannot be used now; undefined while it can. */
  get trouble (): string | undefined {
    return this.#trouble
  }

  /** Runs a script. Its refusal counts as trouble until a command succeeds. */
  async eval (script: string, options: { keys: string[], arguments: string[] }): Promise<unknown> {
    try {
      return await this.#send(async () => await this.#client.eval(script, options))
    } catch (error) {
      if (this.isReady) this.#setTrouble('refuses a command', error as Error)
      throw error
    }
  }

  /**
   * The reply to a command. Rejects when Redis refuses it, and at once while it cannot be reached or does not answer.
   */
  async command (...args: string[]): Promise<unknown> {
    return await this.#send(async () => await this.#client.sendCommand(args))
  }

  /** The reply to a command, however long it takes. Rejects when Redis refuses it, or the connection fails. */
  async commandUntimed (...args: string[]): Promise<unknown> {
    const sent = this.#client.sendCommand(args)
    this.#watch.observe(sent)
    return await sent
  }

  /** The reply of a command that waits in Redis; it is given up when the connection fails. */
  async waitFor (...args: string[]): Promise<unknown> {
    return await this.#client.sendCommand(args)
  }

  /** Receives the messages of a channel, also after the connection was lost. Those sent meanwhile are lost. */
  async subscribe (channel: string, listener: (message: string) => void): Promise<void> {
    await this.#send(async () => await this.#client.subscribe(channel, listener))
  }

  /**
   * Ends all subscriptions: a message that is published after it settles is not received here, and its sender is told
   * so.
   */
  async unsubscribe (): Promise<void> {
    await this.#send(async () => await this.#client.unsubscribe())
  }

  /** Adds a listener for each time the connection is made, again or for the first time. */
  onReady (listener: () => void): void {
    this.#client.on('ready', listener)
  }

  /**
   * Makes Redis close the connection, which is then made again: the name in the URL may lead to another server by now.
   */
  reconnect (): void {
    this.command('QUIT').catch(() => {})
  }

  close (): void {
    this.#onTrouble = () => {}
    this.#watch.close()
    // The client does not notice that it was destroyed while it connected.
    this.#client.on('connect', () => this.#client.destroy())
    this.#client.destroy()
  }

  async #send<T> (send: () => Promise<T>): Promise<T> {
    if (this.#isUnresponsive) throw silence()
    try {
      const reply = await this.#watch.wait(send())
      this.#setTrouble(undefined)
      return reply
    } catch (error) {
      if (!this.#client.isReady && this.#trouble === undefined) this.#setTrouble('cannot be reached', error as Error)
      throw error
    }
  }

  // It counts as not ready until it replies to this ping, or until the connection fails.
  #onSilence (): Error {
    this.#isUnresponsive = true
    this.#setTrouble('does not answer')
    const resume = () => { this.#isUnresponsive = false }
    this.#client.ping().then(() => { resume(); this.#setTrouble(undefined) }, resume)
    return silence()
  }

  #setTrouble (trouble: string | undefined, error?: Error): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    this.#onTrouble(trouble, error)
  }
}

const silence = () => new Error('Redis does not answer')

const retryDelay = (retries: number) =>
  Math.min(RETRY.first * 2 ** retries, RETRY.most) + Math.floor(Math.random() * RETRY.jitter)

const UNREACHABLE = 'cannot be reached'

/** Likely meanings of errors of a connection to Redis, by code or the first words of the message. */
const MEANINGS: Array<[RegExp, string]> = [
  [/^WRONGPASS/, 'refuses the user or the password of option redis'],
  [/^NOAUTH/, 'wants a password, and option redis has none'],
  [/^ERR (invalid DB index|DB index is out of range)/, 'has no database of the number in option redis'],
  [/^LOADING/, 'is starting: it reads its data'],
  [/^(ENOTFOUND|EAI_)/, `${UNREACHABLE} (the host name in option redis is not known)`],
  [/^Unknown RESP type/, `${UNREACHABLE} (another program answers at the port in option redis)`],
  [/^(EPROTO|ERR_SSL_)/, `${UNREACHABLE} (it does not speak TLS: option redis has to begin with redis://)`],
  [
    /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/,
    `${UNREACHABLE} (its certificate is not trusted: see NODE_EXTRA_CA_CERTS in docs/scale-out.md)`
  ]
]

/** Why Redis cannot be used, in words that callers may read: without addresses and passwords. */
export function describeFailure ({ code = '', message }: NodeJS.ErrnoException, isSecure: boolean): string {
  const known = MEANINGS.find(([pattern]) => pattern.test(code) || pattern.test(message))
  if (known !== undefined) return known[1]
  // A server without TLS waits for the rest of what it takes for a command.
  if (isSecure && message === 'Connection timeout') {
    return `${UNREACHABLE} (does it speak TLS? option redis begins with rediss://)`
  }
  return UNREACHABLE
}
