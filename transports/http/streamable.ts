import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import { encodeErrorFor } from '../../protocol/dispatch/batch.js'
import { AT_END_OF_TURN, Cohort } from '../../lib/turn-batch.js'
import { errors } from '../../protocol/wire/errors.js'
import { encodeError, type Incoming, type Request } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'
import { isHttpError, type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { isModern, modern, negotiate } from '../../protocol/revisions/table.js'
import type { Session } from '../../protocol/sessions/session.js'
import { GONE, sendJson, takeBody } from './channels.js'
import { ReplyChannel } from './reply-channel.js'

const NOT_FOR_CLIENTS: Incoming = { kind: 'invalid', id: undefined, error: errors.invalidRequest('clients of this revision do not send responses') }

/** Serves what was posted in one turn of the event loop together, each as by `serve`; what that throws is the reply. */
export function postServer (serve: (request: FastifyRequest, reply: FastifyReply) => void): (request: FastifyRequest, reply: FastifyReply) => void {
  const posted = new Cohort<{ request: FastifyRequest, reply: FastifyReply }>(({ request, reply }) => {
    try {
      serve(request, reply)
    } catch (error) {
      void reply.send(error)
    }
  }, AT_END_OF_TURN)
  return (request, reply) => posted.add({ request, reply })
}

/** `POST /mcp`: one message in either era, answered as JSON or, as soon as something precedes the answer, as a stream. */
export function servePost (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): void {
  const incoming = app.mcp.dispatcher.decode(takeBody(request))
  try {
    route(app, incoming, request, reply)
  } catch (error) {
    // Whoever asked something is answered under its id; the rest is a plain HTTP refusal.
    if (incoming.kind !== 'request' || !isHttpError(error)) throw error
    sendJson(reply, encodeError(incoming.id, errors.httpOfRequest(error.message, error.code)), error.statusCode, error.headers)
  }
}

/** `GET /mcp`: the standalone stream of a session, or the rest of one that broke off. */
export async function serveStream (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  refuseModern(request, reply, httpErrors.noGetStream)
  if (!accepts(request, 'text/event-stream')) throw httpErrors.notForBrowsers()
  const session = findSession(app, request)
  checkVersion(session, request)
  const lastEventId = request.headers['last-event-id']
  const place = lastEventId === undefined ? { stream: session.standalone, after: undefined } : await session.findResumePoint(String(lastEventId))
  if (place === undefined) throw httpErrors.nothingToResume()
  // The event-stream way of saying that there is nothing to come back for.
  if (place === 'exhausted') return sendJson(reply, undefined, 204)
  checkAlive(app, session)
  app.mcp.eventStreams.checkRoom()
  reply.header('mcp-session-id', session.id)
  const sink = app.mcp.eventStreams.open(reply, undefined, () => place.stream.detach(sink))
  place.stream.attach(sink, place.after)
}

/** `DELETE /mcp`: the client needs its session no more. */
export async function endSession (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  refuseModern(request, reply, httpErrors.noSessions)
  const session = findSession(app, request)
  checkVersion(session, request)
  await app.mcp.sessions.end(session, new Error('the client ended the session')).catch(unavailable)
  await reply.code(200).send()
}

/** Brings back the session a request names, if another process has left it. */
export function reviveSession (app: FastifyInstance): preHandlerHookHandler {
  return ({ identity, headers: { 'mcp-session-id': own, 'x-session-id': alias } }, _reply, done) => {
    const id = own ?? alias
    const revival = id === undefined ? undefined : app.mcp.sessions.restore(String(id), identity.principal)
    if (revival === undefined) done()
    else revival.catch(unavailable).then(() => done(), done)
  }
}

/** Throws what an unknown session is answered with, once a session that was found before has ended. */
export function checkAlive ({ mcp: { sessions } }: FastifyInstance, session: Session): void {
  if (sessions.find(session.id, session.peer.principal) !== session) unknownSession()
}

/** The session a request names, by either header. */
export function findSession (app: FastifyInstance, request: FastifyRequest): Session {
  const id = sessionId(request)
  if (id === undefined) throw httpErrors.sessionIdMissing()
  return app.mcp.sessions.find(id, request.identity.principal) ?? unknownSession()
}

export function sessionId ({ headers }: FastifyRequest): string | undefined {
  const { 'mcp-session-id': own, 'x-session-id': alias } = headers
  if (own !== undefined && alias !== undefined && own !== alias) throw httpErrors.sessionIdsDiffer()
  const id = own ?? alias
  return id === undefined ? undefined : String(id)
}

/** True when the Accept header allows the type; without one everything is allowed. */
export function accepts ({ headers: { accept = '*/*' } }: FastifyRequest, type: string): boolean {
  const allowed = accept.toLowerCase().split(',').filter(range => !/;\s*q=0(\.0*)?\s*(;|$)/.test(range)).map(range => range.split(';')[0]?.trim())
  return [type, `${type.split('/')[0]}/*`, '*/*'].some(range => allowed.includes(range))
}

/** What every client of Streamable HTTP has to accept, and as nearly all of them say it. */
const USUAL = 'application/json, text/event-stream'

export const acceptsBoth = (request: FastifyRequest): boolean =>
  request.headers.accept === USUAL || (accepts(request, 'application/json') && accepts(request, 'text/event-stream'))

function route (app: FastifyInstance, incoming: Incoming, request: FastifyRequest, reply: FastifyReply): void {
  if (isSelfDescribed(incoming, request)) serveOnce(app, incoming, request, reply)
  else if (incoming.kind === 'invalid') app.mcp.dispatcher.receive(incoming, new Peer({ identity: request.identity }), new ReplyChannel(app, reply))
  else if (isInitialize(incoming) && sessionId(request) === undefined) openSession(app, incoming, request, reply)
  else serveSession(app, incoming, request, reply)
}

// Nothing is remembered of such a client, and its disconnection is the cancellation of what it asked for.
function serveOnce (app: FastifyInstance, incoming: Incoming, request: FastifyRequest, reply: FastifyReply): void {
  const peer = new Peer({ revision: modern, headers: request.headers, identity: request.identity })
  app.mcp.dispatcher.connect(peer)
  app.mcp.connections.onGone(reply, () => app.mcp.dispatcher.disconnect(peer, GONE))
  const message = incoming.kind === 'response' ? NOT_FOR_CLIENTS : incoming
  app.mcp.dispatcher.receive(message, peer, new ReplyChannel(app, reply))
}

function openSession (app: FastifyInstance, incoming: Request, { identity }: FastifyRequest, reply: FastifyReply): void {
  const { polling } = negotiate(incoming.params.protocolVersion)
  const session = app.mcp.sessions.create({ identity }, polling)
  reply.headers({ 'mcp-session-id': session.id, 'x-session-id': session.id })
  app.mcp.dispatcher.receive(incoming, session.peer, new ReplyChannel(app, reply, {
    session,
    beforeAnswer: () => {
      if (session.peer.initialized) return app.mcp.sessions.save(session)
      reply.removeHeader('mcp-session-id').removeHeader('x-session-id')
      return app.mcp.sessions.end(session, new Error('the handshake failed')).catch(() => {})
    }
  }))
}

function serveSession (app: FastifyInstance, incoming: Incoming, request: FastifyRequest, reply: FastifyReply): void {
  if (incoming.kind === 'request' && incoming.method === 'ping' && sessionId(request) === undefined) {
    app.mcp.dispatcher.receive(incoming, new Peer({ identity: request.identity }), new ReplyChannel(app, reply))
    return
  }
  const session = findSession(app, request)
  if (!isInitialize(incoming)) checkVersion(session, request)
  if (request.headers['x-session-id'] !== undefined) reply.header('x-session-id', session.id)
  app.mcp.dispatcher.receive(incoming, session.peer, new ReplyChannel(app, reply, {
    session,
    interruptedResponse: () => encodeErrorFor(errors.interrupted(), incoming) ?? '',
    beforeAnswer: () => app.mcp.sessions.save(session)
  }), request.identity)
}

function isSelfDescribed (incoming: Incoming, { headers }: FastifyRequest): boolean {
  return isModern(headers['mcp-protocol-version']) || (incoming.kind === 'request' && incoming.selfDescribed)
}

const isInitialize = (incoming: Incoming): incoming is Request => incoming.kind === 'request' && incoming.method === 'initialize'

function refuseModern ({ headers }: FastifyRequest, reply: FastifyReply, refusal: () => HttpError): void {
  if (!isModern(headers['mcp-protocol-version'])) return
  reply.header('allow', 'POST')
  throw refusal()
}

function checkVersion ({ peer }: Session, { headers }: FastifyRequest): void {
  const version = headers['mcp-protocol-version']
  if (version === undefined || version === peer.revision?.version) return
  throw httpErrors.versionMismatch(String(version), peer.revision?.version)
}

/** Nobody can say whether there is such a session: that is not the same as that there is none. */
function unavailable (error: Error): never {
  throw isHttpError(error) ? error : httpErrors.sessionsUnavailable(error.message)
}

function unknownSession (): never {
  throw httpErrors.unknownSession()
}
