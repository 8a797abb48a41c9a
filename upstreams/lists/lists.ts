import type { Call } from '../../protocol/dispatch/call.js'
import type { Values } from '../../protocol/store.js'
import type { PinPort } from '../pins/port.js'
import type { Repair, Upstream, UpstreamStatus } from '../ports.js'
import { createHops, HopsOfUpstream } from '../hops.js'
import { identityOf } from '../server-entry.js'
import { FirstReads, prepare, readNamed } from './first-reads.js'
import type { ListGateway } from './gateway.js'
import type { ListLimits } from './limits.js'
import { ListWarnings, type ListLog } from './list-warnings.js'
import { Links } from './result-links.js'
import { findLeftOut, findUnlisted, findUnlistedSkill, hopsFor, isNamedBy, ownerOfPage } from './named-upstream.js'
import { isUnsigned, shownOf } from './of-callers.js'
import { createMergedLists, OfferedLists, type MergedLists, type Review } from './offers/offered-lists.js'
import { ReservedNames } from './offers/reserved-names.js'
import { UpstreamOrigin } from './origin.js'
import { unlistedResource } from './offers/resource-definitions.js'
import type { Snapshot } from './snapshot.js'
import { StoredLists } from './stored-lists.js'
import { renewSummaries } from './summaries.js'
import { UpstreamLists } from './upstream-lists.js'

interface Served { readonly origin: UpstreamOrigin, readonly lists: UpstreamLists }

/** The lists of all upstreams, merged into those of the gateway, and each in the view of its upstream. */
export class Lists {
  readonly #gateway: ListGateway
  readonly #limits: ListLimits
  readonly #log: ListLog
  readonly #hopOf: (alias: string) => string
  readonly #stored: StoredLists
  readonly #links: Links
  readonly #reserved = new ReservedNames()
  readonly #merged: MergedLists
  readonly #warnings: ListWarnings
  readonly #saved = new WeakSet<UpstreamLists>()
  readonly #firstReads: FirstReads
  readonly #pins: Pick<PinPort, 'review' | 'onChange'> | undefined
  #all = new Map<string, Served>()

