import { onAbort } from '../../lib/on-abort.js'
import type { Channel } from '../wire/channel.js'
import { fromWire, type WireError } from '../wire/errors.js'
import { encodeNotification, encodeRequest, type Id, type Response } from '../wire/jsonrpc.js'

export interface RequestOptions {
  /** Takes the request back: the other end gets `notifications/cancelled`. */
  signal?: AbortSignal | undefined
  /** What the request rejects with when it is answered with an error; an `McpError` of that code when absent. */
  toError?: (error: WireError) => Error
}

/** Chooses where the request with this id, and its cancellation, are written. */
export type ChannelOf = (id: Id) => Channel

interface PendingRequest { method: string, resolve: (result: unknown) => void, reject: (error: Error) => void, toError: (error: WireError) => Error }

/** Our requests to the other end of a connection that it has not answered yet. */
export class OutgoingRequests {
  readonly #idPrefix: string | undefined
  #pending = new Map<Id, PendingRequest>()
  #lastId = 0

  /** `idPrefix` is put before the ids, where an earlier process may have used the plain ones. */
  constructor (idPrefix: string | undefined) {
    this.#idPrefix = idPrefix
  }

  /** Settles with the answer; rejects when that is an error, or when the signal aborts. */
  send (method: string, params: object | undefined, to: Channel | ChannelOf, { signal, toError = fromWire }: RequestOptions): Promise<unknown> {
    if (signal?.aborted === true) return Promise.reject(cancelled(signal))
    const id = this.#nextId()
    const channel = typeof to === 'function' ? to(id) : to
    return new Promise((resolve, reject) => {
      const off = signal === undefined
        ? () => {}
        : onAbort(signal, () => {
          this.#pending.delete(id)
          channel.emit(encodeNotification('notifications/cancelled', { requestId: id }), 'notifications/cancelled')
          reject(cancelled(signal))
        })
      this.#pending.set(id, {
        method,
        toError,
        resolve: result => { off(); resolve(result) },
        reject: error => { off(); reject(error) }
      })
      channel.emit(encodeRequest(id, method, params), method)
    })
  }

  /** Takes an answer. One to a request that is not pending is ignored, with false: it crossed our cancellation on the wire. */
  settle ({ id, result, error }: Response): boolean {
    const request = id === undefined ? undefined : this.#pending.get(id)
    if (id === undefined || request === undefined) return false
    this.#pending.delete(id)
    if (error === undefined) request.resolve(result)
    else request.reject(request.toError(error))
    return true
  }

  /** Rejects one request that will not be answered; false if it is not pending. */
  fail (id: Id, error: Error): boolean {
    const request = this.#pending.get(id)
    if (request === undefined) return false
    this.#pending.delete(id)
    request.reject(error)
    return true
  }

  rejectAll (reason: (method: string) => Error): void {
    const pending = this.#pending
    this.#pending = new Map()
    for (const request of pending.values()) request.reject(reason(request.method))
  }

  #nextId (): Id {
    const number = ++this.#lastId
    return this.#idPrefix === undefined ? number : `${this.#idPrefix}${number}`
  }
}

const cancelled = ({ reason }: AbortSignal): Error => new Error('the request was cancelled', { cause: reason })
