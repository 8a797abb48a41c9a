import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../../lib/time.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { DELIVERY_TIMEOUT } from '../../protocol/nodes/inquiries.js'
import type { PostAnswer, PostQuestion } from '../../protocol/nodes/message.js'
import type { Peer } from '../../protocol/peer/peer.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { sendJson } from './json-reply.js'
import { takeBody } from './posts.js'
import { throwUnavailable } from './session-lookup.js'

/** In milliseconds. */
const SEND_AGAIN_AFTER = 250

const ACCEPTED = { status: 202, text: undefined } as const

type PostGateway = Pick<HttpGateway, 'dispatcher' | 'identities' | 'inquiries' | 'store'>

/** POSTs of HTTP+SSE clients that reach another node than the one with their stream: the id of a stream begins with its node. */
export class ForwardedPosts {
  readonly #gateway: PostGateway

  constructor (gateway: PostGateway) {
    this.#gateway = gateway
  }

  /** The id of a new stream of this node. */
  newId (): string {
    const { self } = this.#gateway.store.nodes
    return `${self === undefined ? '' : `${self}.`}${randomBytes(24).toString('base64url')}`
  }

  /** Passes a POST on to the node that its stream's id names, and answers it as that node says. Throws an HTTP error when that is this node. */
  pass (connection: string, request: FastifyRequest, reply: FastifyReply): void {
    const { self } = this.#gateway.store.nodes
    const node = /^([0-9a-f]{12})\./.exec(connection)?.[1]
    if (self === undefined || node === undefined || node === self) throw httpErrors.unknownSseSession()
    const text = Buffer.from(takeBody(request)).toString()
    const question: PostQuestion = { kind: 'post', connection, identity: this.#gateway.identities.carry(request.identity), view: viewOf(request), text }
    this.#ask(node, question).catch(throwUnavailable).then(answer => respond(answer, reply)).catch(error => { void reply.send(error) })
  }

  // A node that hears it twice serves it twice, so it is sent again only to one that was not there: it may be connecting again.
  async #ask (node: string, question: PostQuestion): Promise<PostAnswer> {
    const { inquiries, store: { nodes } } = this.#gateway
    for (const until = now() + DELIVERY_TIMEOUT; ; await sleep(SEND_AGAIN_AFTER, undefined, { ref: false })) {
      const { isThere, answer } = await inquiries.deliver(node, question, DELIVERY_TIMEOUT)
      if (answer !== undefined) return answer as PostAnswer
      if (!await nodes.isAlive(node)) return 'unknown'
      if (isThere) throw httpErrors.postNotPassedOn()
      if (now() >= until) throw httpErrors.nodeAway()
    }
  }

  /** Takes a POST that another node passed on, with the rights that its caller has here. The answer waits for nothing but the decoding. */
  async take ({ identity: carried, text }: PostQuestion, find: (caller: Identity) => { peer: Peer, sink: Sink } | undefined): Promise<PostAnswer> {
    const { dispatcher, identities } = this.#gateway
    const identity = identities.adopt(carried)
    if (identity === undefined) return 'refused'
    const client = find(identity)
    const channel = client?.peer.channel
    if (client === undefined || channel === undefined) return 'unknown'
    if (client.sink.isFull?.() === true) return 'full'
    const incoming = dispatcher.decode(text)
    if (incoming.kind === 'invalid' && incoming.id === undefined) {
      return await new Promise(resolve => { dispatcher.receive(incoming, client.peer, replyChannel(resolve)) })
    }
    dispatcher.receive(incoming, client.peer, { ...channel, counted: true }, identity)
    return ACCEPTED
  }
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
  counted: true,
  respond: (text, status) => resolve({ status, text }),
  emit: () => {},
  end: () => resolve(ACCEPTED)
})
