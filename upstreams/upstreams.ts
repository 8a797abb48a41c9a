import { setImmediate } from 'node:timers/promises'
import { Semaphore } from '../lib/semaphore.js'
import type { Call } from '../protocol/dispatch/call.js'
import type { NodeCalls } from '../protocol/nodes/node-calls.js'
import { connectorOf, type ConnectorHost } from './connector.js'
import { createHops, RingFound } from './hops.js'
import type { ListGateway } from './lists/gateway.js'
import { Lists } from './lists/lists.js'
import type { Snapshot } from './lists/snapshot.js'
import type { PinPort } from './pins/port.js'
import type { ConnectionLog, Repair, Upstream, UpstreamStatus } from './ports.js'
import { openParking } from './relay/parking/forwarded-rounds.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import { redactingLog, redactorOf } from './secrets.js'
import { credentialOf } from './sign-in/stored-credential.js'
import { SHARED, signInKey, type SignIns } from './sign-in/sign-ins.js'
import type { SignInPages } from './sign-in/offer.js'
import { isApi, type ServerEntry } from './server-entry.js'
import type { SupervisorLog } from './supervision/supervisor.js'
import { ConfiguredUpstream } from './upstream.js'
import { limitsOf } from './upstream-options.js'

/** The part of the gateway that upstreams use. */
export interface UpstreamHost extends ConnectorHost {
  readonly nodeCalls: NodeCalls
  /** Where the lists of upstreams go. */
  readonly gateway: ListGateway
  readonly log: ConnectionLog & SupervisorLog
  /** Holds servers to the definitions that operators accepted. */
  readonly pins: PinPort
  /** The sign-ins of persons; absent where they cannot be stored. */
  readonly signIns?: SignIns | undefined
  readonly signInPages?: () => Promise<SignInPages | undefined>
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
  readonly #offSignIns: () => void

  constructor (host: UpstreamHost) {
    this.#host = host
    this.#starts = new Semaphore(host.options.maxUpstreamStarts)
    this.#parked = openParking(host.options, host.nodeCalls)
    this.#lists = new Lists(host.gateway, host.values, host.options, host.log, this.#hopOf, host.pins)
    this.#offSignIns = host.signIns?.onChange(key => this.#signedIn(key)) ?? (() => {})
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

  /** The lists of an upstream as they were read; undefined while nothing is known of them. */
  listsOf (alias: string): Snapshot | undefined {
    return this.#lists.snapshotOf(alias)
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
    this.#offSignIns()
    this.#lists.close()
    this.drain()
    // Parked calls are cancelled in the next turn.
    await setImmediate()
    await Promise.all([...this.#all.values(), ...this.#removed].map(async upstream => await upstream.close(0)))
  }

  async #take (entries: readonly ServerEntry[]): Promise<void> {
    if (this.#closed) return
    const next = new Map(entries.map(entry => [entry.alias, this.#findUnchanged(entry) ?? this.#create(entry)]))
    for (const [alias, upstream] of next) if (this.#all.get(alias) === upstream) reread(upstream)
    const removed = [...this.#all.values()].filter(upstream => next.get(upstream.entry.alias) !== upstream)
    this.#all = next
    await this.#host.pins.configure(entries)
    await this.#lists.configure([...next.values()])
    for (const upstream of removed) this.#remove(upstream)
    if (!this.#closed) {
      for (const upstream of next.values()) {
        this.#report(upstream)
        upstream.start()
        void this.#countSignIns(upstream)
      }
    }
  }

  /** A sign-in has changed, here or in another process; undefined for any. */
  #signedIn (key: string | undefined): void {
    for (const upstream of this.#all.values()) {
      const owner = key === undefined ? undefined : ownerIn(key, upstream.entry)
      if (key === undefined || owner !== undefined) void this.#readSignIn(upstream, owner)
    }
  }

  async #readSignIn (upstream: ConfiguredUpstream, owner?: string): Promise<void> {
    await this.#countSignIns(upstream)
    await upstream.readSignIn(owner)
  }

  /** Finds out whether some caller has signed in to a server that each signs in to. */
  async #countSignIns (upstream: ConfiguredUpstream): Promise<void> {
    const { entry } = upstream
    if (entry.auth !== 'caller') return
    const keys = await this.#host.signIns?.keysOf(entry.alias).catch(() => []) ?? []
    upstream.noteSignIns(keys.some(key => ![undefined, SHARED].includes(ownerIn(key, entry))))
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

  #findUnchanged (entry: ServerEntry): ConfiguredUpstream | undefined {
    const known = this.#all.get(entry.alias)
    return known?.adopt(entry) === true ? known : undefined
  }

  #create (entry: ServerEntry): ConfiguredUpstream {
    const { options, signIns, signInPages } = this.#host
    const shared = entry.auth === 'caller' ? undefined : credentialOf(entry, signIns)
    const redact = redactorOf(
      () => upstream.entry,
      this.#host.gateway.views.fixedTexts,
      () => [...shared?.secrets ?? [], ...upstream.secrets]
    )
    const log = redactingLog(this.#host.log, ['debug', 'info', 'warn'], redact)
    const hop = this.#hopOf(entry.alias)
    const { connect, lastLines } = connectorOf(entry, this.#host, { hop, shared, redact, log })
    const upstream: ConfiguredUpstream = new ConfiguredUpstream({
      entry,
      connect: async (signal, onReopen, credential) => {
        return await connect(signal, onReopen, credential).catch(async (error: unknown) => {
          if (error instanceof RingFound) await this.#lists.withdraw(upstream)
          throw error
        })
      },
      credentialOf: owner => owner === SHARED ? shared : credentialOf(entry, signIns, owner),
      signInPages,
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

/** Reads the document of an API again; a server that speaks MCP says itself what has changed. */
function reread (upstream: ConfiguredUpstream): void {
  if (!isApi(upstream.entry) || upstream.entry.disabled) return
  if (upstream.isFailing) upstream.retry()
  void upstream.openConnection()?.reread?.()
}

/** The owner in the key of a sign-in to a server; undefined for other servers. */
function ownerIn (key: string, entry: ServerEntry): string | undefined {
  const server = signInKey(entry, '')
  return key.startsWith(server) ? key.slice(server.length) : undefined
}

/** Says what is wrong with an upstream that should run and does not; nothing where callers are asked to sign in. */
function troubleOf ({ entry: { alias, auth }, status: { state, lastError } }: ConfiguredUpstream): string | undefined {
  if (auth === 'caller') return undefined
  if (state === 'needs sign-in') return `upstream ${alias} needs a sign-in: run patchbay login ${alias}`
  return state === 'backing off' || state === 'crash loop' ? `upstream ${alias} does not run: ${lastError}` : undefined
}
