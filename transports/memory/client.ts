import { EventEmitter, once } from 'node:events'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { codes, errors, isMcpError, type WireError } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import { isId, type Id } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'

export type Json = Record<string, unknown>
export type Answer = (params: Json) => object | Promise<object>
export interface Progress { progress: number, total?: number, message?: string }

export interface RequestOptions {
  /** Cancels the request. */
  signal?: AbortSignal | undefined
  /** Gets the progress of the request. What it throws rejects the request. */
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Disconnects clients that were collected without having been closed. */
const collected = new FinalizationRegistry<() => void>(disconnect => disconnect())

/** A reference to the notifications of a client keeps the client in memory, too. */
const owners = new WeakMap<MemoryClient['notifications'], MemoryClient>()

/** The client side of a connection inside the process: requests go out through a Peer, as on every wire. */
export class MemoryClient {
  readonly notifications: Array<{ method: string, params: Json }> = []
  readonly #answers: Record<string, Answer>
  /** The gateway, as the other end of this client. */
  readonly #gateway = new Peer({ transport: 'memory' })
  readonly #toGateway: Channel
  readonly #fromGateway: WeakChannel
  readonly #disconnect: (reason: Error) => void
  readonly #arrivals = new EventEmitter().setMaxListeners(0)
  #waits = 0
  #lastToken = 0
  /** Listeners to the progress of requests in flight, by token. */
  readonly #progress = new Map<unknown, (progress: Progress) => void>()

  constructor (mcp: Dispatcher, identity: Identity, answers: Record<string, Answer>, view?: string) {
    // A client without an identity is a part of the program, which may see its errors.
    const fromGateway = new WeakChannel(this, identity === ANONYMOUS_ALL_SCOPES)
    this.#fromGateway = fromGateway
    const peer = new Peer({ transport: 'memory', channel: fromGateway, identity, view })
    // Through text, like any other client: what is not JSON would not arrive elsewhere either.
    const send = (text: string): void => mcp.receive(mcp.decode(text), peer, fromGateway)
    this.#answers = answers
    this.#toGateway = { streams: true, respond: send, emit: send, end: () => {} }
    this.#disconnect = reason => mcp.lifecycle.disconnect(peer, reason)
    mcp.lifecycle.connect(peer)
    owners.set(this.notifications, this)
    collected.register(this, () => mcp.lifecycle.disconnect(peer, new Error('the client is not used any more')), this)
  }

  async request (method: string, params: Json = {}, { signal, onProgress }: RequestOptions = {}): Promise<Json> {
    signal?.throwIfAborted()
    this.#assertOpen()
    if (onProgress !== undefined) return await this.#requestWithProgress(method, params, signal, onProgress)
    return await this.#waitFor(this.#gateway.request(method, params, this.#toGateway, { signal })) as Json
  }

  notify (method: string, params: Json = {}): void {
    this.#toGateway.emit(JSON.stringify({ jsonrpc: '2.0', method, params }), method)
  }

  async notified (method: string): Promise<Json> {
    for (;;) {
      const found = this.notifications.findIndex(notification => notification.method === method)
      if (found !== -1) return this.notifications.splice(found, 1)[0]?.params as Json
      this.#assertOpen()
      await this.#waitFor(once(this.#arrivals, 'notification'))
    }
  }

  close (): void {
    const reason = new Error('the client was closed')
    collected.unregister(this)
    this.#disconnect(reason)
    this.#gateway.close(reason)
    this.#arrivals.emit('notification')
  }

  /** Takes a message of the gateway; `cause` is the error behind one that is an internal error. */
  receive (text: string, cause?: unknown): void {
    const {
      id,
      method,
      params = {},
      result = {},
      error
    } = JSON.parse(text) as { id?: Id, method?: string, params?: Json, result?: Json, error?: WireError }
    if (method === undefined) {
      this.#gateway.settle({
        kind: 'response',
        id,
        ...(error === undefined ? { result } : { error: withCause(error, cause) })
      })
    } else if (isId(id)) void this.#answer(id, method, params)
    else this.#take(method, params)
  }

  #take (method: string, params: Json): void {
    const { progressToken, ...progress } = params
    const listener = method === 'notifications/progress' ? this.#progress.get(progressToken) : undefined
    if (listener !== undefined) return listener(progress as unknown as Progress)
    this.notifications.push({ method, params })
    this.#arrivals.emit('notification')
  }

  async #requestWithProgress (
    method: string,
    params: Json,
    signal: AbortSignal | undefined,
    onProgress: (progress: Progress) => void
  ): Promise<Json> {
    const progressToken = `progress-${++this.#lastToken}`
    const failures: unknown[] = []
    // The gateway calls this while a tool runs, which must not fail for a listener of its client.
    this.#progress.set(progressToken, progress => {
      try {
        onProgress(progress)
      } catch (error) {
        failures.push(error)
      }
    })
    try {
      const _meta = { ...params['_meta'] as Json | undefined, progressToken }
      const result = await this.request(method, { ...params, _meta }, { signal })
      if (failures.length > 0) throw failures[0]
      return result
    } finally {
      this.#progress.delete(progressToken)
    }
  }

  #assertOpen (): void {
    if (this.#gateway.closed) throw new Error('the client was closed')
  }

  async #waitFor<T> (event: Promise<T>): Promise<T> {
    this.#waits++
    this.#fromGateway.waiting = this
    try {
      return await event
    } finally {
      if (--this.#waits === 0) this.#fromGateway.waiting = undefined
    }
  }

  async #answer (id: Id, method: string, params: Json): Promise<void> {
    const send = (outcome: object): void =>
      this.#toGateway.respond(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }), 200)
    try {
      const answer = this.#answers[method]
      if (answer === undefined) throw errors.methodNotFound(method)
      send({ result: await answer(params) })
    } catch (error) {
      send({
        error: {
          code: isMcpError(error) ? error.code : codes.internal,
          message: error instanceof Error ? error.message : String(error)
        }
      })
    }
  }
}

/** The error with the one behind it, and a text that leads there. */
function withCause (error: WireError, cause: unknown): WireError {
  return cause === undefined
    ? error
    : { ...error, message: `${error.message}; its cause is the "cause" of this error`, cause }
}

/** Where the gateway writes to a client. It keeps the client in memory only while the client waits for something. */
class WeakChannel implements Channel {
  readonly streams = true
  readonly #client: WeakRef<MemoryClient>
  readonly #seesCauses: boolean
  #cause: unknown
  /** The client, while it waits. */
  waiting: MemoryClient | undefined

  constructor (client: MemoryClient, seesCauses: boolean) {
    this.#client = new WeakRef(client)
    this.#seesCauses = seesCauses
  }

  setCause (error: unknown): void {
    this.#cause = this.#seesCauses ? error : undefined
  }

  respond (text: string): void {
    this.#client.deref()?.receive(text, this.#cause)
  }

  emit (text: string): void {
    this.#client.deref()?.receive(text)
  }

  end (): void {}
}
