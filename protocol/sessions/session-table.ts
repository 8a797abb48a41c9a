import { Counter } from '../../lib/counter.js'
import { now } from '../../lib/time.js'
import type { Session } from './session.js'

/**
 * After how many milliseconds without its client a session may be ended in favour of a new one: unused since
 * `initialize`, or used.
 */
const ABANDONED_AFTER = { unused: 10_000, used: 5 * 60_000 }

/** The sessions that this node serves, by id, and how many each caller has. */
export class SessionTable {
  readonly #sessions = new Map<string, Session>()
  /** Sessions whose clients have not come back since `initialize`, oldest first. */
  readonly #unused = new Set<Session>()
  readonly #byPrincipal = new Counter()

  get size (): number {
    return this.#sessions.size
  }

  get (id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  /** False also when another session has its id by now. */
  has (session: Session): boolean {
    return this.#sessions.get(session.id) === session
  }

  values (): IterableIterator<Session> {
    return this.#sessions.values()
  }

  countOf (principal: string): number {
    return this.#byPrincipal.get(principal)
  }

  add (session: Session, unused: boolean): void {
    const { principal } = session.peer
    this.#sessions.set(session.id, session)
    if (unused) this.#unused.add(session)
    if (principal !== undefined) this.#byPrincipal.increment(principal)
  }

  remove (session: Session): void {
    if (!this.has(session)) return
    this.#sessions.delete(session.id)
    this.#unused.delete(session)
    if (session.peer.principal !== undefined) this.#byPrincipal.decrement(session.peer.principal)
  }

  /** Its client has sent a request: for how many milliseconds it had not. */
  markUsed (session: Session): number {
    const before = session.lastSeen
    session.lastSeen = now()
    this.#unused.delete(session)
    return session.lastSeen - before
  }

  /** A session that may be ended in favour of a new one; undefined when all are in use. */
  findAbandoned (): Session | undefined {
    const moment = now()
    const [oldest] = this.#unused
    if (oldest !== undefined && oldest.lastSeen <= moment - ABANDONED_AFTER.unused && !oldest.isBusy) return oldest
    let idlest: Session | undefined
    for (const session of this.#sessions.values()) {
      if (session.lastSeen < (idlest?.lastSeen ?? moment - ABANDONED_AFTER.used) && !session.isBusy) idlest = session
    }
    return idlest
  }
}
