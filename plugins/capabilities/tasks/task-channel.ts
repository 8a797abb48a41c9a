import type { Channel } from '../../../protocol/wire/channel.js'
import type { WireError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

/** The end of one round of a task: its result or error, or neither when it was aborted. */
export interface RoundEnd { readonly result?: Params, readonly error?: WireError, readonly status?: number }

/** Takes the response to one round of a task. Progress is told to `onProgress`, other notifications are dropped. */
export class TaskChannel implements Channel {
  readonly streams = true
  readonly ended: Promise<RoundEnd>
  readonly #onProgress: (text: string) => void
  #end: (end: RoundEnd) => void = () => {}

  constructor (onProgress: (text: string) => void) {
    this.#onProgress = onProgress
    this.ended = new Promise(resolve => { this.#end = resolve })
  }

  respond (text: string, status: number): void {
    this.#end({ ...JSON.parse(text) as RoundEnd, status })
  }

  emit (text: string, method: string): void {
    if (method !== 'notifications/progress') return
    const { params } = JSON.parse(text) as { params: unknown }
    if (isObject(params)) this.#onProgress(describe(params))
  }

  end (): void {
    this.#end({})
  }
}

function describe ({ message, progress, total }: Params): string {
  if (typeof message === 'string' && message !== '') return message
  return total === undefined ? `${String(progress)} done` : `${String(progress)} of ${String(total)} done`
}
