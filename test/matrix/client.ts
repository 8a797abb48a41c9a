import { Mailbox } from '../support/mailbox.js'
import { inTime } from '../support/wait.js'
import {
  clientInfo,
  describe,
  nameOf,
  type Id,
  type Json,
  type Message,
  type Reply
} from '../support/specification/message.js'
import { oldest, type Revision } from '../support/specification/revisions.js'
import { schemaFaults } from '../support/specification/schema.js'
import type { Parcel, Place, Transport, Connection } from './connection.js'

/** The answer to a question; undefined for none. */
export type Answers = Record<string, (params: Json) => Json | undefined>

export interface ClientOptions {
  capabilities?: Json
  /** The answers to questions of the server, by method. */
  answers?: Answers
  /** False for a client that leaves out the handshake. */
  handshake?: boolean
  /** True for a client that calls tools by way of `call_tool`. */
  indirect?: boolean
  /** Where to note what the server must not do: messages against the schema, answers to nothing. */
  faults?: string[]
}

export interface RequestOptions { id?: Id, as?: Revision }

/** A request under way. */
export interface Started {
  id: Id
  reply: Promise<Reply>
  cancel: () => void
}

interface Pending { method: string, revision: Revision, resolve: (reply: Reply) => void }

/** A client of any transport in any revision: it hides sessions, headers, `_meta` and the two ways of being asked. */
export class Client {
  readonly transport: Transport
  readonly revision: Revision
  /** Notifications that were not fetched yet. */
  readonly notifications = new Mailbox<Message>()
  /** Answers to batches, and errors that answer nothing we can name. */
  readonly #others = new Mailbox<Reply[]>()
  /** Every answer so far. */
  readonly replies: Reply[] = []
  /** Every question of the server so far. */
  readonly asked: Message[] = []
  /** The answer to the handshake, or to discovery. */
  opening: Reply = {}
  readonly #faults: string[]
  readonly #capabilities: Json
  readonly #answers: Answers
  readonly #isIndirect: boolean
  readonly #pending = new Map<Id, Pending>()
  #connection: Connection | undefined
  #lastId = 100

  static async open (
    place: Place,
    transport: Transport,
    revision: Revision,
    options: ClientOptions = {}
  ): Promise<Client> {
    const client = new Client(transport, revision, options)
    client.#connection = await transport.open(place, (value, status) => client.#receive(value, status))
    if (options.handshake !== false) await client.#shakeHands()
    return client
  }

  private constructor (
    transport: Transport,
    revision: Revision,
    { capabilities = {}, answers = {}, faults = [], indirect = false }: ClientOptions
  ) {
    this.transport = transport
    this.revision = revision
    this.#faults = faults
    this.#capabilities = capabilities
    this.#answers = answers
    this.#isIndirect = indirect
  }

