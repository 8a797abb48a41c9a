import { Listeners } from '../../lib/listeners.js'
import { withTimeout } from '../../lib/time.js'
import { encodeSelf } from '../../protocol/revisions/client-side.js'
import type { Implementation, Revision } from '../../protocol/revisions/revision.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { SignInRequired, type AccessRefused, type Credential } from '../../transports/client/credential.js'
import type { Dial } from '../../transports/client/link.js'
import type { Connection, ConnectionLog, OpenMcpConnection, UpstreamRequest, UpstreamServer } from '../ports.js'
import type { ServerEntry } from '../server-entry.js'
import { capabilitiesOf, checkResultType } from './agreement.js'
import type { EraMemory } from './era-memory.js'
import { LostSessions, openWith, refusalIn, SessionLost, toClientError } from './failure.js'
import { IncomingMessages } from './incoming-messages.js'
import { LogLevelOfUpstream } from './log-level-of-upstream.js'
import { negotiate, type Negotiated } from './negotiate.js'
import { observed, type RequestObserver } from './observed-request.js'
import { encodeParams } from './outgoing-meta.js'
import type { PeerEvents, UpstreamPeer } from './upstream-peer.js'

export interface ConnectionOptions {
  readonly entry: ServerEntry
  readonly dial: Dial
  /** The token of its requests, where that is not configured. */
  readonly credential?: Credential | undefined
  readonly clientInfo: Implementation
  /** The id of our hop to this upstream. */
  readonly hop?: string | undefined
  readonly eras: EraMemory
  readonly probeWait: number
  readonly maxQuestions: number
  readonly log: ConnectionLog
  /** Is told of each request when it is answered or has failed. */
  readonly observer?: RequestObserver | undefined
  /** Runs when the upstream had forgotten its session and has a new one: what was subscribed to is not any more. */
  readonly onReopen: (connection: Connection) => void
}

const NOT_REOPENED =
  'its session was lost and could not be opened again, and the call was not carried out; the reason is in the log and in /health'

/** Opens a connection to an upstream and agrees on a revision with it. Rejects with a sentence for people. */
export async function connect (options: ConnectionOptions, signal: AbortSignal): Promise<OpenMcpConnection> {
  const connection = new LiveConnection(options)
  await connection.open(signal)
  return connection
}

class LiveConnection implements OpenMcpConnection {
  readonly #options: ConnectionOptions
  readonly #incoming: IncomingMessages
  readonly #closeListeners = new Listeners<[why: Error]>()
  readonly #logLevel = new LogLevelOfUpstream()
  /** The members of `_meta` that say who we are, where there is no handshake. */
  readonly #self: string
  readonly #abandoned = new AbortController()
  readonly #lostSessions = new LostSessions()
  #now: Negotiated | undefined
  #reopening: Promise<void> | undefined
  #closed = false

  constructor (options: ConnectionOptions) {
    this.#options = options
    this.#self = encodeSelf(options.clientInfo)
    this.#incoming = new IncomingMessages(options.entry, options.maxQuestions, options.log)
  }

  get revision (): Revision {
    return this.#current.revision
  }

  get transport (): OpenMcpConnection['transport'] {
    return this.#current.peer.transport
  }

  get server (): UpstreamServer {
    return this.#current.server
  }

  get closed (): boolean {
    return this.#closed
  }

  async open (signal: AbortSignal): Promise<void> {
    const { dial, entry, clientInfo, eras, probeWait, hop, credential } = this.#options
    const self = { alias: entry.alias, hop, clientInfo, capabilities: capabilitiesOf(entry) }
    const version = entry.revision
    this.#now = await openWith(credential, async () =>
      await negotiate(dial, { self, eras, probeWait, version }, this.#events, signal))
    if (this.#now.peer.closed) throw new Error('the server closed the connection after the handshake')
  }

  request (request: UpstreamRequest): Promise<Params> {
    return observed(this.#request(request), this.#options.entry, request.method, this.#options.observer)
  }

  #request (request: UpstreamRequest): Promise<Params> {
    return this.#reopening === undefined
      ? this.#try(request)
      : this.#reopened(this.#reopening).then(() => this.#try(request))
  }

  #try (request: UpstreamRequest): Promise<Params> {
    const used = this.#current.peer
    return this.#send(request).then(
      answer => this.#check(request, answer),
      (error: unknown) => this.#tryAgain(request, error, used)
    )
  }

  async #tryAgain (request: UpstreamRequest, error: unknown, used: UpstreamPeer): Promise<Params> {
    try {
      const again = await this.#remedy(error, request, used)
      if (again === undefined) throw error
      return this.#check(again, await this.#send(again))
    } catch (failure) {
      throw toClientError(failure, this.#options.entry.alias, this.revision)
    }
  }

