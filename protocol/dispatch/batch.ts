import type { Channel } from '../wire/channel.js'
import { errors, type McpError } from '../wire/errors.js'
import { encodeError, type Id, type Incoming, type Message } from '../wire/jsonrpc.js'
import type { Revision } from '../revisions/revision.js'

/** Why a whole batch is refused; undefined when its messages may be taken one by one. */
export function batchRefusal (messages: Message[], revision: Revision | undefined): McpError | undefined {
  if (revision?.batches !== true) {
    return errors.invalidRequest('this protocol revision has no batches; send one message at a time')
  }
  const responses = messages.filter(message => message.kind === 'response').length
  return responses > 0 && responses < messages.length
    ? errors.invalidRequest('a batch holds requests or responses, not both')
    : undefined
}

/** The messages of a batch as they count inside one, each with the channel for its answer. */
export function splitBatch (messages: Message[], channel: Channel): Array<[Message, Channel]> {
  const replies = new BatchChannel(channel, messages.length)
  const first = messages.findIndex(({ kind }) => kind === 'request')
  const ids = new Set<Id>()
  return messages.map((message, index) => [admissible(message, ids), replies.slot(index, index === first)])
}

/** Some requests only stand alone, and an id is used once, even when its first request is answered already. */
function admissible (message: Message, ids: Set<Id>): Message {
  if (message.kind !== 'request') return message
  const { id, method, selfDescribed } = message
  if (method === 'initialize' || selfDescribed) return refuseOne(id, 'this request cannot be part of a batch')
  if (ids.has(id)) return refuseOne(id, `the id ${JSON.stringify(id)} is used twice in this batch`)
  ids.add(id)
  return message
}

const refuseOne = (id: Id, why: string): Message => ({ kind: 'invalid', id, error: errors.invalidRequest(why) })

/** The answer to every request of a message, as one error under each id; undefined when nothing was asked. */
export function encodeErrorFor (error: McpError, incoming: Incoming): string | undefined {
  if (incoming.kind === 'request') return encodeError(incoming.id, error)
  const asked = incoming.kind === 'batch' ? incoming.messages.filter(message => message.kind === 'request') : []
  return asked.length === 0 ? undefined : `[${asked.map(message => encodeErrorFor(error, message)).join(',')}]`
}

/** Takes what came for a peer that is closed: a request is answered all the same. */
export function refuseClosed (incoming: Incoming, channel: Channel): void {
  const text = encodeErrorFor(errors.closed(), incoming)
  if (text === undefined) channel.end()
  else channel.respond(text, 200)
}

/** Gathers the answers to a batch, in the order of its messages, and sends them as one array when the last is there. */
class BatchChannel {
  readonly #channel: Channel
  readonly #answers: Array<string | undefined>
  #waiting: number

  constructor (channel: Channel, size: number) {
    this.#channel = channel
    this.#answers = new Array<string | undefined>(size)
    this.#waiting = size
  }

  /** The channel of one response. The HTTP request that carried the batch counted as its first call. */
  slot (index: number, first: boolean): Channel {
    const channel = this.#channel
    return {
      get streams () {
        return channel.streams
      },
      isRateCounted: first && channel.isRateCounted === true,
      headers: channel.headers,
      address: channel.address,
      proxied: channel.proxied,
      narrowing: channel.narrowing,
      respond: text => this.#settle(index, text),
      end: () => this.#settle(index, undefined),
      emit: (text, method) => channel.emit(text, method),
      ...(channel.emitTransient === undefined
        ? {}
        : { emitTransient: (text: string, method: string) => channel.emitTransient?.(text, method) }),
      unwritten: () => channel.unwritten?.() ?? 0,
      isDetached: () => channel.isDetached?.() === true
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
