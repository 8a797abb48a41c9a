import fp from 'fastify-plugin'
import type { PeerOptions } from '../protocol/peer.js'
import { Session } from '../protocol/session.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The sessions of stateful HTTP clients. */
    sessions: {
      readonly size: number
      /** Undefined when there are as many sessions as allowed. */
      create: (options?: PeerOptions, primed?: boolean) => Session | undefined
      /** The session, which counts as seen now. */
      find: (id: string) => Session | undefined
      end: (session: Session, reason: Error) => void
    }
  }
}

export interface SessionOptions { maxSessions: number, sessionIdle: number }

export default fp(async (fastify, { maxSessions, sessionIdle }: SessionOptions) => {
  const { mcp } = fastify
  const sessions = new Map<string, Session>()

  fastify.decorate('sessions', {
    get size () { return sessions.size },
    create: (options = {}, primed = false) => {
      if (sessions.size >= maxSessions) return undefined
      const session = new Session(options, primed)
      sessions.set(session.id, session)
      mcp.connect(session.peer)
      return session
    },
    find: id => {
      const session = sessions.get(id)
      if (session !== undefined) session.lastSeen = Date.now()
      return session
    },
    end
  })

  const sweeper = setInterval(sweep, Math.max(1_000, Math.min(sessionIdle / 4, 60_000))).unref()
  fastify.addHook('onClose', async () => {
    clearInterval(sweeper)
    for (const session of sessions.values()) end(session, new Error('the server is shutting down'))
  })

  function end (session: Session, reason: Error): void {
    sessions.delete(session.id)
    mcp.disconnect(session.peer, reason)
    session.standalone.end()
  }

  function sweep (): void {
    const now = Date.now()
    for (const session of sessions.values()) {
      if (session.busy) session.lastSeen = now
      else if (session.lastSeen < now - sessionIdle) end(session, new Error('the session was idle for too long'))
    }
  }
}, { name: 'sessions', dependencies: ['mcp'] })
