import type { Json } from '../ledger.js'
import type { Question } from '../transports/transport.js'

/** What a caller got for a call; without a result or an error, HTTP refused it. */
export interface Answer { status?: number, result?: Json, error?: { code: number, data?: Json } }

/** One client that makes one call after the other. */
export interface Caller {
  /** As labels and audit lines have them. */
  readonly transport: 'stdio' | 'http' | 'sse' | 'websocket'
  readonly revision: string
  readonly hasHandshake: boolean
  call: (question: Question) => Promise<Answer>
  /** Makes a call that never ends, and cancels it when it has begun. Absent where a client does not hear that. */
  cancel?: (question: Question) => Promise<void>
  close: () => Promise<void>
}

export const cancelled = (requestId: number): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

/** The same question, whose call tells about its progress under this token. */
export const withProgress = ({ method, params }: Question, progressToken: number): Question => ({
  method,
  params: { ...params, _meta: { ...(params['_meta'] as Json | undefined), progressToken } }
})

interface Message extends Answer { id?: number | string, method?: string, params?: { progressToken?: number } }

/** The calls of a connection on which all messages come one after the other. */
export class Conversation {
  readonly #write: (text: string) => void
  readonly #encode: (id: number, question: Question) => string
  readonly #answers = new Map<unknown, (answer: Answer) => void>()
  readonly #begun = new Map<unknown, () => void>()
  #next = 0

  constructor (write: (text: string) => void, encode: (id: number, question: Question) => string) {
    this.#write = write
    this.#encode = encode
  }

  receive (text: string): void {
    const message = JSON.parse(text) as Message
    if (message.method === undefined) this.#answers.get(message.id)?.(message)
    else this.#begun.get(message.params?.progressToken)?.()
  }

  async call (question: Question): Promise<Answer> {
    const id = this.#next++
    const answer = new Promise<Answer>(resolve => { this.#answers.set(id, resolve) })
    this.#write(this.#encode(id, question))
    return await answer.finally(() => this.#answers.delete(id))
  }

  async cancel (question: Question): Promise<void> {
    const id = this.#next++
    const begun = new Promise<void>(resolve => { this.#begun.set(id, resolve) })
    this.#write(this.#encode(id, withProgress(question, id)))
    await begun.finally(() => this.#begun.delete(id))
    this.#write(cancelled(id))
  }
}
