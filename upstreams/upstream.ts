import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Listeners } from '../lib/listeners.js'
import type { Semaphore } from '../lib/semaphore.js'
import { now, withTimeout } from '../lib/time.js'
import type { Call } from '../protocol/dispatch/call.js'
import { errors } from '../protocol/wire/errors.js'
import type { OpenConnection } from './connection/connection.js'
import { IsolatedConnections, isolationKey } from './isolated-connections.js'
import type { Connection, Upstream } from './ports.js'
import { withReason } from './reasons.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import type { Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import type { BackOffOptions } from './supervision/back-off.js'
import { Supervisor, type SupervisorLog } from './supervision/supervisor.js'

export interface UpstreamLimits {
  readonly startTimeout: number
  readonly backOff: BackOffOptions
  /**
   * The most connections besides the shared one, and after how many milliseconds without a call one of them is closed.
   */
  readonly maxConnections: number
  readonly isolatedIdle: number
  readonly maxRounds: number
  /** How long calls in flight may take to finish when the upstream is removed, in milliseconds. */
  readonly grace: number
}

export interface ConfiguredUpstreamOptions {
  readonly entry: ServerEntry
  /** Opens a connection; `onReopen` runs when it had to agree anew with the upstream. */
  readonly connect: (signal: AbortSignal, onReopen: (connection: Connection) => void) => Promise<OpenConnection>
  readonly starts: Semaphore
  readonly limits: UpstreamLimits
  readonly parked: ParkedCalls
  /** Lines that its processes wrote last for people, without secrets. */
  readonly lastLines: (count: number) => readonly string[]
  /** Hides the secrets of the entry. */
  readonly redact: Redact
  readonly log: SupervisorLog
}

/**
 * How many lines of a server that failed are in the log and in `/health`, and how many of one that runs operators are
 * told.
 */
const LINES = 10
const RECENT_LINES = 100

/** One configured server and the connections to it. */
export class ConfiguredUpstream implements Upstream {
  #entry: ServerEntry
  readonly parked: ParkedCalls
  readonly #options: ConfiguredUpstreamOptions
  readonly #ready = new Listeners<[connection: Connection]>()
  readonly #changed = new Listeners<[]>()
  readonly #shared: Supervisor<OpenConnection>
  readonly #isolated: IsolatedConnections
  #draining: Promise<void> | undefined
  #ended: Promise<unknown> | undefined
  /** Of the latest shared connection. */
  #latest: Pick<Connection, 'transport' | 'revision'> | undefined

  constructor (options: ConfiguredUpstreamOptions) {
    this.#entry = options.entry
    this.parked = options.parked
    this.#options = options
    this.#shared = this.#supervise(true)
    this.#isolated = new IsolatedConnections({
      max: options.limits.maxConnections,
      create: () => this.#supervise(false),
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
    const { state, restarts, lastError } = this.#shared
    // A try after a failure is none that people should take for a first start.
    const shown = state === 'starting' && this.isFailing ? 'backing off' : state
    return {
      state: disabled ? 'disabled' : shown,
      transport: this.#latest?.transport ?? address.kind,
      revision: this.#latest?.revision.version,
      restarts,
      lastError: lastError && this.#options.redact(lastError)
    }
  }

  get since (): number {
    return this.#shared.since
  }

  get isFailing (): boolean {
    return this.#shared.isFailing
  }

  get nextTryAt (): number | undefined {
    return this.#shared.state === 'backing off' ? this.#shared.nextTryAt : undefined
  }

  lastLines (): readonly string[] {
    return this.#shared.lastLines
  }

  recentLines (): readonly string[] {
    return this.#options.lastLines(RECENT_LINES)
  }

  retry (): void {
    this.#shared.start(true)
  }

  openConnection (): Connection | undefined {
    return this.entry.isolate === 'none' && this.#draining === undefined ? this.#shared.use() : undefined
  }

  async connectionFor (call: Call): Promise<Connection> {
    this.#check()
    const key = isolationKey(this.entry.isolate, call)
    return key === undefined ? await this.#shared.get(call.signal) : await this.#isolated.get(key, call.signal)
  }

  async shared (): Promise<Connection> {
    this.#check()
    return await this.#shared.get()
  }

  /** Starts the server in the background, if it is to be started before it is wanted. */
  start (): void {
    if (!this.entry.disabled && this.entry.start === 'eager') this.#shared.start()
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
    this.#ended ??= Promise.all([this.#shared.close(), this.#isolated.close()])
    await this.#ended
  }

  async #drain (grace: number): Promise<void> {
    this.parked.end('the server was removed', this.entry.alias)
    if (grace === 0) return
    const end = now() + grace
    await withTimeout(Promise.all([this.#shared.waitForStart(), this.#isolated.waitForStarts()]), grace, () => {})
    // Calls that waited for a start are sent in this turn.
    await setImmediate()
    const open = [this.#shared.connection, ...this.#isolated.connections()]
    await Promise.all(open.map(async connection => await connection?.drain(Math.max(1, end - now()))))
  }

  #check (): void {
    if (this.entry.disabled) throw this.#refuse('it is disabled')
    if (this.#draining !== undefined) throw this.#refuse('it was removed from the configuration')
  }

  #refuse (why: string, retryAfter?: number, reason?: string): Error {
    const { alias } = this.entry
    const error = errors.upstreamUnavailable(alias, why, retryAfter)
    return reason === undefined
      ? error
      : withReason(error, errors.upstreamUnavailable(alias, this.#options.redact(reason), retryAfter))
  }

  #supervise (isShared: boolean): Supervisor<OpenConnection> {
    const { entry: { alias, start, idle, startTimeout }, connect, starts, limits, lastLines, log } = this.#options
    const announce = (connection: OpenConnection | Connection): void => {
      const { transport, revision } = this.#latest = { transport: connection.transport, revision: connection.revision }
      log.info(
        { upstream: alias, transport, revision: revision.version },
        `upstream ${alias} ready (${transport}, ${revision.version})`
      )
      this.#ready.notify(connection)
    }
    return new Supervisor<OpenConnection>({
      alias,
      connect: async signal => await connect(signal, isShared ? announce : () => {}),
      ...(isShared ? { onReady: announce, onChange: () => this.#changed.notify() } : {}),
      starts,
      // Trying a URL again costs little, and its server may be away for longer.
      backOff: this.entry.address.kind === 'stdio' ? limits.backOff : { ...limits.backOff, maxFailures: Infinity },
      startTimeout: startTimeout ?? limits.startTimeout,
      idle: isShared ? idle : idle ?? limits.isolatedIdle,
      isBusy: connection => connection.callsInFlight > 0,
      lastLines: () => lastLines(LINES),
      keep: isShared && start === 'eager' && idle === undefined,
      refuse: (why, retryAfter, reason) => this.#refuse(why, retryAfter, reason),
      log
    })
  }
}
