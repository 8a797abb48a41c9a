import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Listeners } from '../lib/listeners.js'
import { now, withTimeout } from '../lib/time.js'
import type { Call } from '../protocol/dispatch/call.js'
import { errors } from '../protocol/wire/errors.js'
import { IsolatedConnections, isolationKey } from './isolated-connections.js'
import type { Connection, OpenConnection, Upstream } from './ports.js'
import { signInRequired, withReason } from './reasons.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import type { Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import { ownerOf, UNKNOWN_CALLER } from './sign-in/owner.js'
import { SHARED } from './sign-in/sign-ins.js'
import type { SignInPages } from './sign-in/offer.js'
import { takeOverSignIns, type SignedInConnection } from './signed-in-connection.js'
import { Supervisor } from './supervision/supervisor.js'
import type { ConfiguredUpstreamOptions } from './upstream-options.js'

/**
 * How many lines of a server that failed are in the log and in `/health`, and how many of one that runs operators are
 * told.
 */
const LINES = 10
const RECENT_LINES = 100

/** One configured server and the connections to it. */
export class ConfiguredUpstream implements Upstream {
  #entry: ServerEntry
  readonly redact: Redact
  readonly parked: ParkedCalls
  readonly #options: ConfiguredUpstreamOptions
  readonly #ready = new Listeners<[connection: Connection]>()
  readonly #changed = new Listeners<[]>()
  /** For servers that each caller signs in to, never opened. */
  readonly #shared: SignedInConnection
  readonly #isolated: IsolatedConnections
  /** The connection that lists are read over, where no connection is shared. */
  #listed: OpenConnection | undefined
  #hasSignIns = false
  /** True where each caller signs in, so that nothing is shared. */
  readonly #hasCallers: boolean
  #draining: Promise<void> | undefined
  #ended: Promise<unknown> | undefined
  /** Of the latest shared connection. */
  #latest: Pick<Connection, 'transport' | 'revision'> | undefined

