import type { FastifyInstance } from 'fastify'
import { Peer } from '../../../protocol/peer/peer.js'
import { decode } from '../../../protocol/wire/jsonrpc.js'
import { modern, revision, type Json } from '../../support/recorder.js'
import { Inbox } from '../../support/wait.js'

export interface Reply { result: Json, error: { code: number, message: string, data: Json } }
export interface Received { id: number, method: string, params: Json }

export interface ClientOptions {
  capabilities?: Json
  principal?: string
  /** False for a client that gets a response and nothing else, as over `POST /message`. */
  streams?: boolean
}

export const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** A client of any revision that answers questions only when the test says so. */
export class RelayClient {
  readonly requests = new Inbox<Received>()
  readonly notifications = new Inbox<Received>()
  readonly #app: FastifyInstance
  readonly #capabilities: Json
  readonly #stateless: boolean
  readonly #peer: Peer
  readonly #waiting = new Map<unknown, (reply: Reply) => void>()
  #lastId = 0

  constructor (
    app: FastifyInstance,
    version: string,
    { capabilities = EVERYTHING, principal, streams = true }: ClientOptions = {}
  ) {
    const spoken = revision(version)
    this.#app = app
    this.#capabilities = capabilities
    this.#stateless = spoken.stateless
    const receive = (text: string): void => this.#onMessage(JSON.parse(text) as Json)
    this.#peer = new Peer({
      channel: { streams, respond: receive, emit: receive, end: () => {} },
      ...(spoken.stateless ? {} : { revision: spoken }),
      ...(principal === undefined ? {} : { identity: { principal, scopes: 'all' as const } })
    })
    if (!spoken.stateless) this.#peer.capabilities = capabilities
    app.mcp.dispatcher.lifecycle.connect(this.#peer)
  }

  /** Calls the tool of the upstream; `answer` settles with the response. */
  call (
    args: Json = {},
    {
      meta,
      alias = 'files',
      ...round
    }: { meta?: Json, alias?: string, inputResponses?: unknown, requestState?: unknown } = {}
  ): { id: number, answer: Promise<Reply> } {
    const id = ++this.#lastId
    const answer = new Promise<Reply>(resolve => this.#waiting.set(id, resolve))
    const _meta = { ...(this.#stateless ? modern(this.#capabilities)._meta : {}), ...meta }
    this.#receive({ id, method: 'tools/call', params: { name: `${alias}__tool`, arguments: args, ...round, _meta } })
    return { id, answer }
  }

  cancel (requestId: number): void {
    this.#receive({ method: 'notifications/cancelled', params: { requestId } })
  }

  reply (
    id: number,
    response: { result: unknown } | { error: { code: number, message: string, data?: unknown } }
  ): void {
    this.#receive({ id, ...response })
  }

  close (): void {
    this.#app.mcp.dispatcher.lifecycle.disconnect(this.#peer, new Error('the client was closed'))
  }

  #receive (message: Json): void {
    const { channel } = this.#peer
    if (channel !== undefined) {
      this.#app.mcp.dispatcher.receive(decode(JSON.stringify({ jsonrpc: '2.0', ...message })), this.#peer, channel)
    }
  }

  #onMessage (message: Json): void {
    if (message.method === undefined) this.#waiting.get(message.id)?.(message as unknown as Reply)
    else (message.id === undefined ? this.notifications : this.requests).push(message as unknown as Received)
  }
}
