import type { Channel } from '../../protocol/wire/channel.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { RelayedCall } from '../ports.js'

/** A call that wants progress, and the channel of its request once that is sent. */
export interface Progressing { readonly token: number, readonly call: RelayedCall, channel?: Channel }

/** The calls of clients that want progress of an upstream, by the tokens that it got for them. */
export class ProgressOfCalls {
  readonly #calls = new Map<unknown, Progressing>()
  #lastToken = 0

  add (call: RelayedCall): Progressing {
    const progressing: Progressing = { token: ++this.#lastToken, call }
    this.#calls.set(progressing.token, progressing)
    return progressing
  }

  remove ({ token }: Progressing): void {
    this.#calls.delete(token)
  }

  /** Passes progress on to its call. Returns in words what is wrong with it; `on` is the channel on whose stream it came. */
  pass (params: Params, on: Channel | undefined): string | undefined {
    const progressing = this.#calls.get(params['progressToken'])
    if (progressing === undefined) return 'progress of a request that is not pending'
    if (on !== undefined && on !== progressing.channel) return 'progress on the stream of another request'
    progressing.call.progress(params)
    return undefined
  }
}
