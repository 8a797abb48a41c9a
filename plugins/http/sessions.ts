import { hostname } from 'node:os'
import fp from 'fastify-plugin'
import { now } from '../../lib/time/clock.js'
import { ClockStep } from '../../lib/time/clock-step.js'
import { errors, type McpError } from '../../protocol/wire/errors.js'
import type { PeerOptions } from '../../protocol/peer/peer.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { Session } from '../../protocol/sessions/session.js'
import { SessionTable } from '../../protocol/sessions/session-table.js'
import type { SessionRecord } from '../../protocol/store.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The sessions of stateful HTTP clients. */
    sessions: {
      readonly size: number
      /** Throws a refusal when there are as many sessions as allowed. */
      create: (options?: PeerOptions, primed?: boolean) => Session
      /** A session of this process and of that caller, which counts as seen now. */
      find: (id: string, principal?: string) => Session | undefined
      /** Makes a session that was kept one of this process, if there is one of that id and caller; undefined when it is already. Rejects when nobody can tell. */
      revive: (id: string, principal?: string) => Promise<void> | undefined
      /** Settles when what is agreed with the client is kept; undefined when it is already. */
      keep: (session: Session) => Promise<void> | undefined
      /** Settles when it is forgotten for good; rejects when the store refuses. */
      end: (session: Session, reason: Error) => Promise<void>
    }
  }
}

/** In milliseconds: how often the clocks are compared, and how long after a step the store removes nothing, so that others can say what they serve. */
const LOOK = 1_000
const AFTER_STEP = 10 * 60_000

export interface SessionOptions { maxSessions: number, maxSessionsPerPrincipal: number, sessionIdle: number }