  onNotification (listener: (method: string, params: Params) => void): () => void {
    return this.#incoming.listeners.add(listener)
  }

  onClose (listener: (why: Error) => void): () => void {
    return this.#closeListeners.add(listener)
  }

  async close (why = new Error('the connection was closed')): Promise<void> {
    const peer = this.#now?.peer
    this.#end(why)
    await peer?.close()
  }

  get callsInFlight (): number {
    return this.#now?.peer.calls.size ?? 0
  }

  get isBusy (): boolean {
    return this.#now?.peer.isBusy ?? false
  }

  async drain (ms: number): Promise<void> {
    if (this.#now !== undefined && !this.#closed) await withTimeout(this.#now.peer.idle(), ms, () => {})
  }

  get #current (): Negotiated {
    if (this.#now === undefined) throw new Error('the connection is not open yet')
    return this.#now
  }

  #send (request: UpstreamRequest): Promise<unknown> {
    const { logLevel } = request
    const current = this.#current
    const { revision, server } = current
    const hasLevel = !revision.stateless && server.capabilities['logging'] !== undefined
    if (logLevel === undefined || !hasLevel || this.#logLevel.includes(logLevel)) return this.#sendOn(current, request)
    return this.#logLevel.lower(logLevel, current.peer).then(() => this.#sendOn(current, request))
  }

  #sendOn ({ peer, revision }: Negotiated, request: UpstreamRequest): Promise<unknown> {
    const id = peer.nextId()
    const json = encodeParams(request, revision, this.#self, request.wantsProgress === true ? id : undefined)
    return peer.send(id, request, json, revision)
  }

  #check (request: UpstreamRequest, answer: unknown): Params {
    const { peer, revision } = this.#current
    const result = peer.asResult(request.method, answer)
    if (revision.stateless) checkResultType(result['resultType'], request, revision, this.#options.entry.alias)
    return result
  }

  /** The request to send once more, for failures that say that the upstream did not run it; undefined for others. */
  async #remedy (error: unknown, request: UpstreamRequest, used: UpstreamPeer): Promise<UpstreamRequest | undefined> {
    if (this.#closed || request.signal?.aborted === true || request.cancellation?.reason !== undefined) return undefined
    if (error instanceof SessionLost) return await this.#reopen(used).then(() => request)
    const refusal = refusalIn(error)
    if (refusal !== undefined) return await this.#renewCredential(refusal).then(() => request)
    if (!isMcpError(error) || !this.revision.stateless) return undefined
    if (error.code === codes.headerMismatch && request.renewHeaders !== undefined) {
      return { ...request, headers: await request.renewHeaders() }
    }
    if (error.code !== codes.unsupportedVersion) return undefined
    this.#options.eras.forget()
    return await this.#reopen(used).then(() => request)
  }

  /** Rejects where there is no other token; without one that the server takes, the connection is of no more use. */
  async #renewCredential (refusal: AccessRefused): Promise<void> {
    const { credential, entry: { alias } } = this.#options
    await credential?.renew(refusal).catch((error: unknown) => {
      if (!(error instanceof SignInRequired)) throw errors.upstreamUnavailable(alias, (error as Error).message)
      if (refusal.status === 401) this.#end(error)
      throw error
    })
  }

  /** One new handshake for all requests that the former peer refused. */
  async #reopen (former: UpstreamPeer): Promise<void> {
    if (this.#reopening === undefined && this.#current.peer !== former) return
    this.#reopening ??= this.#renew().finally(() => { this.#reopening = undefined })
    await this.#reopened(this.#reopening)
  }

  /** Rejects with an error for callers: the reason of a handshake that failed is not about their call. */
  async #reopened (reopening: Promise<void>): Promise<void> {
    await reopening.catch(() => {
      throw errors.upstreamUnavailable(this.#options.entry.alias, NOT_REOPENED)
    })
  }

  async #renew (): Promise<void> {
    const former = this.#current.peer
    try {
      this.#lostSessions.add()
      await this.open(this.#abandoned.signal)
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
      void former.close()
      throw error
    }
    former.drain()
    this.#logLevel.reset()
    this.#incoming.listeners.clear()
    this.#options.onReopen(this)
  }

  readonly #events: PeerEvents = {
    request: async (request, on, peer) => await this.#incoming.answer(request, on, peer),
    notification: (method, params, on, peer) => {
      this.#incoming.notified(method, params, on, peer, this.#now?.revision.stateless === true)
    },
    odd: what => this.#incoming.violations.add(what),
    expired: peer => { if (peer === this.#now?.peer && !this.#closed) this.#reopen(peer).catch(() => {}) },
    closed: (why, peer) => { if (peer === this.#now?.peer) this.#end(why) }
  }

  #end (why: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#abandoned.abort(why)
    this.#incoming.cancelQuestions(why)
    this.#closeListeners.notify(why)
  }
}
