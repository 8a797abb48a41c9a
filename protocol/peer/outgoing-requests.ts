import { onAbort, type Cancellation } from '../../lib/abort.js'
import { RecycledMap } from '../../lib/recycled.js'
import type { Channel } from '../wire/channel.js'
import { fromWire, type WireError } from '../wire/errors.js'
import { encodeNotification, encodeRequest, encodeRequestWith, type Id, type Response } from '../wire/jsonrpc.js'

export interface RequestOptions {
  /** Takes the request back: the other end gets `notifications/cancelled`. */
  signal?: AbortSignal | undefined
  /** The same, for requests that are sent for every call. */
  cancellation?: Cancellation | undefined
  /** The params as JSON text, where they are encoded already. */
  json?: string | undefined
  /** What the request rejects with when it is answered with an error; an `McpError` of that code when absent. */
  toError?: ((error: WireError) => Error) | undefined
  /** Called with the id of a request that was sent, when it is answered, cancelled or given up. */
  onSettled?: ((id: Id, isCancelled: boolean) => void) | undefined
}

/** Chooses where the request with this id, and its cancellation, are written. */
export type ChannelOf = (id: Id) => Channel

interface PendingRequest {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly options: RequestOptions
  /** Stops to listen for a cancellation. */
  readonly stop: (() => void) | undefined
}

/** What a request of ours rejects with that we have taken back; `cause` is why. */
export class RequestCancelled extends Error {
  constructor (cause: unknown) {
    super('the request was cancelled', { cause })
  }
}

/** Our requests to the other end of a connection that it has not answered yet. */
export class OutgoingRequests {
  readonly #idPrefix: string | undefined
  readonly #pending = new RecycledMap<Id, PendingRequest>()
  #lastId = 0

  /** `idPrefix` is put before the ids, where an earlier process may have used the plain ones. */
  constructor (idPrefix: string | undefined) {
    this.#idPrefix = idPrefix
  }

  /** Settles with the answer; rejects when that is an error, or when it is cancelled. */
  send (method: string, params: object | undefined, to: Channel | ChannelOf, options: RequestOptions): Promise<unknown> {
    const { signal, cancellation } = options
    const reason: unknown = signal?.aborted === true ? signal.reason : cancellation?.reason
    if (reason !== undefined) return Promise.reject(new RequestCancelled(reason))
    const id = this.#nextId()
    const channel = typeof to === 'function' ? to(id) : to
    return new Promise((resolve, reject) => {
      const cancel = (why: unknown): void => this.#cancel(id, channel, why)
      const stop = cancellation?.on(cancel) ?? (signal === undefined ? undefined : onAbort(signal, () => cancel(signal.reason)))
      this.#pending.set(id, { method, resolve, reject, options, stop })
      try {
        channel.emit(options.json === undefined ? encodeRequest(id, method, params) : encodeRequestWith(id, method, options.json), method)
      } catch (error) {
        this.#take(id)?.reject(error)
      }
    })
  }

  /** Takes an answer. One to a request that is not pending is ignored, with false: it crossed our cancellation on the wire. */
  settle ({ id, result, error }: Response): boolean {
    const request = id === undefined ? undefined : this.#take(id)
    if (request === undefined) return false
    if (error === undefined) request.resolve(result)
    else request.reject((request.options.toError ?? fromWire)(error))
    return true
  }

  /** Rejects one request that will not be answered; false if it is not pending. */
  fail (id: Id, error: Error): boolean {
    const request = this.#take(id)
    request?.reject(error)
    return request !== undefined
  }

  rejectAll (reason: (method: string) => Error): void {
    for (const id of this.#pending.keys()) {
      const request = this.#take(id)
      request?.reject(reason(request.method))
    }
  }

  #cancel (id: Id, channel: Channel, reason: unknown): void {
    const request = this.#take(id, true)
    if (request === undefined) return
    channel.emit(encodeNotification('notifications/cancelled', { requestId: id }), 'notifications/cancelled')
    request.reject(new RequestCancelled(reason))
  }

  #take (id: Id, isCancelled = false): PendingRequest | undefined {
    const request = this.#pending.get(id)
    if (request === undefined) return undefined
    this.#pending.delete(id)
    request.stop?.()
    request.options.onSettled?.(id, isCancelled)
    return request
  }

  #nextId (): Id {
    const number = ++this.#lastId
    return this.#idPrefix === undefined ? number : `${this.#idPrefix}${number}`
  }
}
