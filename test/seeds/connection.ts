export type Json = Record<string, unknown>

/** What carries messages: each text out is one message, each value in is one message or the answers to a batch. */
export interface Line {
  write: (text: string) => void | Promise<void>
  next: () => Promise<unknown>
  close: () => void
}

/** What the client answers when the server asks, by method. */
export type Answers = Record<string, (params: Json) => Json>

/** A client that sends given messages and stores what it receives. */
export class Connection {
  /** Every notification so far. */
  readonly notifications: Json[] = []
  /** Every question of the server so far. */
  readonly questions: Json[] = []
  /** Every answer so far, batches included. */
  readonly answers: unknown[] = []
  readonly #line: Line
  readonly #replies: Answers
  #pulling: Promise<void> | undefined
  #lastId = 1000

  constructor (line: Line, replies: Answers) {
    this.#line = line
    this.#replies = replies
  }

  /** Sends a request and resolves with the whole answer. */
  async request (method: string, params?: Json): Promise<Json> {
    return await this.sendRequest({
      jsonrpc: '2.0',
      id: ++this.#lastId,
      method,
      ...(params === undefined ? {} : { params })
    })
  }

  /** Sends a request as it is and resolves with the whole answer. */
  async sendRequest (message: Json): Promise<Json> {
    await this.#line.write(JSON.stringify(message))
    return await this.#find(this.answers, answer => (answer as Json).id === message.id) as Json
  }

  /** Sends a batch and resolves with the answers, as they came; a batch that is refused has one. */
  async batch (messages: Json[]): Promise<unknown> {
    return await this.sendText(JSON.stringify(messages))
  }

  /** Sends text as it is, and resolves with the next message that answers a batch or whose id is null. */
  async sendText (text: string): Promise<unknown> {
    await this.#line.write(text)
    return await this.#find(this.answers, answer => Array.isArray(answer) || (answer as Json).id === null)
  }

  async notify (method: string, params?: Json): Promise<void> {
    await this.send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })
  }

  /** Sends what is not answered. */
  async send (message: Json): Promise<void> {
    await this.#line.write(JSON.stringify(message))
  }

  /** The first notification of a method that was not fetched before. */
  async notified (method: string): Promise<Json> {
    return await this.#find(this.notifications, notification => notification.method === method)
  }

  async #find<T> (among: T[], fits: (item: T) => boolean): Promise<T> {
    for (;;) {
      const index = among.findIndex(fits)
      if (index !== -1) return among.splice(index, 1)[0] as T
      await (this.#pulling ??= this.#pull().finally(() => { this.#pulling = undefined }))
    }
  }

  async #pull (): Promise<void> {
    const value = await this.#line.next()
    const { id, method } = value as Json
    if (method === undefined) this.answers.push(value)
    else if (id === undefined) this.notifications.push(value as Json)
    else await this.#answer(value as Json)
  }

  async #answer (question: Json): Promise<void> {
    this.questions.push(question)
    const { id, method, params = {} } = question
    const reply = this.#replies[String(method)]
    const outcome =
      reply === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: reply(params as Json) }
    await this.#line.write(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
  }
}
