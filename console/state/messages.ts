import { signal } from '@preact/signals'
import type { JsonObject } from '../client/contract.js'
import type { Direction, OnMessage } from '../client/rpc.js'
import type { Pointer } from '../forms/model/value.js'
import { MessageSecrets } from './message-secrets.js'
import { redact } from './redact.js'

export interface Message {
  number: number
  at: number
  direction: Direction
  /** The method; for a response that of its request. */
  method: string
  kind: 'request' | 'response' | 'error' | 'notification'
  /** From the request to this response. */
  ms?: number
  size: number
  message: JsonObject
  /** Where its secret arguments are. */
  secrets: ReadonlySet<Pointer>
}

export const MAX_MESSAGES = 1_000
/** Characters of all messages that are kept; older ones go first. */
const MAX_SIZE = 32 * 1024 * 1024

/** The last messages of this tab, oldest first. */
export const messages = signal<Message[]>([])
/** How many are not kept any more. */
export const droppedMessages = signal(0)

/** Keeps messages and publishes them once per turn of `later`, so that a flood is drawn once. */
export class MessageLog {
  #kept: Message[] = []
  #size = 0
  #number = 0
  #dropped = 0
  #scheduled = false
  readonly #secrets = new MessageSecrets()
  readonly #sent = new Map<string, { method: string, at: number }>()
  readonly #later: (run: () => void) => void

  constructor (later: (run: () => void) => void) {
    this.#later = later
  }

  readonly add: OnMessage = (direction, message, size) => {
    const at = Date.now()
    this.#kept.push({
      number: ++this.#number,
      at,
      direction,
      size,
      message,
      secrets: this.#secrets.find(direction, message),
      ...this.#about(direction, message, at)
    })
    this.#size += size
    while (this.#kept.length > MAX_MESSAGES || (this.#size > MAX_SIZE && this.#kept.length > 1)) {
      this.#size -= this.#kept.shift()?.size ?? 0
      this.#dropped++
    }
    this.#publishLater()
  }

  clear (): void {
    this.#kept = []
    this.#size = 0
    this.#dropped = 0
    this.#sent.clear()
    this.#secrets.forget()
    this.#publishLater()
  }

  #about (direction: Direction, { id, method, error }: JsonObject, at: number): Pick<Message, 'method' | 'kind' | 'ms'> {
    const isRequest = typeof method === 'string' && id !== undefined
    if (typeof method === 'string' && !isRequest) return { method, kind: 'notification' }
    const own = `${isRequest === (direction === 'sent') ? 'ours' : 'theirs'} ${String(id)}`
    if (typeof method === 'string') {
      this.#sent.set(own, { method, at })
      return { method, kind: 'request' }
    }
    const request = this.#sent.get(own)
    this.#sent.delete(own)
    return {
      method: request?.method ?? '',
      kind: error === undefined ? 'response' : 'error',
      ...(request === undefined ? {} : { ms: at - request.at })
    }
  }

  #publishLater (): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#later(() => {
      this.#scheduled = false
      messages.value = [...this.#kept]
      droppedMessages.value = this.#dropped
    })
  }
}

/** A message as people see it: indented, without what is usually secret. */
export const shownMessage = ({ message, secrets }: Message): string => JSON.stringify(redact(message, secrets), null, 2)

/** One message a line, as `shownMessage` has them. */
export const asLines = (all: Message[]): string =>
  all
    .map(
      ({ at, direction, ms, message, secrets }) =>
        JSON.stringify({
          at: new Date(at).toISOString(),
          direction,
          ...(ms === undefined ? {} : { ms }),
          message: redact(message, secrets)
        }) + '\n'
    )
    .join('')
