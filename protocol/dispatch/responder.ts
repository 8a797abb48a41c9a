import type { Call } from './call.js'
import { isMcpError, type McpError } from '../wire/errors.js'
import { PreparedResult } from '../wire/result.js'
import type { Server } from '../revisions/revision.js'
import type { Result } from './methods.js'
import type { Observers } from './observers.js'
import { statusOf } from '../http/http-error.js'

/** Turns what a handler returned, threw or asked the client into the one response to its call. */
export class Responder {
  readonly #server: Server
  readonly #observers: Observers

  constructor (server: Server, observers: Observers) {
    this.#server = server
    this.#observers = observers
  }

  finish (call: Call, result: Result): void {
    if (call.needsInput) return this.#requestInput(call)
    try {
      if (result instanceof PreparedResult) {
        call.response.send(result.tail(json => call.revision.encode(json, this.#server)))
      } else {
        call.response.send(encode(call, result, this.#server), (result as { isError?: unknown }).isError === true)
      }
    } catch (error) {
      this.fail(call, error)
    }
  }

  finishLater (call: Call, result: PromiseLike<Result>): void {
    Promise.resolve(result).then(value => this.finish(call, value), (error: unknown) => this.fail(call, error))
  }

  fail (call: Call, error: unknown): void {
    // A cancelled handler throws because it was cancelled: that is not logged.
    if (call.response.isClosed) return
    if (call.needsInput && !isMcpError(error)) return this.#requestInput(call)
    try {
      if (isMcpError(error)) this.#respondWith(call, error)
      else this.#internalError(call, error)
    } catch (second) {
      this.#internalError(call, second)
    }
  }

  #respondWith (call: Call, error: McpError): void {
    const status = statusOf(error, call.revision)
    call.response.fail(error, status)
    this.#observers.reportRefusal(error, call.channel.hasStatus === true ? status : undefined)
  }

  #requestInput (call: Call): void {
    call.inputRequired()
      .then(result => call.response.send(encode(call, result, this.#server)))
      .catch((error: unknown) => this.#internalError(call, error))
  }

  #internalError (call: Call, error: unknown): void {
    call.channel.setCause?.(error)
    this.#observers.respondInternal(error, sent => call.response.fail(sent, statusOf(sent, call.revision)), call)
    call.channel.setCause?.(undefined)
  }
}

/** The text of a result, in the form of the client's channel or else of its revision. */
export const encode = ({ channel, revision }: Call, result: object, server: Server): string =>
  channel.encode?.(result) ?? revision.encode(result, server)
