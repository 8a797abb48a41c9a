import type { Conversation } from '../peer/conversation.js'
import type { RequestOptions } from '../peer/outgoing-requests.js'
import type { Peer } from '../peer/peer.js'
import type { Revision } from '../revisions/revision.js'
import type { CallTask } from '../tasks/task-record.js'
import type { Channel } from '../wire/channel.js'
import type { Id, Params } from '../wire/jsonrpc.js'
import type { CallTrace } from '../wire/trace.js'
import { namingCall } from './named-call.js'
import type { Answering } from './stand-in.js'

/** The call on whose behalf the client is asked. */
export interface Asker {
  readonly id: Id
  readonly method: string
  readonly params: Params
  readonly principal: string | undefined
  readonly revision: Revision
  readonly capabilities: Record<string, unknown>
  readonly conversation: Readonly<Conversation>
  readonly peer: Peer
  readonly channel: Channel
  readonly trace: CallTrace | undefined
  readonly task: CallTask | undefined
  readonly ruled: Answering | undefined
}

/** Sends one request to the client of the call; it is a span of its own where calls are traced. */
export function sendFor (
  call: Asker,
  method: string,
  params: object | undefined,
  options: RequestOptions
): Promise<unknown> {
  const { peer, channel, trace } = call
  const named = namingCall(params, call)
  const span = trace?.startQuestion(method, named)
  if (span === undefined) return peer.request(method, named, channel, options)
  return span.endWith(peer.request(method, span.params, id => {
    span.setId(id)
    return channel
  }, options))
}