  /** Sends a request and waits for its answer, answering on the way what the server needs to know. */
  async request (method: string, params?: Json, options: RequestOptions = {}): Promise<Reply> {
    const reply = await inTime(this.start(method, params, options).reply, `the answer to ${method}`)
    if (reply.result?.resultType !== 'input_required') return reply
    const { inputRequests, requestState } = reply.result as {
      inputRequests: Record<string, Message>
      requestState?: string
    }
    const inputResponses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, question]) => [key, this.#answer(question)])
    )
    return await this.request(method, {
      ...params,
      inputResponses,
      ...(requestState === undefined ? {} : { requestState })
    })
  }

  /** Calls a tool. */
  async call (name: string, args: Json = {}, more: Json = {}): Promise<Reply> {
    return await this.request('tools/call', { name, arguments: args, ...more })
  }

  /** Sends a request; the caller decides how long to wait. */
  start (
    method: string,
    params?: Json,
    { id = ++this.#lastId, as: revision = this.revision }: RequestOptions = {}
  ): Started {
    const reply = new Promise<Reply>(resolve => this.#pending.set(id, { method, revision, resolve }))
    const sent = this.#isIndirect && method === 'tools/call' ? indirectly(params) : params
    const described = describe(sent, revision, this.#capabilities)
    const { drop } = this.#send({ id, method, ...(described === undefined ? {} : { params: described }) }, revision)
    const cancel = this.transport.cancelsByDropping(revision)
      ? drop
      : () => this.notify('notifications/cancelled', { requestId: id })
    return { id, reply, cancel }
  }

  notify (method: string, params?: Json): void {
    this.#send({ method, ...(params === undefined ? {} : { params }) }, this.revision)
  }

  /** The next notification of a method, including one that came before. */
  async notified (method: string, fits: (params: Json) => boolean = () => true): Promise<Json> {
    const { params = {} } = await this.notifications.take(
      method,
      message => message.method === method && fits(message.params ?? {})
    )
    return params
  }

  /** Sends a batch; members without an id are notifications. Resolves with what came back for all of it. */
  async batch (members: Message[]): Promise<Reply[]> {
    for (const { id, method = '' } of members) {
      if (typeof id === 'string' || typeof id === 'number') {
        this.#pending.set(id, { method, revision: this.revision, resolve: () => {} })
      }
    }
    const described = members.map(({ params, ...rest }) => ({
      jsonrpc: '2.0',
      ...rest,
      params: describe(params, this.revision, this.#capabilities)
    }))
    this.sendText(JSON.stringify(described))
    return await this.others()
  }

  /** The next answer to a batch, or error that answers nothing we can name. */
  async others (): Promise<Reply[]> {
    return await this.#others.take('the answer to a batch or an unreadable message')
  }

  /** Sends bytes as they are, readable or not. */
  sendText (text: string, about: Partial<Parcel> = {}): void {
    this.#connection?.send({ text, revision: this.revision, ...about })
  }

  async close (): Promise<void> {
    await this.#connection?.close()
  }

  async #shakeHands (): Promise<void> {
    if (this.revision.modern) {
      this.opening = await this.request('server/discover')
    } else {
      this.opening = await this.request('initialize', {
        protocolVersion: this.revision.version,
        capabilities: this.#capabilities,
        clientInfo
      })
      this.notify('notifications/initialized')
    }
  }

  #send (message: Message, revision: Revision): { drop: () => void } {
    const { method, params } = message
    const name = nameOf(params)
    const parcel = {
      text: JSON.stringify({ jsonrpc: '2.0', ...message }),
      revision,
      ...(method === undefined ? {} : { method }),
      ...(name === undefined ? {} : { name })
    }
    return (this.#connection as Connection).send(parcel)
  }

  #receive (value: unknown, status: number | undefined): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#take(item as Message, status)
      this.#others.push(value as Reply[])
    } else if (typeof value === 'object' && value !== null) {
      this.#take(value, status)
      const { id, method } = value as Message
      if (method === undefined && (id === undefined || id === null)) this.#others.push([{ ...value, status }])
    } else {
      this.#faults.push(`not a message: ${String(value)}`)
    }
  }

  #take (message: Message, status: number | undefined): void {
    const { id, method } = message
    if (method === undefined) return this.#settle({ ...message, status }, message)
    this.#check(message, this.revision)
    if (id === undefined) return this.notifications.push(message)
    const result = this.#answer(message)
    if (result !== undefined) this.#send({ id, result }, this.revision)
  }

  #settle (reply: Reply, message: Message): void {
    const { id } = reply
    const pending = id === undefined || id === null ? undefined : this.#pending.get(id)
    // Without a session, what cannot be read is taken to be of the first revision.
    this.#check(message, pending?.revision ?? (this.transport.remembers ? this.revision : oldest), pending?.method)
    this.replies.push(reply)
    if (id === undefined || id === null) return
    if (pending === undefined) this.#faults.push(`nobody asked for ${JSON.stringify(message)}`)
    this.#pending.delete(id)
    pending?.resolve(reply)
  }

  #answer (question: Message): Json | undefined {
    this.asked.push(question)
    const { method = '', params = {} } = question
    const answer = this.#answers[method]
    if (answer === undefined) this.#faults.push(`asked for ${method}, which is not answered here`)
    return answer?.(params)
  }

  #check (message: Message, revision: Revision, method?: string): void {
    for (const fault of schemaFaults(message, revision, method)) {
      this.#faults.push(`${revision.version} ${method ?? message.method ?? ''}: ${fault} in ${JSON.stringify(message)}`)
    }
  }
}

/** The params of a call of `call_tool` that stands for this one. */
function indirectly ({ name, arguments: args, ...rest }: Json = {}): Json {
  return { ...rest, name: 'call_tool', arguments: { name, ...(args === undefined ? {} : { arguments: args }) } }
}
