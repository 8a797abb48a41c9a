import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Peer } from '../../protocol/peer/peer.js'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Params, Request } from '../../protocol/wire/jsonrpc.js'
import { DISCONNECTED } from '../http/posts.js'
import { peerOf, QUIET_META, type RestGateway } from './calls.js'
import { answerIn } from './outcome.js'
import { problemOfError, type RestOutcome } from './problem.js'

/** One thing of a list, as MCP has it. */
export type Entry = Record<string, unknown>

/** All pages of some lists, by the names of their members; a refusal of one of them in place of all. */
export type Lists<Member extends string> = { readonly [M in Member]: Entry[] } | { readonly refusal: RestOutcome }

/**
 * Reads lists to their ends, as the caller of the request may see them: each page is a call of its own, like those of
 * MCP clients.
 */
export async function readLists<Member extends string> (
  { dispatcher, connections }: RestGateway,
  methods: Readonly<Record<Member, string>>,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<Lists<Member>> {
  const peer = peerOf(request)
  dispatcher.lifecycle.connect(peer)
  connections.onGone(reply, () => dispatcher.lifecycle.disconnect(peer, DISCONNECTED))
  const narrowing = narrowingOf(request.query, request.headers)
  const entries: Partial<Record<Member, Entry[]>> = {}
  for (const member of Object.keys(methods) as Member[]) {
    const list: Entry[] = entries[member] = []
    let cursor: unknown
    do {
      const params = { ...(cursor === undefined ? {} : { cursor }), _meta: QUIET_META }
      const { text, status, headers } = await ask(dispatcher, methods[member], params, peer, request, narrowing)
      const { result = {}, error } = answerIn(text)
      if (error !== undefined) {
        const refusal = problemOfError(error, status)
        return { refusal: { ...refusal, headers: { ...headers, ...refusal.headers } } }
      }
      list.push(...result[member] as Entry[])
      cursor = result.nextCursor
    } while (cursor !== undefined)
  }
  return entries as Record<Member, Entry[]>
}

/** The response to one request; a cancelled one has an error without a text. */
function ask (
  dispatcher: RestGateway['dispatcher'],
  method: string,
  params: Params,
  peer: Peer,
  { headers: given }: FastifyRequest,
  narrowing: Channel['narrowing']
): Promise<{ text: string, status: number, headers?: Record<string, string> | undefined }> {
  const message: Request =
    { kind: 'request', id: 1, method, params, meta: QUIET_META, selfDescribed: true, size: 0 }
  return new Promise(resolve => {
    dispatcher.receive(message, peer, {
      streams: false,
      hasStatus: true,
      isRateCounted: true,
      headers: given,
      narrowing,
      respond: (text, status, headers) => resolve({ text, status, headers }),
      emit: () => {},
      end: () => resolve({ text: '{"error":{"code":-32603,"message":"The request was cancelled"}}', status: 503 })
    })
  })
}
