import type { Revision } from '../../protocol/revisions/revision.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { decode, type Id, type Message, type Params } from '../../protocol/wire/jsonrpc.js'
import type { Dial, Link, LinkEvents, LinkRequest } from '../../transports/client/link.js'
import type { RelayedCall } from '../../upstreams/ports.js'
import type { ServerEntry } from '../../upstreams/server-entry.js'
import { newestLegacy } from './specification/revisions.js'
import { Inbox } from './wait.js'

export const legacyInitialize = {
  protocolVersion: newestLegacy.version,
  capabilities: { tools: {}, logging: {} },
  serverInfo: { name: 'fake', version: '1' }
}

/** The way of a fake server with a request: the members of the response, or nothing. */
export type Reaction =
  { result: unknown } | { error: { code: number, message: string, data?: unknown } } | undefined | void

type Script = Record<
  string,
  (request: { id: Id, method: string, params: Params }, link: FakeLink) => Reaction | Promise<Reaction>
>

/** A server in this process, as a `Dial`: reacts to requests by method, and records everything that it is sent. */
export class FakeUpstream {
  readonly links: FakeLink[] = []
  /** When the links show the first sign of life; at once when absent. */
  alive: Promise<void> | undefined
  readonly #transport: Link['transport']
  readonly #script: Script

  constructor (script: Script, transport: Link['transport'] = 'stdio') {
    this.#script = {
      initialize: () => ({ result: legacyInitialize }),
      'server/discover': () => ({ error: { code: -32601, message: 'no' } }),
      ...script
    }
    this.#transport = transport
  }

  readonly dial: Dial = async events => {
    const link = new FakeLink(this.#transport, events, this.#script)
    if (this.alive !== undefined) link.alive = this.alive
    this.links.push(link)
    return link
  }

  /** The latest link. */
  get link (): FakeLink {
    return this.links.at(-1) as FakeLink
  }

  /** The methods of all messages, one list for each link. */
  get methods (): string[][] {
    return this.links.map(link => link.received.map(({ method }) => method))
  }
}

export class FakeLink implements Link {
  readonly transport: Link['transport']
  readonly received: Array<{ id?: Id, method: string, params: Params }> = []
  /** Answers to requests of the server. */
  readonly answers = new Inbox<{ id: Id, result?: unknown, error?: { code: number, message: string } }>()
  readonly headers = new Map<Id, LinkRequest['headers']>()
  /** The channel of each request, where each has a stream of its own. */
  readonly channels = new Map<Id, Channel>()
  readonly channel: Channel
  readonly events: LinkEvents
  revision: Revision | undefined
  isClosed = false
  alive?: Promise<void>
  readonly #script: Script

  constructor (transport: Link['transport'], events: LinkEvents, script: Script) {
    this.transport = transport
    this.events = events
    this.#script = script
    this.channel = this.#createChannel()
  }

  channelFor ({ id, headers }: LinkRequest): Channel {
    this.headers.set(id, headers)
    if (this.transport !== 'http') return this.channel
    const channel = this.#createChannel()
    this.channels.set(id, channel)
    return channel
  }

  setRevision (revision: Revision): void {
    this.revision = revision
  }

  async close (): Promise<void> {
    this.end('the connection was closed')
  }

  /** The server ends. */
  end (why: string): void {
    if (this.isClosed) return
    this.isClosed = true
    this.events.closed(new Error(why))
  }

  /** The server sends a message, as an object, be it wrong. Returns true if it was the response to a request. */
  send (message: object, on?: Id): boolean {
    return this.events.message(
      decode(JSON.stringify({ jsonrpc: '2.0', ...message })) as Message,
      on === undefined ? undefined : this.channels.get(on)
    )
  }

  /** The latest message with this method. */
  last (method: string): { id?: Id, method: string, params: Params } {
    const found = this.received.findLast(message => message.method === method)
    if (found === undefined) throw new Error(`the server got no ${method}`)
    return found
  }

  #createChannel (): Channel {
    return {
      streams: true,
      emit: text => {
        void this.#receive(text)
      },
      respond: text => this.answers.push(JSON.parse(text) as never),
      end: () => {}
    }
  }

  async #receive (text: string): Promise<void> {
    const { id, method, params = {} } = JSON.parse(text) as { id?: Id, method: string, params?: Params }
    this.received.push({ ...(id === undefined ? {} : { id }), method, params })
    if (id === undefined) return
    await Promise.resolve()
    const reaction = await this.#script[method]?.({ id, method, params }, this)
    if (reaction !== undefined && !this.isClosed) this.send({ id, ...reaction }, id)
  }
}

/** A configured server on standard streams, with the defaults of every field. */
export function createEntry (given: Partial<ServerEntry> = {}): ServerEntry {
  const { alias = 'fake' } = given
  return {
    alias,
    name: alias,
    source: 'a test',
    address: { kind: 'stdio', command: alias, args: [], env: {}, cwd: undefined },
    disabled: false,
    timeout: undefined,
    startTimeout: undefined,
    includeTools: [],
    excludeTools: [],
    schemas: 'safe',
    prefix: undefined,
    start: 'eager',
    idle: undefined,
    isolate: 'none',
    scopes: undefined,
    roots: undefined,
    elicitation: true,
    sampling: false,
    ...given
  }
}

/** A client's call that records what reaches it. */
export class FakeCall implements RelayedCall {
  readonly progressed: Params[] = []
  readonly logged: Params[] = []
  readonly asked: Array<{ method: string, params: Params, signal: AbortSignal }> = []
  readonly principal: string | undefined
  readonly client: object
  readonly caller: string
  answer: (method: string) => object | Promise<object> = () => ({ action: 'accept', content: {} })
  isAskable = true
  isWaiting = true

  constructor (principal: string | undefined = undefined, client: object = {}) {
    this.principal = principal
    this.client = client
    this.caller = principal ?? 'local'
  }

  progress (params: Params): void {
    this.progressed.push(params)
  }

  log (params: Params): void {
    this.logged.push(params)
  }

  canAsk (): boolean {
    return this.isAskable
  }

  async ask (method: string, params: Params, signal: AbortSignal): Promise<object> {
    this.asked.push({ method, params, signal })
    return await this.answer(method)
  }
}
