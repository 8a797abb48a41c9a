import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpErrors } from '../../protocol/http/http-errors.js'
import type { ForwardedPost, PostAnswer } from '../../protocol/nodes/message.js'
import type { NodeCalls } from '../../protocol/nodes/node-calls.js'
import type { Peer } from '../../protocol/peer/peer.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { sendJson } from './json-reply.js'
import { takeBody } from './posts.js'
import { throwUnavailable } from './session-lookup.js'

/** For how many milliseconds the client of a POST waits for the node with its stream. */
const TIMEOUT = 10_000

const ACCEPTED = { status: 202, text: undefined } as const

/** The id of a new HTTP+SSE stream, which begins with its node. */
export const newStreamId = (self: string | undefined): string =>
  `${self === undefined ? '' : `${self}.`}${randomBytes(24).toString('base64url')}`

/**
 * Passes a POST on to the node that the id of its stream names, and answers it as that node says. Throws an HTTP error
 * when that is this node.
 */
export function passPost (
  connection: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { nodeCalls, identities }: Pick<HttpGateway, 'identities' | 'nodeCalls'>
): void {
  const { self } = nodeCalls.nodes
  const node = /^([0-9a-f]{12})\./.exec(connection)?.[1]
  if (self === undefined || node === undefined || node === self) throw httpErrors.unknownSseSession()
  const post: ForwardedPost = {
    connection,
    identity: identities.carry(request.identity),
    view: viewOf(request),
    text: Buffer.from(takeBody(request)).toString()
  }
  requestPost(nodeCalls, node, post)
    .catch(throwUnavailable)
    .then(answer => respond(answer, reply))
    .catch(error => {
      void reply.send(error)
    })
}

async function requestPost (nodeCalls: NodeCalls, node: string, post: ForwardedPost): Promise<PostAnswer> {
  const { outcome, answer } = await nodeCalls.request(node, 'post', post, { timeout: TIMEOUT })
  if (outcome === 'answered') return answer as PostAnswer
  if (!await nodeCalls.nodes.isAlive(node)) return 'unknown'
  throw outcome === 'lost' ? httpErrors.postNotPassedOn() : httpErrors.nodeAway()
}

/**
 * Takes a POST that another node passed on, with the rights that its caller has here. The answer waits for nothing but
 * the decoding.
 */
export async function takePost (
  { identity: carried, text }: ForwardedPost,
  { dispatcher, identities }: Pick<HttpGateway, 'dispatcher' | 'identities'>,
  find: (caller: Identity) => { peer: Peer, sink: Sink } | undefined
): Promise<PostAnswer> {
  const identity = identities.adopt(carried)
  if (identity === undefined) return 'refused'
  const client = find(identity)
  const channel = client?.peer.channel
  if (client === undefined || channel === undefined) return 'unknown'
  if (client.sink.isFull?.() === true) return 'full'
  const incoming = dispatcher.decode(text)
  if (incoming.kind === 'invalid' && incoming.id === undefined) {
    return await new Promise(resolve => {
      dispatcher.receive(incoming, client.peer, replyChannel(resolve))
    })
  }
  dispatcher.receive(incoming, client.peer, { ...channel, isRateCounted: true }, identity)
  return ACCEPTED
}

function respond (answer: PostAnswer, reply: FastifyReply): void {
  if (answer === 'unknown') throw httpErrors.unknownSseSession()
  if (answer === 'full') throw httpErrors.streamFull()
  if (answer === 'refused') throw httpErrors.credentialUnknownAtNode()
  if (answer.text !== undefined) sendJson(reply, answer.text, answer.status)
  else void reply.code(202).header('content-type', 'text/plain').send('Accepted')
}

const replyChannel = (resolve: (answer: PostAnswer) => void): Channel => ({
  streams: false,
  hasStatus: true,
  isRateCounted: true,
  respond: (text, status) => resolve({ status, text }),
  emit: () => {},
  end: () => resolve(ACCEPTED)
})
