import type { Json } from '../../support/event-reader.js'

/** What became of the calls of one client. */
export class Tally {
  /** The tokens of calls that were answered with their token. */
  readonly answered: string[] = []
  /** The tokens of the others, with what came instead. */
  readonly failed = new Map<string, string>()
  readonly #name: string
  #last = 0

  constructor (name: string) {
    this.#name = name
  }

  /** A token that no other call has. */
  next (): string {
    return `${this.#name}-${++this.#last}`
  }

  /** Takes the response to a call, or what came instead. */
  note (token: string, response: Json | string): void {
    if (typeof response !== 'string' && textOf(response) === token) this.answered.push(token)
    else this.failed.set(token, typeof response === 'string' ? response : JSON.stringify(response).slice(0, 200))
  }
}

/** The request of a call of the tool in plugin.ts. */
export const noteRun = (id: string, token: string, steps: number, meta: Json = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'note_run', arguments: { token, steps }, _meta: meta }
})

function textOf ({ result }: Json): string | undefined {
  return (result as { content?: Array<{ text: string }> } | undefined)?.content?.[0]?.text
}
