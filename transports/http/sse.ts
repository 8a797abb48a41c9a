import type { FastifyReply, FastifyRequest } from 'fastify'
import { isProxied } from '../../protocol/http/proxied.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import { Peer } from '../../protocol/peer/peer.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import { jsonChannel, sinkChannel } from './channels.js'
import { newStreamId, passPost, takePost } from './forwarded-posts.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { accepts } from './headers.js'
import { takeBody } from './posts.js'

type SseGateway = Pick<HttpGateway, 'dispatcher' | 'eventStreams' | 'identities' | 'nodeCalls'>

interface SseClient { readonly peer: Peer, readonly sink: Sink }

/**
 * HTTP+SSE of the first revision: one stream for all messages of the server, a POST for each message of the client,
 * which may reach another node.
 */
export class SseConnections {
  readonly #gateway: SseGateway
  readonly #clients = new Map<string, SseClient>()

  constructor (gateway: SseGateway) {
    this.#gateway = gateway
    gateway.nodeCalls.on(
      'post',
      async post => await takePost(post, gateway, ({ principal }) => this.#find(post.connection, principal, post.view))
    )
  }

  get size (): number {
    return this.#clients.size
  }

  /** `GET /sse`: the first event is the URL to post to. */
  open (endpoint: string, request: FastifyRequest, reply: FastifyReply): void {
    const { dispatcher, eventStreams, nodeCalls } = this.#gateway
    if (!accepts(request, 'text/event-stream')) throw httpErrors.acceptNeedsEvents()
    eventStreams.checkCapacity()
    const narrowing = narrowingOf(request.query, request.headers)
    const id = newStreamId(nodeCalls.nodes.self)
    const peer = new Peer({ transport: 'sse', identity: request.identity, view: viewOf(request) })
    dispatcher.lifecycle.connect(peer)
    const sink = eventStreams.open(reply, method => method === 'endpoint' ? 'endpoint' : 'message', () => {
      this.#clients.delete(id)
      dispatcher.lifecycle.disconnect(peer, new Error('the client closed the stream'))
    })
    this.#clients.set(id, { peer, sink })
    peer.channel = { ...sinkChannel(sink), end: () => {}, proxied: isProxied(request.headers), narrowing }
    sink.write({ text: `${endpoint}?sessionId=${id}`, method: 'endpoint' })
  }

  /** `POST /message?sessionId=`: replies 202; the response goes to the stream. */
  receive (id: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { dispatcher } = this.#gateway
    if (typeof id !== 'string') throw httpErrors.sessionIdRepeated()
    const client = this.#find(id, request.identity.principal, viewOf(request))
    if (client?.peer.channel === undefined) return passPost(id, request, reply, this.#gateway)
    const { peer, sink, peer: { channel } } = client
    if (sink.isFull?.() === true) throw httpErrors.streamFull()
    const incoming = dispatcher.decode(takeBody(request))
    // The client could not match an error without an id on the stream, so it is the reply.
    if (incoming.kind === 'invalid' && incoming.id === undefined) {
      return dispatcher.receive(incoming, peer, jsonChannel(reply))
    }
    void reply.code(202).header('content-type', 'text/plain').send('Accepted')
    const { headers, ip: address, identity } = request
    dispatcher.receive(incoming, peer, { ...channel, isRateCounted: true, headers, address }, identity)
  }

  /** The client of a stream of that caller and view. */
  #find (id: string, principal: string | undefined, view: string | undefined): SseClient | undefined {
    const client = this.#clients.get(id)
    return client?.peer.principal === principal && client?.peer.view === view ? client : undefined
  }
}