  constructor (options: ConfiguredUpstreamOptions) {
    this.#entry = options.entry
    this.#hasCallers = options.entry.auth === 'caller'
    this.redact = options.redact
    this.parked = options.parked
    this.#options = options
    this.#shared = this.#supervise(SHARED, true)
    this.#isolated = new IsolatedConnections({
      max: options.limits.maxConnections,
      create: owner => owner === SHARED
        ? { ...this.#supervise(owner, false), credential: this.#shared.credential }
        : this.#supervise(owner, false),
      refuse: why => this.#refuse(why)
    })
  }

  get entry (): ServerEntry {
    return this.#entry
  }

  /** Takes over an entry with other overrides, of which the server knows nothing; false if more of it is different. */
  adopt (entry: ServerEntry): boolean {
    if (!isDeepStrictEqual({ ...this.#entry, override: undefined }, { ...entry, override: undefined })) return false
    if (!isDeepStrictEqual(this.#entry.override, entry.override)) this.#entry = entry
    return true
  }

  get status (): Upstream['status'] {
    const { disabled, address } = this.entry
    const { state, restarts, lastError } = this.#shared.supervisor
    // A try after a failure is none that people should take for a first start.
    const shown = this.#hasCallers
      ? this.#listed?.closed === false ? 'ready' : this.#hasSignIns ? 'stopped' : 'needs sign-in'
      : state === 'starting' && this.isFailing ? 'backing off' : state
    return {
      state: disabled ? 'disabled' : shown,
      transport: this.#latest?.transport ?? address.kind,
      revision: this.#latest?.revision?.version,
      restarts,
      lastError: lastError && this.redact(lastError)
    }
  }

  get since (): number {
    return this.#shared.supervisor.since
  }

  get isFailing (): boolean {
    return this.#shared.supervisor.isFailing
  }

  get nextTryAt (): number | undefined {
    const { state, nextTryAt } = this.#shared.supervisor
    return state === 'backing off' ? nextTryAt : undefined
  }

  lastLines (): readonly string[] {
    return this.#shared.supervisor.lastLines
  }

  recentLines (): readonly string[] {
    return this.#options.lastLines(RECENT_LINES)
  }

  retry (): void {
    if (!this.#hasCallers) this.#shared.supervisor.start(true)
  }

  async signInPages (): Promise<SignInPages | undefined> {
    return await this.#options.signInPages?.()
  }

  async readSignIn (owner?: string): Promise<void> {
    await takeOverSignIns([this.#shared, ...this.#isolated.ofOwner(owner)])
    const mayList = this.#hasCallers && owner !== undefined && owner !== SHARED && this.#draining === undefined
    if (mayList && this.#hasSignIns && this.#listed?.closed !== false) this.#isolated.get(owner, owner).catch(() => {})
  }

  /** Notes if some caller has signed in. */
  noteSignIns (hasSignIns: boolean): void {
    if (this.#hasSignIns === hasSignIns) return
    this.#hasSignIns = hasSignIns
    this.#changed.notify()
  }

  /** The tokens of connections that callers do not share. */
  get secrets (): readonly string[] {
    return this.#isolated.secrets()
  }

  openConnection (): Connection | undefined {
    return this.entry.isolate === 'none' && this.#draining === undefined ? this.#shared.supervisor.use() : undefined
  }

  async connectionFor (call: Call): Promise<Connection> {
    this.#check()
    const owner = ownerOf(this.entry, call)
    if (owner === undefined) throw this.#refuse(UNKNOWN_CALLER)
    const key = isolationKey(this.entry, call, owner)
    if (key !== undefined) return await this.#isolated.get(key, owner, call.signal)
    return await this.#shared.supervisor.get(call.signal)
  }

  async shared (): Promise<Connection> {
    this.#check()
    if (!this.#hasCallers) return await this.#shared.supervisor.get()
    if (this.#listed?.closed === false) return this.#listed
    throw signInRequired(this.entry.alias, 'each caller signs in, and none is connected')
  }

  /** Starts the server in the background, if it is to be started before it is wanted. */
  start (): void {
    if (!this.entry.disabled && this.entry.start === 'eager' && !this.#hasCallers) this.#shared.supervisor.start()
  }

  onReady (listener: (connection: Connection) => void): () => void {
    return this.#ready.add(listener)
  }

  onChange (listener: () => void): () => void {
    return this.#changed.add(listener)
  }

  get maxRounds (): number {
    return this.#options.limits.maxRounds
  }

  async close (grace = this.#options.limits.grace): Promise<void> {
    const drained = this.#draining ??= this.#drain(grace)
    if (grace > 0) await drained
    this.#ended ??= Promise.all([this.#shared.supervisor.close(), this.#isolated.close()])
    await this.#ended
  }

  async #drain (grace: number): Promise<void> {
    this.parked.end('the server was removed', this.entry.alias)
    if (grace === 0) return
    const end = now() + grace
    const starts = [this.#shared.supervisor.waitForStart(), this.#isolated.waitForStarts()]
    await withTimeout(Promise.all(starts), grace, () => {})
    // Calls that waited for a start are sent in this turn.
    await setImmediate()
    const open = [this.#shared.supervisor.connection, ...this.#isolated.connections()]
    await Promise.all(open.map(async connection => await connection?.drain(Math.max(1, end - now()))))
  }

  #check (): void {
    if (this.entry.disabled) throw this.#refuse('it is disabled')
    if (this.#draining !== undefined) throw this.#refuse('it was removed from the configuration')
  }

  #refuse (why: string, retryAfter?: number, reason?: string): Error {
    const { alias } = this.entry
    const error = errors.upstreamUnavailable(alias, why, retryAfter)
    if (reason === undefined) return error
    return withReason(error, errors.upstreamUnavailable(alias, this.redact(reason), retryAfter))
  }

  #announce (connection: OpenConnection | Connection): void {
    const { entry: { alias }, log } = this.#options
    const { transport, revision } = connection
    this.#latest = { transport, revision }
    const spoken = revision === undefined ? transport : `${transport}, ${revision.version}`
    log.info({ upstream: alias, transport, revision: revision?.version }, `upstream ${alias} ready (${spoken})`)
    this.#ready.notify(connection)
  }

  /** Has lists read over a connection of one caller, unless they are over that of another. */
  #list (connection: OpenConnection): void {
    if (!this.#hasCallers || this.#listed?.closed === false) return
    this.#listed = connection
    connection.onClose(() => this.#changed.notify())
    this.#announce(connection)
    this.#changed.notify()
  }

  #supervise (owner: string, isShared: boolean): SignedInConnection {
    const { entry: { alias, start, idle, startTimeout }, connect, starts, limits, lastLines, log } = this.#options
    const credential = this.#options.credentialOf?.(owner)
    const supervisor = new Supervisor<OpenConnection>({
      alias,
      connect: async signal => await connect(signal, connection => {
        if (isShared || connection === this.#listed) this.#announce(connection)
      }, credential),
      ...(isShared
        ? { onReady: connection => this.#announce(connection), onChange: () => this.#changed.notify() }
        : { onReady: connection => this.#list(connection) }),
      starts,
      // Trying a URL again costs little, and its server may be away for longer.
      backOff: this.entry.address.kind === 'stdio' ? limits.backOff : { ...limits.backOff, maxFailures: Infinity },
      startTimeout: startTimeout ?? limits.startTimeout,
      idle: isShared ? idle : idle ?? limits.isolatedIdle,
      isBusy: connection => connection.isBusy,
      lastLines: () => lastLines(LINES),
      asksCallers: this.#hasCallers,
      keep: isShared && start === 'eager' && idle === undefined,
      refuse: (why, retryAfter, reason) => this.#refuse(why, retryAfter, reason),
      refuseUnsigned: why => signInRequired(alias, why),
      log
    })
    return { supervisor, credential }
  }
}
