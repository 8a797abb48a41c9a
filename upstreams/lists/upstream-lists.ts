import { isDeepStrictEqual } from 'node:util'
import { growingDelay } from '../../lib/time.js'
import { unlessAborted } from '../../lib/abort.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import { joinHops, RingFound, type HopsOfUpstream } from '../hops.js'
import type { Connection, Upstream, UpstreamStatus } from '../ports.js'
import { instructionsFor, isListed, isUnsigned } from './of-callers.js'
import { ALL_KINDS, KINDS, type Kind } from './reading/kinds.js'
import type { ListLimits } from './limits.js'
import type { OfferedLists } from './offers/offered-lists.js'
import { EMPTY_LIST, describeUnread, readList, type ReadList } from './reading/read-list.js'
import { Refresher } from './reading/refresher.js'
import { EMPTY, withRead, type Snapshot } from './snapshot.js'
import type { Subscriptions } from './subscriptions/subscriptions.js'

/** The waits before lists that could not be read are read again, in milliseconds. */
const RETRY = { first: 1_000, longest: 30_000 }

/** One upstream's lists as far as they are known: read when it is ready, and whenever it says that they changed. */
export class UpstreamLists {
  readonly upstream: Upstream
  readonly #limits: ListLimits
  readonly offered: OfferedLists
  readonly #subscriptions: Subscriptions
  readonly hops: HopsOfUpstream
  readonly #onRead: (isNew: boolean) => void
  readonly #refresher: Refresher
  readonly #ended = new AbortController()
  readonly #unread = new Set<Kind>()
  readonly #warnings = new Map<Kind | 'instructions', readonly string[]>()
  readonly #off: () => void
  #connection: Connection | undefined
  #retry: NodeJS.Timeout | undefined
  #failures = 0
  #lastError: string | undefined
  #stale = true
  #isKnown = false
  readonly #waiting: Array<() => void> = []
  #taken: Promise<unknown> = Promise.resolve()

