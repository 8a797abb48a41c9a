import { randomUUID } from 'node:crypto'
import type { Call } from './call.js'
import { errors, isMcpError } from '../wire/errors.js'
import { PreparedResult } from '../wire/result.js'
import type { Server } from '../revisions/revision.js'
import type { Result } from './methods.js'
import { statusOf } from '../http/http-status.js'

/** Turns what a handler returned, threw or left open into the one answer to its call. */
export class Responder {
  readonly #server: Server
  readonly #report: (data: object, call: Call) => void

  /** `report` hears of errors that nobody expected. */
  constructor (server: Server, report: (data: object, call: Call) => void) {
    this.#server = server
    this.#report = report
  }

  finish (call: Call, result: Result): void {
    if (call.needsInput) return this.#requestInput(call)
    try {
      if (result instanceof PreparedResult) call.response.send(result.tail(json => call.revision.encode(json, this.#server)))
      else call.response.send(call.revision.encode(result, this.#server), (result as { isError?: unknown }).isError === true)
    } catch (error) {
      this.fail(call, error)
    }
  }

  finishLater (call: Call, result: PromiseLike<Result>): void {
    Promise.resolve(result).then(value => this.finish(call, value), (error: unknown) => this.fail(call, error))
  }

  fail (call: Call, error: unknown): void {
    // What a cancelled handler throws on its way out interests nobody.
    if (call.response.isClosed) return
    if (call.needsInput && !isMcpError(error)) return this.#requestInput(call)
    try {
      if (isMcpError(error)) call.response.fail(error, statusOf(error, call.revision))
      else this.#internalError(call, error)
    } catch (second) {
      this.#internalError(call, second)
    }
  }

  #requestInput (call: Call): void {
    call.inputRequired()
      .then(result => call.response.send(call.revision.encode(result, this.#server)))
      .catch((error: unknown) => this.#internalError(call, error))
  }

  // The text of an error we did not write never leaves the process; the client gets an id to ask about.
  #internalError (call: Call, error: unknown): void {
    const correlation = call.correlation ??= randomUUID()
    call.response.fail(errors.internal(correlation), 200)
    this.#report({ correlation, err: error }, call)
  }
}
