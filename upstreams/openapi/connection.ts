import { Listeners } from '../../lib/listeners.js'
import { withTimeout } from '../../lib/time.js'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { MessageLimits } from '../../protocol/wire/limits.js'
import { observed, type RequestObserver } from '../connection/observed-request.js'
import type { ConnectionLog, OpenConnection, UpstreamRequest, UpstreamServer } from '../ports.js'
import type { Redact } from '../secrets.js'
import type { ApiEntry } from '../server-entry.js'
import type { ClientCredential } from '../sign-in/client-credential.js'
import { readApi, type Api, type ApiLimits } from './api.js'
import { ApiExchange, type ApiReply } from './exchange.js'
import { loadDocument, parseLoaded, type LoadOptions } from './load.js'
import type { Operation } from './operations/operation.js'
import { contradiction } from './reply/check-answer.js'
import { toResult } from './reply/result.js'
import { toRequest, WrongArguments } from './request/request.js'
import { openSite, type Site } from './site.js'

export interface ApiOptions extends LoadOptions, ApiLimits {
  readonly entry: ApiEntry
  /** The token of its requests, where the entry has credentials for one. */
  readonly credential: ClientCredential | undefined
  /** The longest reply, in bytes. */
  readonly maxReply: number
  readonly limits: MessageLimits
  /** How long reading the document again may take, in milliseconds. */
  readonly startTimeout: number
  readonly redact: Redact
  readonly log: ConnectionLog
  readonly observer?: RequestObserver | undefined
}

/** The parts of an upstream that the connection to an API uses. */
export type ApiParts = Pick<ApiOptions, 'credential' | 'lookups' | 'redact' | 'log'>

/** An API and the site that answers for it. */
interface Served { readonly api: Api, readonly site: Site, readonly hash: string }

const LIST_CHANGED = 'notifications/tools/list_changed'

/** Reads the document of an API. Nothing is sent to the API itself. Rejects in words. */
export async function connectToApi (options: ApiOptions, signal: AbortSignal): Promise<OpenConnection> {
  return new ApiConnection(options, await serve(options, signal))
}

async function serve (options: ApiOptions, signal: AbortSignal, known?: string): Promise<Served> {
  const { entry: { address } } = options
  const loaded = await loadDocument(address, options, signal)
  if (loaded.hash === known) throw new Unchanged()
  const api = await readApi(await parseLoaded(loaded), address, options)
  return { api, hash: loaded.hash, site: await openSite(api.url, address, options) }
}

/** The document is as it was. */
class Unchanged extends Error {}

/** An API behind the gateway: lists of tools are answered from its document, and calls become HTTP requests. */
class ApiConnection implements OpenConnection {
  readonly revision = undefined
  readonly transport = 'openapi'
  readonly #options: ApiOptions
  readonly #listeners = new Listeners<[method: string, params: Params]>()
  readonly #closeListeners = new Listeners<[why: Error]>()
  readonly #calls = new Set<ApiExchange>()
  readonly #ended = new AbortController()
  #served: Served
  #reading: Promise<void> = Promise.resolve()
  #onIdle: (() => void) | undefined
  #inFlight = 0

  constructor (options: ApiOptions, served: Served) {
    this.#options = options
    this.#served = served
  }

  get server (): UpstreamServer {
    const { instructions, warnings } = this.#served.api
    return { capabilities: { tools: { listChanged: true } }, instructions, warnings }
  }

  get closed (): boolean {
    return this.#ended.signal.aborted
  }

  get callsInFlight (): number {
    return this.#inFlight
  }

  get isBusy (): boolean {
    return this.#inFlight > 0
  }