  constructor (
    gateway: ListGateway,
    values: Values,
    limits: ListLimits,
    log: ListLog,
    hopOf = createHops(),
    pins?: Pick<PinPort, 'review' | 'onChange'>
  ) {
    this.#gateway = gateway
    this.#limits = limits
    this.#log = log
    this.#hopOf = hopOf
    this.#pins = pins
    pins?.onChange(() => this.#renew('renewPins'))
    this.#stored = new StoredLists(values, limits.maxUpstreamList)
    this.#links = new Links(limits.maxUpstreamLinks, alias => this.#all.get(alias)?.origin.rank)
    // A list that waits must be answered before its own call is given up.
    this.#firstReads = new FirstReads(Math.min(limits.upstreamListWait, limits.callTimeout / 2), gateway.views.mayShow)
    this.#merged = createMergedLists(gateway, this.#reserved)
    this.#warnings = new ListWarnings(log, () => gateway.scopes.names())
    gateway.hops.findWith(call => hopsFor(call, this.#all.values(), gateway.views.mayShow))
    gateway.tools.explainMissingWith((name, call) => findLeftOut(name, call, this.#all.values(), gateway.views.mayShow))
    gateway.resources.findUnlistedWith((uri, call, template) =>
      findUnlisted(uri, call, template, this.#all, this.#links))
    gateway.skills.findUnlistedWith((uri, call) => findUnlistedSkill(uri, call, this.#all, gateway.views.mayShow))
  }

  /**
   * Serves the lists of these upstreams, and no others; the first wins where two have the same. Shows what is stored of
   * them before it settles.
   */
  async configure (upstreams: readonly Upstream[]): Promise<void> {
    const enabled = upstreams.filter(({ entry }) => !entry.disabled)
    const known = new Map(
      await Promise.all(enabled.map(async upstream => [upstream, await this.#snapshotOf(upstream)] as const))
    )
    const former = this.#all
    const next = new Map(enabled.map((upstream, rank) => {
      const { alias } = upstream.entry
      return [alias, this.#serve(upstream, rank, former.get(alias))]
    }))
    const isNew = ({ upstream }: UpstreamLists): boolean =>
      former.get(upstream.entry.alias)?.lists.upstream !== upstream
    const shows = await Promise.all(
      [...next.values()].map(async ({ lists }) =>
        isNew(lists) ? await prepare(lists, known.get(lists.upstream)) : undefined
      )
    )
    // From here to the end of `show` in one turn: clients see no gap between the lists of an upstream and those of its
    // successor.
    this.#reserved.assign(upstreams.map(({ entry }) => entry))
    for (const { lists } of former.values()) if (!known.has(lists.upstream)) this.#end(lists)
    this.#all = next
    for (const show of shows) show?.()
    for (const { lists } of next.values()) if (isNew(lists) && !lists.isKnown) this.#firstReads.add(lists)
    this.#noteCompleteness()
    for (const merged of Object.values(this.#merged)) merged.rerank()
    for (const alias of former.keys()) if (!this.#all.has(alias)) this.#gateway.views.close(alias)
    this.#summarise()
    await Promise.all([...next.values()].map(async ({ lists }) => await lists.renewTools()))
    this.#gateway.views.noteListsRead()
    await this.#forget([...former.keys()].filter(alias => !next.has(alias)))
  }

  /**
   * Settles when the upstreams that a request is about, and of which no lists are known yet, have been read; undefined
   * when there is none. A call waits for the upstream that it names, and rejects with an error that names it; a list
   * waits for all, for a limited time.
   */
  awaitedBy (call: Call): Promise<unknown> | undefined {
    if (this.#firstReads.isEmpty) return undefined
    const { views } = this.#gateway
    // Of the requests that wait, only lists have a target.
    if (call.target !== undefined) return this.#firstReads.awaitedBy(call)
    for (const { lists } of this.#all.values()) {
      if (!lists.isKnown && isNamedBy(call, lists.upstream.entry, views.mayShow)) return readNamed(lists, call)
    }
    // A short or new name may be that of any upstream in the view.
    return views.get(call.peer.view ?? '')?.selection?.hasOwnNames === true ? this.#firstReads.all(call) : undefined
  }

  /** Settles when a call has waited for all upstreams of its view, as lists do; undefined when it need not wait. */
  firstLists (call: Call): Promise<unknown> | undefined {
    return this.#firstReads.isEmpty ? undefined : this.#firstReads.all(call)
  }

  statusOf (alias: string): Pick<UpstreamStatus, 'tools' | 'repaired' | 'stale' | 'warnings'> {
    return this.#all.get(alias)?.lists.status ?? { tools: 0, repaired: 0, stale: false, warnings: [] }
  }

  /** True when the lists of an upstream were read, or stored ones are shown. */
  isKnown (alias: string): boolean {
    return this.#all.get(alias)?.lists.isKnown === true
  }

  /** The lists of an upstream as they were read; undefined while nothing is known of them. */
  snapshotOf (alias: string): Snapshot | undefined {
    const { lists } = this.#all.get(alias) ?? {}
    return lists?.isKnown === true ? lists.snapshot : undefined
  }

  repairsOf (alias: string): Repair[] {
    return this.#all.get(alias)?.lists.offered.repairs() ?? []
  }

  /** Shows nothing of an upstream any more that is part of a ring. */
  async withdraw (upstream: Upstream): Promise<void> {
    const { lists } = this.#all.get(upstream.entry.alias) ?? {}
    if (lists?.upstream === upstream) await lists.withdraw()
  }

  /** Settles when the lists of an upstream are known. */
  async readFirst (alias: string, signal: AbortSignal): Promise<void> {
    await this.#all.get(alias)?.lists.firstRead(signal)
  }

  /** Why a list of this upstream could not be read, when it was last tried. */
  lastErrorOf (alias: string): string | undefined {
    return this.#all.get(alias)?.lists.lastError
  }

  close (): void {
    for (const { lists } of this.#all.values()) this.#end(lists)
    this.#all.clear()
  }

  /** Finds what was read of the server before: by the upstream that it replaces, or at an earlier start. */
  async #snapshotOf ({ entry }: Upstream): Promise<Snapshot | undefined> {
    const former = this.#all.get(entry.alias)?.lists
    const isSame = former?.isKnown === true && identityOf(former.upstream.entry) === identityOf(entry)
    return shownOf(entry, isSame ? former.snapshot : await this.#stored.load(entry))
  }

  #serve (upstream: Upstream, rank: number, former: Served | undefined): Served {
    if (former?.lists.upstream !== upstream) return this.#create(upstream, rank)
    former.origin.rank = rank
    return former
  }

  #create (upstream: Upstream, rank: number): Served {
    const [{ alias }, { callTimeout }] = [upstream.entry, this.#limits]
    const view = this.#gateway.views.open(alias)
    const origin: UpstreamOrigin =
      new UpstreamOrigin(upstream, rank, this.#links, this.#reserved, callTimeout, () => lists, uri =>
        ownerOfPage(uri, this.#gateway.resources, this.#all.values()))
    const review: Review = read => isUnsigned(read) ? undefined : this.#pins?.review(upstream.entry, read)
    const offered = new OfferedLists(origin, () => upstream.entry, this.#merged, view, review)
    const lists: UpstreamLists = new UpstreamLists(
      upstream,
      this.#limits,
      offered,
      origin.subscriptions,
      new HopsOfUpstream(this.#hopOf(alias)),
      isNew => this.#read(lists, isNew)
    )
    // Whatever the clients of the view ask for is the upstream's.
    view.resources.findUnlistedWith((uri, { principal }, template) => {
      if (template !== undefined || offered.isHeldBack(uri)) return undefined
      const isKnown = this.#links.find(principal, uri) === alias || offered.pages.has(uri)
      return lists.snapshot.reads ? { ...unlistedResource(origin, uri), guessed: !isKnown } : undefined
    })
    return { origin, lists }
  }

  #renew (what: 'renewPins' | 'renewTools'): void {
    for (const { lists } of this.#all.values()) {
      lists[what]().catch((err: unknown) => this.#log.warn({ err }, 'what a server offers could not be offered anew'))
    }
  }

  #end (lists: UpstreamLists): void {
    lists.close()
    this.#firstReads.remove(lists)
  }

  #noteCompleteness (): void {
    this.#gateway.completeness.checkWith(this.#firstReads.isEmpty ? undefined : call => this.#firstReads.concern(call))
    if ([...this.#all.values()].some(({ lists }) => lists.snapshot.skills === true)) this.#gateway.skills.serve()
  }

  #read (lists: UpstreamLists, isNew: boolean): void {
    this.#firstReads.end(lists)
    this.#noteCompleteness()
    this.#warnings.add(lists, isNew)
    if (isNew) {
      this.#summarise()
      this.#renew('renewTools')
    }
    this.#gateway.views.noteListsRead()
    // Lists that did not change are stored once by each process, so that they do not expire.
    if (isUnsigned(lists.snapshot) || (!isNew && this.#saved.has(lists))) return
    this.#saved.add(lists)
    const { entry, entry: { alias } } = lists.upstream
    this.#stored.save(entry, lists.snapshot).catch((err: unknown) => {
      this.#log.warn({ upstream: alias, err }, `the lists of upstream ${alias} could not be stored`)
    })
  }

  #summarise (): void {
    renewSummaries(this.#gateway, [...this.#all.values()].map(({ lists }) => lists))
  }

  async #forget (removed: readonly string[]): Promise<void> {
    try {
      for (const alias of removed) await this.#stored.remove(alias)
    } catch (err) {
      this.#log.warn({ err }, 'the lists of upstreams that were removed are still stored')
    }
  }
}
