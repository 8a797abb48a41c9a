import { decode, type Id, type Incoming } from '../../protocol/wire/jsonrpc.js'
import { idOfAnswer } from './answered-id.js'
import type { LinkEvents, LinkLimits, LinkRequest } from './link.js'
import type { Source, UnaskedMessages } from './unasked-messages.js'

/** True for requests whose answer is a page of a list, which may have more values than others. */
export const isList = (method: string): boolean => method.endsWith('/list')

/** How many requests for lists are remembered: more than a gateway has open at a link. */
const MAX_LISTS = 64

/**
 * Decodes what comes where one stream carries all: only what answers a request for a list may be as large as a list.
 */
export class MessageDecoder {
  readonly #limits: Pick<LinkLimits, 'limits' | 'listLimits'>
  readonly #lists = new Set<Id>()

  constructor (limits: Pick<LinkLimits, 'limits' | 'listLimits'>) {
    this.#limits = limits
  }

  /** A request is sent. */
  expect ({ id, method }: LinkRequest): void {
    if (!isList(method)) return
    this.#lists.add(id)
    const [oldest] = this.#lists
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest)
  }

  decode (bytes: Buffer): Incoming {
    const incoming = decode(bytes, this.#limits.limits)
    if (this.#lists.size === 0) return incoming
    const id = incoming.kind === 'invalid' ? idOfAnswer(bytes) : incoming.kind === 'response' ? incoming.id : undefined
    return id !== undefined && this.#lists.delete(id) && incoming.kind === 'invalid'
      ? decode(bytes, this.#limits.listLimits)
      : incoming
  }
}

/**
 * Decodes a message, or a batch, that came where one stream carries all, and reports it. A response that cannot be read
 * fails the request it answers.
 */
export function reportMessages (
  bytes: Buffer,
  decoder: MessageDecoder,
  events: LinkEvents,
  unasked: UnaskedMessages,
  source: Source
): void {
  const incoming = decoder.decode(bytes)
  for (const message of incoming.kind === 'batch' ? incoming.messages : [incoming]) {
    const id = message.kind === 'invalid' ? idOfAnswer(bytes) : undefined
    if (message.kind !== 'invalid' || id === undefined) {
      if (!events.message(message, undefined)) unasked.add(source, message, bytes.length)
    } else {
      unasked.add(source, message, bytes.length)
      events.failed(id, new Error(`its response cannot be read: ${message.error.message}`))
    }
  }
}
