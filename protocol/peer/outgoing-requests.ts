import { onAbort, type Cancellation } from '../../lib/abort.js'
import { RecycledMap } from '../../lib/recycled.js'
import type { Channel } from '../wire/channel.js'
import { fromWire, type WireError } from '../wire/errors.js'
import { encodeNotification, encodeRequest, type Id, type Response } from '../wire/jsonrpc.js'

export interface RequestOptions {
  /** Takes the request back: the other end gets `notifications/cancelled`. */
  readonly signal?: AbortSignal | undefined
  /** Takes it back like `signal`, for requests that are sent for every call. */
  readonly cancellation?: Cancellation | undefined
  /**
   * Makes the error that the request rejects with when it is answered with one; an `McpError` of that code when absent.
   */
  readonly toError?: ((error: WireError) => Error) | undefined
}

/** Chooses where the request with this id, and its cancellation, are written. */
export type ChannelOf = (id: Id) => Channel

/** Everything that is known of a request of ours until it is answered; `options` are those of its sender. */
export interface OutgoingRequest<O> {
  readonly id: Id
  readonly method: string
  readonly options: O
  readonly channel: Channel
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** Stops to listen for a cancellation. */
  readonly stop: (() => void) | undefined
}

/** The rejection of a request that we have taken back; `cause` is why. */
export class RequestCancelled extends Error {
  constructor (cause: unknown) {
    super('the request was cancelled', { cause })
  }
}

/** Our requests to the other end of a connection that it has not answered yet, oldest first. */
export class OutgoingRequests<O extends RequestOptions = RequestOptions> {
  readonly #idPrefix: string | undefined
  readonly #onSettled: ((request: OutgoingRequest<O>, isCancelled: boolean) => void) | undefined
  readonly #pending = new RecycledMap<Id, OutgoingRequest<O>>()
  #lastId = 0

  /**
   * `idPrefix` is put before the ids, where an earlier process may have used the plain ones. `onSettled` is called when
   * a request is answered, cancelled or given up.
   */
  constructor (idPrefix?: string, onSettled?: (request: OutgoingRequest<O>, isCancelled: boolean) => void) {
    this.#idPrefix = idPrefix
    this.#onSettled = onSettled
  }

  get size (): number {
    return this.#pending.size
  }

  get (id: Id): OutgoingRequest<O> | undefined {
    return this.#pending.get(id)
  }

  all (): Array<OutgoingRequest<O>> {
    return this.#pending.values()
  }

  nextId (): Id {
    const number = ++this.#lastId
    return this.#idPrefix === undefined ? number : `${this.#idPrefix}${number}`
  }

  /** Settles with the answer; rejects when that is an error, or when it is cancelled. */
  send (method: string, params: object | undefined, to: Channel | ChannelOf, options: O): Promise<unknown> {
    const refusal = refuseCancelled(options)
    if (refusal !== undefined) return refusal
    const id = this.nextId()
    return this.write(id, method, encodeRequest(id, method, params), typeof to === 'function' ? to(id) : to, options)
  }

  /** Sends the text of a request with an id of `nextId`. Its `options` are not `cancelled`. */
  write (id: Id, method: string, text: string, channel: Channel, options: O): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { id, method, options, channel, resolve, reject, stop: this.#listen(id, options) })
      try {
        channel.emit(text, method)
      } catch (error) {
        this.fail(id, error)
      }
    })
  }

  /**
   * Takes an answer. One to a request that is not pending is ignored, with false: it crossed our cancellation on the
   * wire.
   */
  settle ({ id, result, error }: Response): boolean {
    const request = id === undefined ? undefined : this.#take(id)
    if (request === undefined) return false
    if (error === undefined) request.resolve(result)
    else request.reject((request.options.toError ?? fromWire)(error))
    return true
  }

  /** Rejects one request that will not be answered; false if it is not pending. */
  fail (id: Id, error: unknown): boolean {
    const request = this.#take(id)
    request?.reject(error)
    return request !== undefined
  }

  rejectAll (reason: (method: string) => Error): void {
    for (const { id, method } of this.all()) this.fail(id, reason(method))
  }

  #listen (id: Id, { signal, cancellation }: O): (() => void) | undefined {
    if (cancellation !== undefined) return cancellation.on(reason => this.#cancel(id, reason))
    return signal === undefined ? undefined : onAbort(signal, () => this.#cancel(id, signal.reason))
  }

  #cancel (id: Id, reason: unknown): void {
    const request = this.#take(id, true)
    if (request === undefined) return
    request.channel.emit(encodeNotification('notifications/cancelled', { requestId: id }), 'notifications/cancelled')
    request.reject(new RequestCancelled(reason))
  }

  #take (id: Id, isCancelled = false): OutgoingRequest<O> | undefined {
    const request = this.#pending.get(id)
    if (request === undefined) return undefined
    this.#pending.delete(id)
    request.stop?.()
    this.#onSettled?.(request, isCancelled)
    return request
  }
}

/** The outcome of a request that is taken back before it is sent; undefined for others. */
export function refuseCancelled ({ signal, cancellation }: RequestOptions): Promise<never> | undefined {
  const reason: unknown = signal?.aborted === true ? signal.reason : cancellation?.reason
  return reason === undefined ? undefined : Promise.reject(new RequestCancelled(reason))
}
