import type { Call } from '../../protocol/dispatch/call.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { RelayedCall } from '../ports.js'
import { clientOf } from './client-of.js'
import { forwardLog, forwardProgress } from './forward-notifications.js'

/** A client's call that lasts as long as the request to the upstream: what the upstream sends meanwhile goes straight to the client. */
export class DirectCall implements RelayedCall {
  readonly #call: Call

  constructor (call: Call) {
    this.#call = call
  }

  get principal (): string | undefined {
    return this.#call.principal
  }

  get client (): object {
    return clientOf(this.#call)
  }

  progress (params: Params): void {
    forwardProgress(this.#call, params)
  }

  log (params: Params): void {
    forwardLog(this.#call, params)
  }

  canAsk (method: string, params: Params): boolean {
    return this.#call.can(method, params)
  }

  async ask (method: string, params: Params, signal: AbortSignal): Promise<object> {
    return await this.#call.clientRequests.forward({ method, params }, params, signal) as object
  }
}
