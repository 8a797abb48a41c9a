import type { Channel } from './channel.js'
import { errors, type McpError } from './errors.js'
import { encodeError, type Incoming, type Message } from './jsonrpc.js'
import type { Revision } from './revisions/revision.js'
import { claimsVersion } from './revisions/table.js'

/** Why a whole batch is refused; undefined when its messages may be taken one by one. */
export function batchRefusal (messages: Message[], revision: Revision | undefined): McpError | undefined {
  if (revision?.batches !== true) return errors.invalidRequest('this protocol revision has no batches; send one message at a time')
  const responses = messages.filter(message => message.kind === 'response').length
  return responses > 0 && responses < messages.length ? errors.invalidRequest('a batch holds requests or responses, not both') : undefined
}

/** A message as it counts inside a batch: some requests only stand alone. */
export function inBatch (message: Message): Message {
  if (message.kind !== 'request') return message
  const alone = message.method === 'initialize' || claimsVersion(message.params)
  return alone ? { kind: 'invalid', id: message.id, error: errors.invalidRequest('this request cannot be part of a batch') } : message
}

/** The answer to every request of a message, as one error under each id; undefined when nothing was asked. */
export function answerWith (error: McpError, incoming: Incoming): string | undefined {
  if (incoming.kind === 'request') return encodeError(incoming.id, error)
  const asked = incoming.kind === 'batch' ? incoming.messages.filter(message => message.kind === 'request') : []
  return asked.length === 0 ? undefined : `[${asked.map(message => answerWith(error, message)).join(',')}]`
}

/** Takes what came for a peer that is closed: a request is answered all the same. */
export function refuseClosed (incoming: Incoming, channel: Channel): void {
  const text = answerWith(errors.closed(), incoming)
  if (text === undefined) channel.end()
  else channel.respond(text, 200)
}

/** Gathers the answers to a batch, in the order of its messages, and sends them as one array when the last is there. */
export class BatchChannel {
  readonly #channel: Channel
  readonly #answers: Array<string | undefined>
  #waiting: number

  constructor (channel: Channel, size: number) {
    this.#channel = channel
    this.#answers = new Array<string | undefined>(size)
    this.#waiting = size
  }

  /** Where one of the answers goes. Whatever brought the batch here was counted for its first request only. */
  slot (index: number, first: boolean): Channel {
    const channel = this.#channel
    return {
      get streams () { return channel.streams },
      counted: first && channel.counted === true,
      respond: text => this.#settle(index, text),
      end: () => this.#settle(index, undefined),
      emit: (text, method) => this.#channel.emit(text, method)
    }
  }

  #settle (index: number, text: string | undefined): void {
    this.#answers[index] = text
    if (--this.#waiting > 0) return
    const answers = this.#answers.filter(answer => answer !== undefined)
    if (answers.length === 0) this.#channel.end()
    else this.#channel.respond(`[${answers.join(',')}]`, 200)
  }
}
