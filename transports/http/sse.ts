import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isForwarded } from '../../protocol/http/forwarded.js'
import { Peer } from '../../protocol/peer/peer.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { oldest } from '../../protocol/revisions/table.js'
import type { Sink } from '../../protocol/sessions/sink.js'
import type { Session } from '../../protocol/sessions/session.js'
import { jsonReply, overSink, takeBody } from './channels.js'
import { accepts, checkAlive, findSession, sessionId } from './streamable.js'

/** HTTP+SSE, the first HTTP transport: everything the server says goes over one stream, everything the client says is a POST. */
export class SseConnections {
  readonly #app: FastifyInstance
  readonly #clients = new Map<string, { peer: Peer, sink: Sink }>()

  constructor (app: FastifyInstance) {
    this.#app = app
  }

  get size (): number {
    return this.#clients.size
  }

  /** `GET /sse`: the first event says where to post. */
  open (endpoint: string, request: FastifyRequest, reply: FastifyReply): void {
    if (!accepts(request, 'text/event-stream')) throw httpErrors.acceptNeedsEvents()
    this.#app.mcp.eventStreams.checkRoom()
    const id = randomBytes(24).toString('base64url')
    const peer = new Peer({ transport: 'sse', identity: request.identity })
    this.#app.mcp.dispatcher.connect(peer)
    const sink = this.#app.mcp.eventStreams.open(reply, method => method === 'endpoint' ? 'endpoint' : 'message', () => {
      this.#clients.delete(id)
      this.#app.mcp.dispatcher.disconnect(peer, new Error('the client closed the stream'))
    })
    this.#clients.set(id, { peer, sink })
    peer.channel = { ...overSink(sink), end: () => {}, forwarded: isForwarded(request.headers) }
    sink.write({ text: `${endpoint}?sessionId=${id}`, method: 'endpoint' })
  }

  /** `POST /message?sessionId=`: accepted here, answered on the stream. */
  receive (id: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (typeof id !== 'string') throw httpErrors.sessionIdRepeated()
    const { peer, sink } = this.#clients.get(id) ?? {}
    if (peer?.channel === undefined || peer.principal !== request.identity.principal) throw httpErrors.unknownSseSession()
    if (sink?.isFull?.() === true) throw httpErrors.streamFull()
    const incoming = this.#app.mcp.dispatcher.decode(takeBody(request))
    // What has no id cannot be answered on the stream.
    if (incoming.kind === 'invalid' && incoming.id === undefined) return this.#app.mcp.dispatcher.receive(incoming, peer, jsonReply(reply))
    void reply.code(202).header('content-type', 'text/plain').send('Accepted')
    this.#app.mcp.dispatcher.receive(incoming, peer, { ...peer.channel, counted: true, headers: request.headers }, request.identity)
  }
}

/** `GET /mcp/sse`: notifications as named events, for clients that post to /mcp and read plain replies. */
export async function serveNamedEvents (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!accepts(request, 'text/event-stream')) throw httpErrors.acceptNeedsEvents()
  app.mcp.eventStreams.checkRoom()
  const session = sessionId(request) === undefined ? app.mcp.sessions.create({ revision: oldest, identity: request.identity }) : findSession(app, request)
  // A new session has nothing to resume, whatever a browser that lost its old one remembers.
  const after = sessionId(request) === undefined ? undefined : await seenBy(session, request)
  await app.mcp.sessions.save(session)
  checkAlive(app, session)
  reply.headers({ 'mcp-session-id': session.id, 'x-session-id': session.id })
  const sink = app.mcp.eventStreams.open(reply, nameOf, () => {
    session.standalone.detach(sink)
    // Without a handshake the session lasts as long as its streams.
    if (!session.peer.initialized && !session.standalone.connected) app.mcp.sessions.end(session, new Error('the client closed the stream')).catch(error => app.log.error({ err: error }, 'a session could not be forgotten'))
  })
  sink.write({ text: JSON.stringify({ type: 'connected', session_id: session.id }), method: 'connection' })
  session.standalone.attach(sink, after)
}

async function seenBy (session: Session, { headers: { 'last-event-id': id } }: FastifyRequest): Promise<number | undefined> {
  if (id === undefined) return undefined
  const place = await session.findResumePoint(String(id))
  if (place === undefined || place === 'exhausted' || place.stream !== session.standalone) throw httpErrors.nothingToResume()
  return place.after
}

function nameOf (method = ''): string | undefined {
  if (method === '' || method === 'connection') return method || undefined
  if (method === 'notifications/progress') return 'progress'
  return method.startsWith('notifications/') ? 'notification' : 'request'
}
