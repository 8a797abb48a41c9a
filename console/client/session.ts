import {
  Cancelled,
  isObject,
  type Client,
  type ConnectionLost,
  type Handlers,
  type JsonObject,
  type Question
} from './contract.js'
import { isQuestionMethod, OpenQuestions } from './open-questions.js'
import { Rpc, isId, logEntryOf, progressOf, type Id, type OnMessage } from './rpc.js'

type NotificationListener = Parameters<Client['onNotification']>[0]
type CloseListener = (error: ConnectionLost) => void

/** The gateway names the request that a question or a log message belongs to under this key of `_meta`. */
const REQUEST_ID = 'patchbay/requestId'

interface OpenCall { id: Id, handlers: Handlers, questions: OpenQuestions }

const NO_SUCH_METHOD = -32601
const REFUSED = -1

/**
 * One open connection: requests with their progress, log messages and questions. What differs between the eras is not
 * here.
 */
export class Session {
  readonly #rpc: Rpc
  readonly #calls = new Map<Id, OpenCall>()
  /** The questions that were sent as requests: their ids on the wire, and what takes them back. */
  readonly #asked = new Map<Id, () => void>()
  readonly #listeners = new Set<NotificationListener>()
  readonly #closeListeners = new Set<CloseListener>()
  #closed: ConnectionLost | undefined

  constructor (write: (text: string) => void, onMessage: OnMessage) {
    this.#rpc = new Rpc(
      write,
      { request: this.#onRequest.bind(this), notification: this.#onNotification.bind(this) },
      onMessage
    )
  }

  receive (text: string): void {
    this.#rpc.receive(text)
  }

  notify (method: string, params: JsonObject): void {
    this.#rpc.notify(method, params)
  }

  onNotification (listener: NotificationListener): () => void {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  /** Calls the listener when the connection ends, or at once if it has ended. Returns how to remove it. */
  onClose (listener: CloseListener): () => void {
    if (this.#closed !== undefined) listener(this.#closed)
    else this.#closeListeners.add(listener)
    return () => { this.#closeListeners.delete(listener) }
  }

  /** Sends one request. `paramsOf` gets its id, which is also the progress token to use. */
  async send (
    method: string,
    paramsOf: (id: number) => JsonObject,
    handlers: Handlers = {},
    questions = new OpenQuestions(handlers)
  ): Promise<JsonObject> {
    const { signal } = handlers
    if (signal?.aborted === true) throw new Cancelled('cancelled before it was sent')
    const { id, response, abandon } = this.#rpc.request(method, paramsOf)
    const cancel = (): void => {
      this.#rpc.notify('notifications/cancelled', { requestId: id, reason: 'cancelled by the user' })
      abandon(new Cancelled('cancelled'))
    }
    this.#calls.set(id, { id, handlers, questions })
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await response
    } finally {
      signal?.removeEventListener('abort', cancel)
      this.#calls.delete(id)
      questions.removeAll()
    }
  }

  close (error: ConnectionLost): void {
    this.#closed = error
    this.#rpc.close(error)
    for (const listener of [...this.#closeListeners]) listener(error)
    this.#closeListeners.clear()
    for (const takeBack of this.#asked.values()) takeBack()
    this.#asked.clear()
  }

  #onRequest (id: Id, method: string, params: JsonObject): void {
    if (method === 'ping') { this.#rpc.respond(id, {}); return }
    const call = isQuestionMethod(method) ? this.#callOf(params, 'onQuestion') : undefined
    if (call === undefined) this.#rpc.fail(id, NO_SUCH_METHOD, `nothing here answers ${method}`)
    else this.#ask(id, method as Question['method'], params, call)
  }

  #ask (id: Id, method: Question['method'], params: JsonObject, { questions }: OpenCall): void {
    const own = questions.add(method, params, {
      answer: result => { this.#asked.delete(id); this.#rpc.respond(id, result) },
      refuse: reason => { this.#asked.delete(id); this.#rpc.fail(id, REFUSED, reason) }
    })
    this.#asked.set(id, () => { questions.remove(own) })
  }

  #onNotification (method: string, params: JsonObject): void {
    if (method === 'notifications/progress') this.#onProgress(params)
    else if (method === 'notifications/cancelled') this.#takeBack(params.requestId)
    else if (method === 'notifications/message') this.#onLog(params)
    else this.#tell(method, params)
  }

  #onProgress (params: JsonObject): void {
    const progress = progressOf(params)
    if (progress !== undefined) this.#calls.get(params.progressToken as Id)?.handlers.onProgress?.(progress)
  }

  #onLog (params: JsonObject): void {
    const call = this.#callOf(params, 'onLog')
    if (call === undefined) this.#tell('notifications/message', params)
    else call.handlers.onLog?.(logEntryOf(params))
  }

  #takeBack (id: unknown): void {
    if (!isId(id)) return
    this.#asked.get(id)?.()
    this.#asked.delete(id)
  }

  #tell (method: string, params: JsonObject): void {
    for (const listener of [...this.#listeners]) listener(method, params)
  }

  /** The call that a message names, or else the last one that would take it. */
  #callOf ({ _meta }: JsonObject, handler: 'onQuestion' | 'onLog'): OpenCall | undefined {
    const id = isObject(_meta) ? _meta[REQUEST_ID] : undefined
    const willing = [...this.#calls.values()].filter(({ handlers }) => handlers[handler] !== undefined)
    return willing.find(call => call.id === id) ?? willing.at(-1)
  }
}
