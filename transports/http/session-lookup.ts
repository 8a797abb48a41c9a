import type { FastifyRequest, preHandlerHookHandler } from 'fastify'
import { isHttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import type { SessionRegistry } from '../../protocol/sessions/registry.js'
import type { Session } from '../../protocol/sessions/session.js'
import { sessionId, versionHeader } from './headers.js'
import { viewOf } from './gateway.js'

/** A hook that restores the session a request names, if it is in the store and not served here yet. */
export function restoreSession (sessions: SessionRegistry): preHandlerHookHandler {
  return (request, _reply, done) => {
    const { identity, headers: { 'mcp-session-id': own, 'x-session-id': alias } } = request
    const id = own ?? alias
    const restored = id === undefined ? undefined : sessions.restore(String(id), identity.principal, viewOf(request))
    if (restored === undefined) done()
    else restored.catch(throwUnavailable).then(() => done(), done)
  }
}

/** The session a request names. Throws an HTTP error when there is none of its caller at its URL. */
export function findSession (sessions: SessionRegistry, request: FastifyRequest): Session {
  const id = sessionId(request)
  if (id === undefined) throw httpErrors.sessionIdMissing()
  const session = sessions.find(id, request.identity.principal, viewOf(request))
  if (session === undefined) throw httpErrors.unknownSession()
  return session
}

/** Throws an HTTP error when a session that was found before has ended meanwhile. */
export function checkAlive (sessions: SessionRegistry, session: Session): void {
  if (sessions.find(session.id, session.peer.principal, session.peer.view) !== session) {
    throw httpErrors.unknownSession()
  }
}

/** Throws an HTTP error when the version header differs from the session's. */
export function checkVersion ({ peer }: Session, request: FastifyRequest): void {
  const version = versionHeader(request)
  if (version === undefined || version === peer.revision?.version) return
  throw httpErrors.versionMismatch(version, peer.revision?.version)
}

/** Turns an error of the store into an HTTP error: that a session cannot be read does not mean that there is none. */
export function throwUnavailable (error: Error): never {
  throw isHttpError(error) ? error : httpErrors.sessionsUnavailable(error.message)
}
