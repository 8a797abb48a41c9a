import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { oldest } from '../../protocol/revisions/table.js'
import type { Session } from '../../protocol/sessions/session.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { accepts, sessionId } from './headers.js'
import { checkAlive, findSession, throwUnavailable } from './session-lookup.js'

/** `GET /mcp/sse`: notifications as named events, for clients that post to /mcp and read plain JSON replies. */
export async function serveNamedEvents (
  gateway: HttpGateway,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<void> {
  const { sessions, eventStreams } = gateway
  if (!accepts(request, 'text/event-stream')) throw httpErrors.acceptNeedsEvents()
  eventStreams.checkCapacity()
  sessions.checkStore()
  const isNew = sessionId(request) === undefined
  const session = isNew
    ? sessions.create({ revision: oldest, identity: request.identity, view: viewOf(request) })
    : findSession(sessions, request)
  // A browser that has lost its session sends the Last-Event-ID of the old one; a new session has nothing to resume.
  const after = isNew ? undefined : await lastSeen(gateway, session, request)
  session.setNamed(true)
  await (isNew ? sessions.open(session) : sessions.save(session))
  checkAlive(sessions, session)
  reply.headers({ 'mcp-session-id': session.id, 'x-session-id': session.id })
  const sink = eventStreams.open(reply, eventName, () => {
    session.standalone.detach(sink)
    session.setNamed()
    void sessions.save(session)
    // Without a handshake the session lasts as long as its streams.
    if (session.peer.initialized || session.standalone.connected) return
    const logError = (error: unknown) =>
      request.log.error({ err: error }, 'a session could not be removed from the store')
    sessions.end(session, new Error('the client closed the stream')).catch(logError)
  })
  sink.write({ text: JSON.stringify({ type: 'connected', session_id: session.id }), method: 'connection' })
  session.standalone.attach(sink, after)
}

async function lastSeen (
  { dispatcher: { observers } }: HttpGateway,
  session: Session,
  { headers: { 'last-event-id': id } }: FastifyRequest
): Promise<number | undefined> {
  if (id === undefined) return undefined
  const point = await session.findResumePoint(String(id)).catch(throwUnavailable)
  const isKnown = point !== undefined && point !== 'exhausted' && point.stream === session.standalone
  observers.resume.notify(isKnown ? 'ok' : 'gone')
  if (!isKnown) throw httpErrors.nothingToResume()
  return point.after
}

function eventName (method = ''): string | undefined {
  if (method === '' || method === 'connection') return method || undefined
  if (method === 'notifications/progress') return 'progress'
  return method.startsWith('notifications/') ? 'notification' : 'request'
}
