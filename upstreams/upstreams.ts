import { setImmediate } from 'node:timers/promises'
import { Semaphore } from '../lib/semaphore.js'
import type { Call } from '../protocol/dispatch/call.js'
import type { NodeCalls } from '../protocol/nodes/node-calls.js'
import type { Implementation } from '../protocol/revisions/revision.js'
import type { Values } from '../protocol/store.js'
import { connect } from './connection/connection.js'
import type { RequestObserver } from './connection/observed-request.js'
import { EraMemory } from './connection/era-memory.js'
import type { Dialer, DialOptions } from './dial.js'
import { createHops, RingFound } from './hops.js'
import type { ListGateway } from './lists/gateway.js'
import type { ListLimits } from './lists/limits.js'
import { Lists } from './lists/lists.js'
import type { ConnectionLog, Repair, Upstream, UpstreamStatus } from './ports.js'
import { openParking } from './relay/parking/forwarded-rounds.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import { redactingLog, redactorOf, type Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import type { SupervisorLog } from './supervision/supervisor.js'
import { ConfiguredUpstream, type UpstreamLimits } from './upstream.js'

/** The options about all upstreams. */
export interface UpstreamOptions extends Omit<DialOptions, 'stopTimeout' | 'replies'>, ListLimits {
  readonly maxUpstreamBytes: number
  readonly maxAllUpstreamBytes: number
  readonly stdio: boolean
  readonly upstreamStopTimeout: number
  readonly upstreamQuickStopTimeout: number
  readonly upstreamProbeWait: number
  readonly upstreamStartTimeout: number
  readonly upstreamRestartDelay: number
  readonly upstreamRestartDelayMax: number
  readonly maxUpstreamFailures: number
  readonly upstreamIdle: number
  readonly maxUpstreamConnections: number
  readonly maxUpstreamStarts: number
  readonly maxUpstreamQuestions: number
  readonly maxUpstreamRounds: number
  readonly parkedCallLifetime: number
  readonly maxParkedCalls: number
  readonly maxParkedCallsPerUpstream: number
  readonly maxParkedCallsPerCaller: number
  readonly maxParkedBytes: number
  readonly grace: number
}

/** The part of the gateway that upstreams use. */
export interface UpstreamHost {
  readonly clientInfo: Implementation
  readonly values: Values
  readonly nodeCalls: NodeCalls
  /** Where the lists of upstreams go. */
  readonly gateway: ListGateway
  readonly log: ConnectionLog & SupervisorLog
  /** Is told of each request to an upstream when it is answered or has failed. */
  readonly observer?: RequestObserver | undefined
  readonly options: UpstreamOptions
  readonly dialerOf: (entry: ServerEntry, redact: Redact) => Dialer
  /** Takes what is wrong with an upstream, or undefined when nothing is; called whenever its state has changed. */
  readonly reportHealth: (alias: string, trouble: string | undefined) => void
}

/** The upstream servers that are configured. */
export class Upstreams {
  readonly #host: UpstreamHost
  #all = new Map<string, ConfiguredUpstream>()
  /** Upstreams that let their calls finish. */
  readonly #removed = new Set<ConfiguredUpstream>()
  #configuring: Promise<void> = Promise.resolve()
  #closed = false
  readonly #hopOf = createHops()
  readonly #starts: Semaphore
  readonly #parked: ParkedCalls
  readonly #lists: Lists

  constructor (host: UpstreamHost) {
    this.#host = host
    this.#starts = new Semaphore(host.options.maxUpstreamStarts)
    this.#parked = openParking(host.options, host.nodeCalls)
    this.#lists = new Lists(host.gateway, host.values, host.options, host.log, this.#hopOf)
  }

  get (alias: string): Upstream | undefined {
    return this.#all.get(alias)
  }

  status (): UpstreamStatus[] {
    return [...this.#all.values()].map(({ entry: { alias }, status }) => {
      const lastError = status.state === 'ready' ? this.#lists.lastErrorOf(alias) ?? status.lastError : status.lastError
      return { alias, ...status, lastError, ...this.#lists.statusOf(alias) }
    })
  }

  /** True when the lists of an upstream are known. */
  hasLists (alias: string): boolean {
    return this.#lists.isKnown(alias)
  }

  /** Lists the repairs in the lists of an upstream. */
  repairs (alias: string): Repair[] {
    return this.#lists.repairsOf(alias)
  }

  /** Starts an upstream, if need be, and settles when its lists were read. Rejects if that failed or was aborted. */
  async readLists (alias: string, signal: AbortSignal): Promise<void> {
    await this.#lists.readFirst(alias, signal)
  }

  /**
   * Finds the wait of a call whose target is not there: for the first lists of the upstream that it names, or of all
   * for a list. Undefined when there is nothing to wait for.
   */
  awaitedBy (call: Call): Promise<unknown> | undefined {
    return this.#lists.awaitedBy(call)
  }

