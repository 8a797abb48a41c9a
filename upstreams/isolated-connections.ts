import type { Call } from '../protocol/dispatch/call.js'
import { Peer } from '../protocol/peer/peer.js'
import type { OpenConnection } from './ports.js'
import { callerOf } from './relay/client-of.js'
import type { ServerEntry } from './server-entry.js'
import type { SignedInConnection } from './signed-in-connection.js'

type Key = Exclude<IsolationKey, undefined>

export interface IsolatedOptions {
  readonly max: number
  /** Makes a connection whose requests carry the token of this owner. */
  readonly create: (owner: string) => SignedInConnection
  /** Makes the error for a caller for whom no connection is left. */
  readonly refuse: (why: string) => Error
}

interface Isolated extends SignedInConnection {
  readonly owner: string
  readonly caller: string
  /** Stops listening to the end of the session. */
  readonly release: () => void
}

/** The connections of one upstream that callers do not share, by who uses them. */
export class IsolatedConnections {
  readonly #options: IsolatedOptions
  /** In the order in which they were last used. */
  readonly #all = new Map<Key, Isolated>()

  constructor (options: IsolatedOptions) {
    this.#options = options
  }

  /** Rejects when all that may be open, or all that one caller may have, are in use. */
  async get (key: Key, owner: string, signal?: AbortSignal): Promise<OpenConnection> {
    const known = this.#all.get(key)
    // A session is of one caller; that this holds is not left to those who made it.
    if (known !== undefined && known.owner !== owner) this.#remove(key)
    const isolated = this.#all.get(key) ?? this.#add(key, owner)
    this.#all.delete(key)
    this.#all.set(key, isolated)
    return await isolated.supervisor.get(signal)
  }

  /** Settles when no caller waits for a start any more; never rejects. */
  async waitForStarts (): Promise<void> {
    await Promise.all([...this.#all.values()].map(async ({ supervisor }) => await supervisor.waitForStart()))
  }

  /** The connections whose requests carry the token of this owner; undefined for those of all. */
  ofOwner (owner: string | undefined): SignedInConnection[] {
    return [...this.#all.values()].filter(isolated => owner === undefined || isolated.owner === owner)
  }

  /** The tokens that its connections have. */
  secrets (): string[] {
    return [...this.#all.values()].flatMap(({ credential }) => credential?.secrets ?? [])
  }

  connections (): OpenConnection[] {
    return [...this.#all.values()].flatMap(({ supervisor: { connection } }) => connection ?? [])
  }

  async close (): Promise<void> {
    const all = [...this.#all.values()]
    this.#all.clear()
    for (const { release } of all) release()
    await Promise.all(all.map(async ({ supervisor }) => await supervisor.close()))
  }

  #add (key: Key, owner: string): Isolated {
    const caller = key instanceof Peer ? callerOf(key) : `principal ${key}`
    this.#makeSpace(caller)
    const created = this.#options.create(owner)
    const release = key instanceof Peer ? key.onClose(() => this.#remove(key)) : () => {}
    const isolated = { ...created, owner, caller, release }
    this.#all.set(key, isolated)
    return isolated
  }

  /** One caller has at most half of what the others leave, so that one is there for the next caller. */
  #makeSpace (caller: string): void {
    const { max, refuse } = this.#options
    const own = [...this.#all.values()].filter(isolated => isolated.caller === caller).length
    const hasShare = own > 0 && 2 * (own + 1) > max - (this.#all.size - own)
    if (hasShare && !this.#removeUnused(caller)) {
      throw refuse(
        `this caller uses ${own} connections of its own already, and others need theirs; end a session, or wait for a call (limit maxUpstreamConnections)`
      )
    }
    if (this.#all.size >= max && !this.#removeUnused()) {
      throw refuse(
        `all connections that callers may have of their own, ${max}, are in use (limit maxUpstreamConnections)`
      )
    }
  }

  /** Ends the one that was not used for the longest time, of one caller or of all; false when all are in use. */
  #removeUnused (of?: string): boolean {
    for (const [key, { supervisor: { connection, state }, caller }] of this.#all) {
      if ((of !== undefined && of !== caller) || state === 'starting' || (connection?.callsInFlight ?? 0) > 0) continue
      this.#remove(key)
      return true
    }
    return false
  }

  #remove (key: Key): void {
    const isolated = this.#all.get(key)
    this.#all.delete(key)
    isolated?.release()
    void isolated?.supervisor.close()
  }
}

/**
 * Who shares a connection with a call: `undefined` for all callers, a principal, or the session or connection of the
 * client.
 */
type IsolationKey = string | Peer | undefined

/**
 * By the entry's `isolate`. A stateless HTTP request, or one of `POST /message`, belongs to no session, so its
 * principal stands for that: a process for each request would be cheap to ask for and dear to give. All anonymous
 * callers are one principal.
 */
export function isolationKey (
  { isolate, auth }: Pick<ServerEntry, 'isolate' | 'auth'>,
  { peer, principal, revision }: Pick<Call, 'peer' | 'principal' | 'revision'>,
  owner: string
): IsolationKey {
  if (isolate === 'none') return undefined
  const hasSession = peer.channel !== undefined && (!revision.stateless || peer.transport !== 'http')
  if (isolate === 'session' && hasSession) return peer
  return auth === 'caller' ? owner : principal ?? ''
}
