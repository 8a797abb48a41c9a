import { EventEmitter, once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type { Channel } from '../protocol/wire/channel.js'
import type { Dispatcher } from '../protocol/dispatch/dispatcher.js'
import { codes, errors, fromWire, isMcpError, type McpError } from '../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../protocol/wire/identity.js'
import { isId, type Id } from '../protocol/wire/jsonrpc.js'
import { onAbort } from '../lib/on-abort.js'
import { Peer } from '../protocol/peer/peer.js'

type Json = Record<string, unknown>
type Answer = (params: Json) => object | Promise<object>

export interface ClientOptions {
  /** The version to ask for; the newest one with a handshake when absent. */
  protocolVersion?: string
  capabilities?: Json
  /** The caller for whom the client acts: rights, notes, rates and audit lines are that caller's. Without one the client has every right and no rate. */
  identity?: Identity
  /** Answers to what the server asks, by method: `{ 'elicitation/create': () => ({ action: 'accept', content: {} }) }`. */
  answers?: Record<string, Answer>
}

/** A client in the same process: no port, no socket, the same dispatcher. For tests and for calling tools from other routes. */
export interface Client {
  /** The result of the handshake. */
  readonly server: Json
  /** Notifications received so far. */
  readonly notifications: Array<{ method: string, params: Json }>
  /** Rejects with an `McpError` when the server answers with an error. */
  request: (method: string, params?: Json, signal?: AbortSignal) => Promise<Json>
  notify: (method: string, params?: Json) => void
  /** The next notification of that method, including one that came before. */
  notified: (method: string) => Promise<Json>
  /** Releases what the gateway holds for the client. A client that is not used any more is released when its memory is collected. */
  close: () => void
}

/** Connects a client to an app that has Patchbay registered, and shakes hands. */
export async function createClient (app: FastifyInstance, options: ClientOptions = {}): Promise<Client> {
  const { protocolVersion, capabilities = {}, answers = {} } = options
  const identity = identityOf(options)
  // With a callback, because avvio's promise form throws where a part of an application asks after the start.
  await new Promise<void>((resolve, reject) => app.ready(error => { if (error) reject(error); else resolve() }))
  const connection = new MemoryConnection(app, identity, answers)
  const server = await connection.request('initialize', {
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    capabilities,
    clientInfo: { name: 'in-process', version: '1.0.0' }
  })
  connection.notify('notifications/initialized')
  return {
    server,
    notifications: connection.notifications,
    request: async (method, params, signal) => await connection.request(method, params, signal),
    notify: (method, params) => connection.notify(method, params),
    notified: async method => await connection.notified(method),
    close: () => connection.close()
  }
}

// An unauthenticated request has no identity; passing that on must not be taken for leaving the option out.
function identityOf (options: ClientOptions): Identity {
  if (!('identity' in options)) return ANONYMOUS_ALL_SCOPES
  if (options.identity == null) throw new Error('createClient was given an identity that is not set: answer the request with 401, or leave the option identity out to act with every right')
  return options.identity
}

/** What the gateway holds of a client. It keeps the client in memory only while the client waits for something. */
class WeakChannel implements Channel {
  readonly streams = true
  readonly #client: WeakRef<MemoryConnection>
  /** The client, while it waits. */
  waiting: MemoryConnection | undefined

  constructor (client: MemoryConnection) {
    this.#client = new WeakRef(client)
  }

  respond (text: string): void {
    this.#client.deref()?.take(text)
  }

  emit (text: string): void {
    this.#client.deref()?.take(text)
  }

  end (): void {}
}

/** Ends the connections of clients that were collected without having been closed. */
const collected = new FinalizationRegistry<{ mcp: Dispatcher, peer: Peer }>(({ mcp, peer }) => mcp.disconnect(peer, new Error('the client is not used any more')))

/** A reference to the notifications of a client keeps the client in memory, too. */
const owners = new WeakMap<MemoryConnection['notifications'], MemoryConnection>()

class MemoryConnection {
  readonly notifications: Array<{ method: string, params: Json }> = []
  readonly #app: FastifyInstance
  readonly #answers: Record<string, Answer>
  readonly #peer: Peer
  readonly #channel = new WeakChannel(this)
  readonly #waiting = new Map<Id, { resolve: (result: Json) => void, reject: (error: Error) => void }>()
  readonly #arrivals = new EventEmitter().setMaxListeners(0)
  #lastId = 0
  #waits = 0

  constructor (app: FastifyInstance, identity: Identity, answers: Record<string, Answer>) {
    this.#app = app
    this.#answers = answers
    this.#peer = new Peer({ transport: 'memory', channel: this.#channel, identity })
    app.mcp.dispatcher.connect(this.#peer)
    owners.set(this.notifications, this)
    collected.register(this, { mcp: app.mcp.dispatcher, peer: this.#peer }, this)
  }

  async request (method: string, params: Json = {}, signal?: AbortSignal): Promise<Json> {
    signal?.throwIfAborted()
    if (this.#peer.closed) throw new Error('the client was closed')
    return await this.#waitFor(this.#ask(method, params, signal))
  }

  async #ask (method: string, params: Json, signal: AbortSignal | undefined): Promise<Json> {
    const id = ++this.#lastId
    return await new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiting.delete(id)
        this.notify('notifications/cancelled', { requestId: id })
        reject(new Error('the request was cancelled', { cause: signal?.reason }))
      }
      const settled = signal === undefined ? () => {} : onAbort(signal, cancel)
      this.#waiting.set(id, {
        resolve: result => { settled(); resolve(result) },
        reject: error => { settled(); reject(error) }
      })
      this.#send({ id, method, params })
    })
  }

  notify (method: string, params: Json = {}): void {
    this.#send({ method, params })
  }

  async notified (method: string): Promise<Json> {
    for (;;) {
      const found = this.notifications.findIndex(notification => notification.method === method)
      if (found !== -1) return this.notifications.splice(found, 1)[0]?.params as Json
      if (this.#peer.closed) throw new Error('the client was closed')
      await this.#waitFor(once(this.#arrivals, 'notification'))
    }
  }

  close (): void {
    const reason = new Error('the client was closed')
    collected.unregister(this)
    this.#app.mcp.dispatcher.disconnect(this.#peer, reason)
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#arrivals.emit('notification')
  }

  async #waitFor<T> (event: Promise<T>): Promise<T> {
    this.#waits++
    this.#channel.waiting = this
    try {
      return await event
    } finally {
      if (--this.#waits === 0) this.#channel.waiting = undefined
    }
  }

  // Through text, like any other client: what is not JSON would not arrive elsewhere either.
  #send (message: Json): void {
    this.#app.mcp.dispatcher.receive(this.#app.mcp.dispatcher.decode(JSON.stringify({ jsonrpc: '2.0', ...message })), this.#peer, this.#channel)
  }

  take (text: string): void {
    const message = JSON.parse(text) as Json
    const { id, method, params = {}, result, error } = message
    if (typeof method === 'string' && isId(id)) void this.#answer(id, method, params as Json)
    else if (typeof method === 'string') this.#hear(method, params as Json)
    else if (isId(id)) this.#settle(id, result as Json | undefined, error as McpError | undefined)
  }

  #hear (method: string, params: Json): void {
    this.notifications.push({ method, params })
    this.#arrivals.emit('notification')
  }

  #settle (id: Id, result: Json | undefined, error: McpError | undefined): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result ?? {})
    else waiting?.reject(fromWire(error))
  }

  async #answer (id: Id, method: string, params: Json): Promise<void> {
    const answer = this.#answers[method]
    try {
      if (answer === undefined) throw errors.methodNotFound(method)
      this.#send({ id, result: await answer(params) })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#send({ id, error: { code: isMcpError(error) ? error.code : codes.internal, message } })
    }
  }
}