export default fp(async (fastify, { maxSessions, maxSessionsPerPrincipal, sessionIdle }: SessionOptions) => {
  const { mcp, store: { sessions: store } } = fastify
  const sessions = new SessionTable()
  const reviving = new Map<string, Promise<void>>()
  const interval = Math.max(1_000, Math.min(sessionIdle / 4, 60_000))
  let adopting = 0
  let home = ''
  let swept = now()
  let sweepable = -Infinity
  let told: string | undefined

  fastify.decorate('sessions', {
    get size () { return sessions.size },
    create: (peer = {}, primed = false) => {
      const { level, why } = fastify.pressure
      if (level !== 'none') throw httpErrors.overloaded(why)
      checkRoom(peer.identity?.principal)
      makeRoom()
      const session = new Session({ store, onTrouble, peer, primed })
      session.peer.dirty = true
      admit(session, true)
      return session
    },
    find: (id, principal) => {
      const session = sessions.get(id)
      // Another's session is none of yours, and you need not know that it is there.
      if (session === undefined || session.peer.principal !== principal) return undefined
      sessions.use(session)
      return session
    },
    revive: (id, principal) => {
      const revival = reviving.get(id)
      return revival !== undefined || sessions.get(id) !== undefined ? revival : reviveFor(id, principal)
    },
    keep: session => session.peer.hasUnsavedChanges && sessions.has(session) ? keep(session) : undefined,
    end: async (session, reason) => {
      forget(session, errors.interrupted(`The session was ended (${reason.message})`))
      session.end()
      // Whoever asks for it meanwhile waits until it is gone.
      const removed = store.remove(session.id)
      reviving.set(session.id, removed.catch(() => {}).finally(() => reviving.delete(session.id)))
      await removed
    }
  })

  // Nobody else on this machine can have our address, so whoever had it before us is dead and its sessions are ours.
  fastify.addHook('onListen', async () => { takeOver().catch(onTrouble) })

  const untake = store.onTaken(id => {
    const session = sessions.get(id)
    if (session !== undefined) lose(session)
  })

  const sweeper = setInterval(sweep, interval).unref()
  const step = new ClockStep()
  const watch = setInterval(compareClocks, LOOK).unref()
  const calm = fastify.store.onTrouble(() => { told = undefined })
  fastify.addHook('preClose', async () => { for (const session of sessions.values()) await session.settled() })
  // They are kept: the next process goes on with them.
  fastify.addHook('onClose', async () => {
    clearInterval(sweeper)
    clearInterval(watch)
    untake()
    calm()
    for (const session of sessions.values()) forget(session, errors.closing())
  })

  async function takeOver (): Promise<void> {
    home = [hostname(), ...fastify.addresses().map(at => typeof at === 'string' ? at : `${at.address}:${at.port}`).sort()].join(' ')
    const left = await store.livingAt(home).catch(error => { onTrouble(error); return [] })
    await Promise.all(left.map(async id => { await revive(id).catch(onTrouble) }))
  }

  function admit (session: Session, unused: boolean): void {
    sessions.add(session, unused)
    mcp.connect(session.peer)
  }

  /** What is in flight is answered with the reason. */
  function forget (session: Session, reason: McpError): void {
    sessions.remove(session)
    session.peer.giveUp(reason)
    mcp.disconnect(session.peer, reason)
    if (!isFull()) fastify.health.report('sessions', undefined)
  }

  function isFull (): boolean {
    return sessions.size + adopting >= maxSessions
  }

  // Whoever only shakes hands, again and again, does not keep out those who mean it.
  function makeRoom (): void {
    const session = isFull() ? sessions.abandoned() : undefined
    if (session !== undefined) fastify.sessions.end(session, new Error('the session was not used')).catch(onTrouble)
  }

  function checkRoom (principal: string | undefined): void {
    if (isFull() && sessions.abandoned() === undefined) {
      fastify.health.report('sessions', 'there are as many as option maxSessions allows')
      throw httpErrors.tooManySessions()
    }
    if (principal !== undefined && sessions.countOf(principal) >= maxSessionsPerPrincipal) {
      throw httpErrors.tooManySessionsOfCaller(maxSessionsPerPrincipal)
    }
  }

  function lose (session: Session): void {
    forget(session, errors.interrupted('Another server took over the session'))
    session.hangUp()
  }

  // Looked at before it is taken from whoever has it: it may be another caller's.
  async function reviveFor (id: string, principal: string | undefined): Promise<void> {
    const record = await store.load(id)
    if (record !== undefined && record.principal === principal) await revive(id)
  }

  /** Once, however many want it at the same time. */
  async function revive (id: string): Promise<void> {
    if (sessions.get(id) !== undefined) return
    const begun = reviving.get(id) ?? adopt(id).finally(() => reviving.delete(id))
    reviving.set(id, begun)
    await begun
  }

  async function adopt (id: string): Promise<void> {
    checkRoom(undefined)
    makeRoom()
    adopting++
    try {
      const record = await store.adopt(id, home, expiry())
      if (record !== undefined) await welcome(id, record)
    } finally {
      adopting--
    }
  }

  async function welcome (id: string, record: SessionRecord): Promise<void> {
    const session = Session.from(record, { id, store, onTrouble })
    const { peer } = session
    for (const uri of record.subscriptions) peer.setSubscribed(uri, true)
    peer.takeChanges()
    // What happens from now on is told in its streams, behind the last words of the replies that were cut off.
    const finished = session.finishReplies().catch(onTrouble)
    admit(session, false)
    for (const uri of record.subscriptions) {
      // The client may have changed its mind by now.
      if (peer.subscriptions.has(uri)) await fastify.resources.subscribe(uri, peer).catch(onTrouble)
    }
    await finished
  }

  // What cannot be kept now is served all the same, and kept when that is possible again.
  async function keep (session: Session): Promise<void> {
    const { id, peer, peer: { dirty } } = session
    const subscriptions = peer.takeChanges()
    peer.dirty = false
    try {
      if (!session.kept) await store.save(id, session.record, home, expiry())
      else if (!await store.update(id, { agreement: dirty ? session.agreement : undefined, subscriptions }, expiry())) lose(session)
      session.kept = true
    } catch (error) {
      peer.dirty ||= dirty
      peer.restoreChanges(subscriptions)
      onTrouble(error)
    }
  }

  function sweep (): void {
    const at = now()
    for (const session of sessions.values()) {
      if (session.busy) session.lastSeen = at
      else if (session.lastSeen < at - sessionIdle) fastify.sessions.end(session, new Error('the session was idle for too long')).catch(onTrouble)
      if (session.peer.hasUnsavedChanges && session.peer.initialized && !session.peer.closed) void keep(session)
    }
    const seen = [...sessions.values()].filter(({ lastSeen }) => lastSeen >= swept).map(({ id }) => id)
    swept = at
    touch(seen).then(async () => {
      compareClocks()
      if (now() >= sweepable) await store.sweep()
    }).catch(onTrouble)
  }

  // Expiries are kept as times of day, so they are written anew when that was set.
  function compareClocks (): void {
    if (!step.happened()) return
    sweepable = now() + AFTER_STEP
    touch([...sessions.values()].map(({ id }) => id)).catch(onTrouble)
  }

  async function touch (ids: string[]): Promise<void> {
    if (ids.length > 0) await store.touch(ids, expiry())
  }

  // What is kept is refreshed at every sweep, so it lasts one longer.
  function expiry (): number {
    return Date.now() + sessionIdle + interval
  }

  // Once for each trouble: a store that cannot write says the same of every session.
  function onTrouble (error: unknown): void {
    const words = String(error)
    if (words === told) return
    told = words
    fastify.log.error({ err: error }, 'a session could not be kept')
  }
}, { name: 'sessions', dependencies: ['mcp', 'store', 'resources', 'health', 'pressure'] })
