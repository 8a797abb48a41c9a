import { now } from '../../lib/time/clock.js'
import type { Session } from './session.js'

/** After which time, in milliseconds, a session may be ended in favour of another: one that was not used since the handshake, or another. */
const ABANDONED = { unused: 10_000, used: 5 * 60_000 }

/** The sessions that a process serves, by id, and how many each caller has. */
export class SessionTable {
  readonly #sessions = new Map<string, Session>()
  /** Those whose clients have not come back since the handshake, the oldest first. */
  readonly #unused = new Set<Session>()
  readonly #owned = new Map<string, number>()

  get size (): number {
    return this.#sessions.size
  }

  get (id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  /** False for one whose id stands for another by now, too. */
  has (session: Session): boolean {
    return this.#sessions.get(session.id) === session
  }

  values (): IterableIterator<Session> {
    return this.#sessions.values()
  }

  countOf (principal: string): number {
    return this.#owned.get(principal) ?? 0
  }

  add (session: Session, unused: boolean): void {
    const { principal } = session.peer
    this.#sessions.set(session.id, session)
    if (unused) this.#unused.add(session)
    if (principal !== undefined) this.#owned.set(principal, this.countOf(principal) + 1)
  }

  remove (session: Session): void {
    if (!this.has(session)) return
    this.#sessions.delete(session.id)
    this.#unused.delete(session)
    if (session.peer.principal !== undefined) this.#disown(session.peer.principal)
  }

  /** Its client is there. */
  use (session: Session): void {
    session.lastSeen = now()
    this.#unused.delete(session)
  }

  /** One that may be ended in favour of another; undefined when all are in use. */
  abandoned (): Session | undefined {
    const [oldest] = this.#unused
    if (oldest !== undefined && oldest.lastSeen <= now() - ABANDONED.unused && !oldest.busy) return oldest
    let idlest: Session | undefined
    for (const session of this.#sessions.values()) {
      if (session.lastSeen < (idlest?.lastSeen ?? now() - ABANDONED.used) && !session.busy) idlest = session
    }
    return idlest
  }

  #disown (principal: string): void {
    const left = this.countOf(principal) - 1
    if (left > 0) this.#owned.set(principal, left)
    else this.#owned.delete(principal)
  }
}