  /** The wait of a call for servers of its view that were never read; undefined when there are none. */
  firstLists (call: Call): Promise<unknown> | undefined {
    return this.#lists.firstLists(call)
  }

  /** Takes over a new configuration: what did not change runs on, the rest is ended or started, without waiting. */
  async configure (entries: readonly ServerEntry[]): Promise<void> {
    const configuring = this.#configuring.then(() => this.#take(entries))
    this.#configuring = configuring.catch(() => {})
    await configuring
  }

  /** The gateway begins to shut down: calls that wait for answers of clients are not waited for. */
  drain (): void {
    this.#parked.end('the server is shutting down')
  }

  /** Ends all at once: the gateway has waited for its calls. */
  async close (): Promise<void> {
    this.#closed = true
    await this.#configuring
    this.#lists.close()
    this.drain()
    // Parked calls are cancelled in the next turn.
    await setImmediate()
    await Promise.all([...this.#all.values(), ...this.#removed].map(async upstream => await upstream.close(0)))
  }

  async #take (entries: readonly ServerEntry[]): Promise<void> {
    if (this.#closed) return
    const next = new Map(entries.map(entry => [entry.alias, this.#unchanged(entry) ?? this.#create(entry)]))
    const removed = [...this.#all.values()].filter(upstream => next.get(upstream.entry.alias) !== upstream)
    this.#all = next
    await this.#lists.configure([...next.values()])
    for (const upstream of removed) this.#remove(upstream)
    if (!this.#closed) {
      for (const upstream of next.values()) {
        this.#report(upstream)
        upstream.start()
      }
    }
  }

  #report (upstream: ConfiguredUpstream): void {
    if (this.#all.get(upstream.entry.alias) === upstream) {
      this.#host.reportHealth(upstream.entry.alias, troubleOf(upstream))
    }
  }

  #remove (upstream: ConfiguredUpstream): void {
    this.#removed.add(upstream)
    const forget = (): void => { this.#removed.delete(upstream) }
    upstream.close().then(forget, forget)
    if (!this.#all.has(upstream.entry.alias)) this.#host.reportHealth(upstream.entry.alias, undefined)
  }

  #unchanged (entry: ServerEntry): ConfiguredUpstream | undefined {
    const known = this.#all.get(entry.alias)
    return known?.adopt(entry) === true ? known : undefined
  }

  #create (entry: ServerEntry): ConfiguredUpstream {
    const { clientInfo, values, options, dialerOf, observer } = this.#host
    const redact = redactorOf(() => upstream.entry)
    const log = redactingLog(this.#host.log, ['debug', 'info', 'warn'], redact)
    const eras = new EraMemory(values, entry)
    const { dial, lastLines } = dialerOf(entry, redact)
    const settings = {
      entry,
      hop: this.#hopOf(entry.alias),
      dial,
      clientInfo,
      eras,
      probeWait: options.upstreamProbeWait,
      maxQuestions: options.maxUpstreamQuestions,
      log,
      observer
    }
    const upstream: ConfiguredUpstream = new ConfiguredUpstream({
      entry,
      connect: async (signal, onReopen) =>
        await connect({ ...settings, onReopen }, signal).catch(async (error: unknown) => {
          if (error instanceof RingFound) await this.#lists.withdraw(upstream)
          throw error
        }),
      starts: this.#starts,
      limits: limitsOf(options),
      parked: this.#parked,
      lastLines: count => lastLines(count).map(redact),
      redact,
      log
    })
    upstream.onChange(() => this.#report(upstream))
    return upstream
  }
}

/** Says what is wrong with an upstream that should run and does not. */
function troubleOf ({ entry: { alias }, status: { state, lastError } }: ConfiguredUpstream): string | undefined {
  return state === 'backing off' || state === 'crash loop' ? `upstream ${alias} does not run: ${lastError}` : undefined
}

/** Within how many milliseconds failures are counted, and after how many without one they are forgotten. */
const PERIOD = 60_000

function limitsOf (options: UpstreamOptions): UpstreamLimits {
  const {
    upstreamStartTimeout,
    upstreamRestartDelay,
    upstreamRestartDelayMax,
    maxUpstreamFailures,
    upstreamIdle,
    maxUpstreamConnections,
    maxUpstreamRounds: maxRounds,
    grace
  } = options
  const backOff = {
    first: upstreamRestartDelay,
    longest: upstreamRestartDelayMax,
    maxFailures: maxUpstreamFailures,
    period: PERIOD
  }
  return {
    startTimeout: upstreamStartTimeout,
    backOff,
    maxConnections: maxUpstreamConnections,
    isolatedIdle: upstreamIdle,
    maxRounds,
    grace
  }
}
