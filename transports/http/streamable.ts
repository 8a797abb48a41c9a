import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeErrorFor } from '../../protocol/dispatch/batch.js'
import { isHttpError, type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import { Peer } from '../../protocol/peer/peer.js'
import { isModern, modern } from '../../protocol/revisions/table.js'
import { classifyPosted } from '../../protocol/sessions/posted-message.js'
import type { SessionRegistry } from '../../protocol/sessions/registry.js'
import { errors } from '../../protocol/wire/errors.js'
import { encodeError, type Incoming, type Request } from '../../protocol/wire/jsonrpc.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { accepts, namesSession, versionHeader } from './headers.js'
import { sendJson } from './json-reply.js'
import { DISCONNECTED, takeBody } from './posts.js'
import { ReplyChannel, type Replacement } from './reply-channel.js'
import { checkAlive, checkVersion, findSession, throwUnavailable } from './session-lookup.js'

/**
 * `POST /mcp`: one message of either era. The reply is JSON, or a stream as soon as another message precedes the
 * response.
 */
export function servePost (gateway: HttpGateway, request: FastifyRequest, reply: FastifyReply): void {
  const incoming = gateway.dispatcher.decode(takeBody(request))
  try {
    serveIncoming(gateway, incoming, request, reply)
  } catch (error) {
    // A refused request is answered under its id; any other message gets a plain HTTP error.
    if (incoming.kind !== 'request' || !isHttpError(error)) throw error
    gateway.dispatcher.observers.reportRefusal(error, error.statusCode)
    sendJson(reply, encodeRefusal(incoming, error), error.statusCode, error.headers)
  }
}

/** `GET /mcp`: the standalone stream of a session, or the rest of a stream that was interrupted. */
export async function serveStream (
  { dispatcher, sessions, eventStreams }: HttpGateway,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  refuseModern(request, reply, httpErrors.noGetStream)
  if (!accepts(request, 'text/event-stream')) throw httpErrors.notForBrowsers()
  const session = findSession(sessions, request)
  checkVersion(session, request)
  sessions.checkStore()
  const lastEventId = request.headers['last-event-id']
  const fromStart = { stream: session.standalone, after: undefined }
  const point =
    lastEventId === undefined ? fromStart : await session.findResumePoint(String(lastEventId)).catch(throwUnavailable)
  if (lastEventId !== undefined) {
    dispatcher.observers.resume.notify(point === undefined ? 'gone' : point === 'exhausted' ? point : 'ok')
  }
  if (point === undefined) throw httpErrors.nothingToResume()
  // 204 tells an event source not to reconnect: https://html.spec.whatwg.org/multipage/server-sent-events.html
  if (point === 'exhausted') return sendJson(reply, undefined, 204)
  checkAlive(sessions, session)
  eventStreams.checkCapacity()
  reply.header('mcp-session-id', session.id)
  const sink = eventStreams.open(reply, undefined, () => point.stream.detach(sink))
  point.stream.attach(sink, point.after)
  session.setNamed()
  void sessions.save(session)
}

/** `DELETE /mcp`: ends a session. */
export async function endSession (
  sessions: SessionRegistry,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  refuseModern(request, reply, httpErrors.noSessions)
  const session = findSession(sessions, request)
  checkVersion(session, request)
  await sessions.end(session, new Error('the client ended the session')).catch(throwUnavailable)
  await reply.code(200).send()
}

function serveIncoming (gateway: HttpGateway, incoming: Incoming, request: FastifyRequest, reply: FastifyReply): void {
  const posted = classifyPosted(incoming, request.headers['mcp-protocol-version'], namesSession(request))
  switch (posted.kind) {
    case 'stateless': return serveStateless(gateway, posted.incoming, request, reply)
    case 'sessionless': return serveSessionless(gateway, posted.incoming, request, reply)
    case 'initialize': return openSession(gateway, posted.incoming, request, reply)
    default: return serveInSession(gateway, posted.incoming, request, reply, posted.kind === 'in-session')
  }
}

// The client's disconnection cancels its request.
function serveStateless (gateway: HttpGateway, incoming: Incoming, request: FastifyRequest, reply: FastifyReply): void {
  const { dispatcher, connections, eventStreams } = gateway
  const { headers, identity, raw: { socket } } = request
  const peer = new Peer({ revision: modern, headers, identity, view: viewOf(request), connection: socket })
  dispatcher.lifecycle.connect(peer)
  connections.onGone(reply, () => dispatcher.lifecycle.disconnect(peer, DISCONNECTED))
  dispatcher.receive(incoming, peer, new ReplyChannel(eventStreams, reply))
}

function serveSessionless (
  gateway: HttpGateway,
  incoming: Incoming,
  { identity }: FastifyRequest,
  reply: FastifyReply
): void {
  const { dispatcher, eventStreams } = gateway
  dispatcher.receive(incoming, new Peer({ identity }), new ReplyChannel(eventStreams, reply))
}

function openSession (gateway: HttpGateway, incoming: Request, request: FastifyRequest, reply: FastifyReply): void {
  const { dispatcher, sessions, eventStreams } = gateway
  // Refuses before there is a session.
  narrowingOf(request.query, request.headers)
  const session = sessions.createFor(incoming, request.identity, viewOf(request))
  reply.headers({ 'mcp-session-id': session.id, 'x-session-id': session.id })
  dispatcher.receive(incoming, session.peer, new ReplyChannel(eventStreams, reply, {
    session,
    beforeResponse: () => {
      if (session.peer.initialized) {
        return sessions.open(session).catch((error: HttpError) => refuseSession(gateway, incoming, error, reply))
      }
      withoutSession(reply)
      return sessions.end(session, new Error('the handshake failed')).catch(() => {})
    }
  }))
}

function refuseSession (
  { dispatcher }: HttpGateway,
  incoming: Request,
  error: HttpError,
  reply: FastifyReply
): Replacement {
  dispatcher.observers.reportRefusal(error, error.statusCode)
  withoutSession(reply)
  return { text: encodeRefusal(incoming, error), status: error.statusCode, headers: error.headers }
}

const withoutSession = (reply: FastifyReply): FastifyReply =>
  reply.removeHeader('mcp-session-id').removeHeader('x-session-id')

// The request is not invalid where the store fails.
const encodeRefusal = ({ id }: Request, { message, code, statusCode }: HttpError): string =>
  encodeError(id, statusCode >= 500 ? errors.http(statusCode, message, code) : errors.httpOfRequest(message, code))

function serveInSession (
  gateway: HttpGateway,
  incoming: Incoming,
  request: FastifyRequest,
  reply: FastifyReply,
  hasVersion: boolean
): void {
  const { dispatcher, sessions, eventStreams } = gateway
  const session = findSession(sessions, request)
  if (hasVersion) checkVersion(session, request)
  if (request.headers['x-session-id'] !== undefined) reply.header('x-session-id', session.id)
  dispatcher.receive(
    incoming,
    session.peer,
    new ReplyChannel(eventStreams, reply, {
      session,
      interruptedResponse: () => encodeErrorFor(errors.interrupted(), incoming) ?? '',
      beforeResponse: () => sessions.save(session)
    }),
    request.identity
  )
}

function refuseModern (request: FastifyRequest, reply: FastifyReply, error: () => HttpError): void {
  if (!isModern(versionHeader(request))) return
  reply.header('allow', 'POST')
  throw error()
}
