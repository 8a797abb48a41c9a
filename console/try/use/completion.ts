import { isObject, type Client, type JsonObject } from '../../client/contract.js'

const DEBOUNCE_MS = 150
/** More are not shown. */
const MAX_VALUES = 100

export type Reference = { type: 'ref/prompt', name: string } | { type: 'ref/resource', uri: string }

/**
 * Asks the server for values of an argument while it is typed: only after a pause, and only the last question counts.
 */
export class Completer {
  readonly #found: (values: string[]) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: AbortController | undefined

  constructor (found: (values: string[]) => void) {
    this.#found = found
  }

  ask (client: Client | undefined, ref: Reference, name: string, value: string, others: JsonObject): void {
    this.stop()
    if (client === undefined || !('completions' in client.server.capabilities)) return
    this.#timer = setTimeout(() => {
      void this.#complete(client, { ref: { ...ref }, argument: { name, value }, context: { arguments: others } })
    }, DEBOUNCE_MS)
  }

  stop (): void {
    clearTimeout(this.#timer)
    this.#running?.abort()
    this.#running = undefined
  }

  async #complete (client: Client, params: JsonObject): Promise<void> {
    const { signal } = this.#running = new AbortController()
    // A server that cannot complete is not worth a word: one can still type.
    const result = await client.request('completion/complete', params, { signal }).catch((): JsonObject => ({}))
    if (!signal.aborted) this.#found(valuesOf(result))
  }
}

export function valuesOf ({ completion }: JsonObject): string[] {
  const values = isObject(completion) ? completion.values : undefined
  return Array.isArray(values) ? values.filter(value => typeof value === 'string').slice(0, MAX_VALUES) : []
}