  /** `onRead` runs after each reading; `isNew` when something was not as before. */
  constructor (
    upstream: Upstream,
    limits: ListLimits,
    offered: OfferedLists,
    subscriptions: Subscriptions,
    hops: HopsOfUpstream,
    onRead: (isNew: boolean) => void
  ) {
    this.upstream = upstream
    this.#limits = limits
    this.offered = offered
    this.#subscriptions = subscriptions
    this.hops = hops
    this.#onRead = onRead
    this.#refresher = new Refresher(
      async () => await this.#read().catch((error: unknown) => this.#fail(error)),
      limits.upstreamListDelay
    )
    this.#off = upstream.onReady(connection => this.#attach(connection))
  }

  get snapshot (): Snapshot {
    return this.offered.snapshot
  }

  /** Why a list could not be read, when it was last tried. */
  get lastError (): string | undefined {
    return this.#lastError
  }

  /** False until the lists were read once, or stored ones were shown. */
  get isKnown (): boolean {
    return this.#isKnown
  }

  /**
   * Starts the upstream, if need be, and settles when its lists were read. Rejects with an error that names it; its
   * removal and the signal end the wait. Where each caller signs in, they are read over the connection of this `call`.
   */
  async firstRead (signal: AbortSignal, call?: Call): Promise<void> {
    const isOfCall = this.upstream.entry.auth === 'caller' && call !== undefined
    await unlessAborted(isOfCall ? this.upstream.connectionFor(call) : this.upstream.shared(), signal)
    const isRead = !this.#isKnown && !this.#ended.signal.aborted
    if (isRead) await unlessAborted(new Promise<void>(resolve => { this.#waiting.push(resolve) }), signal)
    if (!this.#isKnown) throw errors.upstreamUnavailable(this.upstream.entry.alias, 'its lists could not be read')
  }

  get status (): Pick<UpstreamStatus, 'tools' | 'repaired' | 'stale' | 'warnings'> {
    const { tools: { size }, repaired } = this.offered
    const warnings = [...[...this.#warnings.values()].flat(), ...this.offered.warnings()]
    return { tools: size, repaired, stale: this.#stale, warnings }
  }

  /**
   * Prepares lists that were read earlier, over several turns when they are long. The function that it resolves to
   * shows them, until they are read again.
   */
  async prepare (snapshot: Snapshot): Promise<() => void> {
    const show = await this.offered.prepare(snapshot)
    return () => {
      this.#isKnown = !isUnsigned(snapshot)
      this.hops.reset(snapshot.hops)
      show()
    }
  }

  /** Offers the tools again if the overrides of the entry, or the URIs of pages, are others than before. */
  async renewTools (): Promise<void> {
    if (this.#isKnown && await this.#inTurn(async () => await this.offered.renewTools())) this.#onRead(true)
  }

  /** Offers what was read again, after something else was accepted. */
  async renewPins (): Promise<void> {
    if (this.#isKnown) await this.#inTurn(async () => await this.offered.renew())
    if (this.#isKnown) this.#onRead(true)
  }

  relistAll (): void {
    for (const kind of ALL_KINDS) this.#unread.add(kind)
    this.#refresher.request()
  }

  /** Reads one list again, now. */
  async reread (kind: Kind): Promise<void> {
    this.#unread.add(kind)
    await this.#read()
  }

  /** Shows nothing until the upstream is connected again: what it lists is this gateway's own. */
  async withdraw (): Promise<void> {
    this.hops.reset()
    if (this.snapshot === EMPTY) return
    await this.#inTurn(async () => (await this.offered.prepare(EMPTY))())
    this.#onRead(true)
  }

  close (): void {
    this.#off()
    this.#ended.abort()
    this.#refresher.close()
    clearTimeout(this.#retry)
    this.#wake()
    this.#subscriptions.close()
    this.offered.close()
  }

  #attach (connection: Connection): void {
    this.#connection = connection
    this.#stale = true
    this.#failures = 0
    this.hops.connect(connection.server.hops)
    connection.onNotification(method => {
      const changed = ALL_KINDS.filter(kind => KINDS[kind].changed === method)
      for (const kind of changed) this.#unread.add(kind)
      if (changed.length > 0) this.#refresher.request()
    })
    connection.onClose(() => {
      if (this.#connection === connection) this.#stale = true
    })
    this.#subscriptions.attach(connection)
    this.relistAll()
  }

  async #read (): Promise<void> {
    const connection = this.#connection
    const kinds = [...this.#unread]
    this.#unread.clear()
    if (connection === undefined || connection.closed) return this.#wake()
    const read = await Promise.all(kinds.map(async kind => [kind, await this.#readOne(connection, kind)] as const))
    if (this.#ended.signal.aborted) return
    if (!this.hops.take(joinHops(...read.map(([, list]) => typeof list === 'string' ? [] : list.hops)))) {
      void connection.close(new RingFound())
      await this.withdraw()
      return this.#wake()
    }
    const lists = read.filter((entry): entry is [Kind, ReadList] => typeof entry[1] !== 'string')
    const isNew = await this.#inTurn(async () => await this.#take(connection, lists))
    if (this.#ended.signal.aborted) return
    const failed = read.filter((entry): entry is [Kind, string] => typeof entry[1] === 'string')
    if (failed.length > 0) this.#readLater(failed)
    else this.#settle(connection)
    this.#wake()
    this.#onRead(isNew)
  }

  /** Reads again later, when taking over what was read failed in a way that nothing foresees. */
  #fail (error: unknown): void {
    if (this.#ended.signal.aborted) return
    this.#readLater(ALL_KINDS.map(kind => [kind, describeUnread(error, this.upstream, this.#limits.callTimeout)]))
    this.#wake()
    this.#onRead(false)
  }

  #wake (): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** The list, or in words why it could not be read. */
  async #readOne (connection: Connection, kind: Kind): Promise<ReadList | string> {
    if (!isListed(kind, connection, this.upstream.entry)) return EMPTY_LIST
    try {
      return await readList(connection, kind, this.#limits, this.#ended.signal, this.snapshot.lists[kind])
    } catch (error) {
      // Servers that have resources need not have templates.
      return isMcpError(error) && error.code === codes.methodNotFound
        ? EMPTY_LIST
        : describeUnread(error, this.upstream, this.#limits.callTimeout)
    }
  }

  /** Lists that were read as a whole are known, also when their server was stopped meanwhile, for being idle. */
  #settle (connection: Connection): void {
    this.#isKnown = true
    if (connection === this.#connection) this.#stale = connection.closed
    this.#failures = 0
    this.#lastError = undefined
  }

  #readLater (failed: ReadonlyArray<readonly [Kind, string]>): void {
    for (const [kind, why] of failed) {
      this.#unread.add(kind)
      this.#lastError = `the ${KINDS[kind].noun} list could not be read: ${why}`
      this.#warnings.set(kind, [this.#lastError])
    }
    const wait = growingDelay(RETRY.first, RETRY.longest, this.#failures++)
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#refresher.request(), wait).unref()
  }

  /** One reading after the other: each is compared with what is known, and prepared over several turns. */
  async #inTurn<T> (work: () => Promise<T>): Promise<T> {
    const done = this.#taken.then(work)
    this.#taken = done.catch(() => {})
    return await done
  }

  async #take (connection: Connection, read: ReadonlyArray<readonly [Kind, ReadList]>): Promise<boolean> {
    for (const [kind, { warnings }] of read) this.#warnings.set(kind, warnings)
    const { instructions, warnings } = instructionsFor(this.upstream.entry, connection, this.#limits)
    this.#warnings.set('instructions', warnings)
    const next = withRead(this.snapshot, connection, read, instructions, this.hops.behind)
    const isNew = !isDeepStrictEqual(next, this.snapshot)
    if (isNew) (await this.offered.prepare(next))()
    return isNew
  }
}