  request (request: UpstreamRequest): Promise<Params> {
    return observed(this.#answer(request), this.#options.entry, request.method, this.#options.observer)
  }

  onNotification (listener: (method: string, params: Params) => void): () => void {
    return this.#listeners.add(listener)
  }

  onClose (listener: (why: Error) => void): () => void {
    return this.#closeListeners.add(listener)
  }

  /** Reads the document again. One that cannot be used changes nothing, and is logged. */
  async reread (): Promise<void> {
    this.#reading = this.#reading.then(async () => await this.#reread())
    await this.#reading
  }

  async drain (ms: number): Promise<void> {
    if (this.#inFlight > 0) await withTimeout(new Promise<void>(resolve => { this.#onIdle = resolve }), ms, () => {})
  }

  async close (why = new Error('the connection was closed')): Promise<void> {
    if (this.closed) return
    this.#ended.abort(why)
    const gone = errors.upstreamGone(this.#options.entry.alias, why.message)
    for (const exchange of this.#calls) exchange.abort(gone)
    this.#closeListeners.notify(why)
    await this.#served.site.client.close()
  }

  async #answer ({ method, params, cancellation, signal, call }: UpstreamRequest): Promise<Params> {
    if (method === 'tools/list') return { tools: this.#served.api.tools }
    const { api, site } = this.#served
    const operation = method === 'tools/call' ? api.operations.get(String(params['name'])) : undefined
    if (operation === undefined) {
      throw method === 'tools/call' ? errors.unknownTool(String(params['name'])) : errors.methodNotFound(method)
    }
    try {
      const request = toRequest(operation, isObject(params['arguments']) ? params['arguments'] : {}, site)
      const send = (exchange: ApiExchange): Promise<ApiReply> => this.#send(exchange, { cancellation, signal })
      const reply = await site.send(request, call?.caller, send)
      const result = toResult(reply, operation.method, site, this.#options)
      this.#warnOf(contradiction(operation, result), operation)
      return result
    } catch (error) {
      if (error instanceof WrongArguments) {
        return { content: [{ type: 'text', text: `Wrong arguments: ${error.message}` }], isError: true }
      }
      throw isMcpError(error) ? error : this.#failed(error as Error)
    }
  }

  #warnOf (wrong: string | undefined, { method, ownPath }: Operation): void {
    if (wrong === undefined) return
    const { entry: { alias }, log } = this.#options
    log.warn({ upstream: alias }, `upstream ${alias}: an answer to ${method} ${ownPath} does not fit the schema that its document has for it (${wrong}); it was passed on, and clients may refuse it`)
  }

  #failed (error: Error): Error {
    const { entry: { alias }, redact } = this.#options
    return errors.upstreamFailed(alias, redact(error.message))
  }

  /** Waits for one reply; a call that is cancelled ends its request. */
  async #send (
    exchange: ApiExchange,
    { cancellation, signal }: Pick<UpstreamRequest, 'cancellation' | 'signal'>
  ): Promise<ApiReply> {
    if (this.closed) exchange.abort(errors.upstreamUnavailable(this.#options.entry.alias, 'its connection has ended'))
    const stop = (why: Error): void => exchange.abort(why)
    if (cancellation?.reason !== undefined) stop(cancellation.reason)
    const off = cancellation?.on(stop)
    const aborted = (): void => stop(signal?.reason as Error)
    signal?.addEventListener('abort', aborted, { once: true })
    this.#calls.add(exchange)
    this.#inFlight++
    try {
      return await exchange.reply
    } finally {
      off?.()
      signal?.removeEventListener('abort', aborted)
      this.#calls.delete(exchange)
      if (--this.#inFlight === 0) this.#onIdle?.()
    }
  }

  async #reread (): Promise<void> {
    const { entry: { alias }, log, startTimeout } = this.#options
    const former = this.#served
    try {
      const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(startTimeout)])
      const next = await serve(this.#options, signal, former.hash)
      if (this.closed) return await next.site.client.close()
      this.#served = next
      this.#listeners.notify(LIST_CHANGED, {})
      await this.drain(startTimeout)
      await former.site.client.close()
    } catch (error) {
      if (error instanceof Unchanged || this.closed) return
      log.warn({ upstream: alias }, `upstream ${alias}: ${(error as Error).message}; it is served as it was`)
    }
  }
}
