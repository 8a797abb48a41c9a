import {
  RpcError,
  isObject,
  type ConnectionLost,
  type Json,
  type JsonObject,
  type LogEntry,
  type Progress
} from './contract.js'

export type Id = number | string
export type Direction = 'sent' | 'received'

/** Called with each message, in both directions. */
export type OnMessage = (direction: Direction, message: JsonObject, size: number) => void

interface Incoming {
  request: (id: Id, method: string, params: JsonObject) => void
  notification: (method: string, params: JsonObject) => void
}

interface Pending { resolve: (result: JsonObject) => void, reject: (error: Error) => void }

/** JSON-RPC over something that carries text. */
export class Rpc {
  readonly #write: (text: string) => void
  readonly #incoming: Incoming
  readonly #onMessage: OnMessage
  readonly #pending = new Map<Id, Pending>()
  #lastId = 0
  #closed: ConnectionLost | undefined

  constructor (write: (text: string) => void, incoming: Incoming, onMessage: OnMessage) {
    this.#write = write
    this.#incoming = incoming
    this.#onMessage = onMessage
  }

  /** Sends a request; its params may name its id. `abandon` rejects it without an answer. */
  request (
    method: string,
    paramsOf: (id: number) => JsonObject
  ): { id: number, response: Promise<JsonObject>, abandon: (error: Error) => void } {
    const id = ++this.#lastId
    const response = new Promise<JsonObject>((resolve, reject) => {
      if (this.#closed !== undefined) { reject(this.#closed); return }
      this.#pending.set(id, { resolve, reject })
      this.#send({ jsonrpc: '2.0', id, method, params: paramsOf(id) })
    })
    return { id, response, abandon: error => this.#take(id)?.reject(error) }
  }

  notify (method: string, params: JsonObject): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  respond (id: Id, result: JsonObject): void {
    this.#send({ jsonrpc: '2.0', id, result })
  }

  fail (id: Id, code: number, message: string): void {
    this.#send({ jsonrpc: '2.0', id, error: { code, message } })
  }

  /** Takes one message. What is not JSON-RPC is dropped: the gateway sends none. */
  receive (text: string): void {
    const message = parse(text)
    if (message === undefined) return
    this.#onMessage('received', message, text.length)
    const { id, method, params } = message
    if (typeof method === 'string') {
      const given = isObject(params) ? params : {}
      if (isId(id)) this.#incoming.request(id, method, given)
      else this.#incoming.notification(method, given)
    } else if (isId(id)) {
      this.#settle(id, message)
    }
  }

  /** Rejects what is not answered, and all later requests. */
  close (error: ConnectionLost): void {
    this.#closed = error
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error)
  }

  #settle (id: Id, { result, error }: JsonObject): void {
    const pending = this.#take(id)
    if (error !== undefined && error !== null) pending?.reject(rpcErrorOf(isObject(error) ? error : {}))
    else pending?.resolve(isObject(result) ? result : {})
  }

  #take (id: Id): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #send (message: JsonObject): void {
    if (this.#closed !== undefined) return
    const text = JSON.stringify(message)
    this.#onMessage('sent', message, text.length)
    this.#write(text)
  }
}

export const isId = (value: unknown): value is Id => typeof value === 'string' || typeof value === 'number'

function parse (text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) && (isId(value.id) || value.id === undefined || value.id === null) ? value : undefined
  } catch {
    return undefined
  }
}

/** Undefined where the progress is no number. */
export function progressOf ({ progress, total, message }: JsonObject): Progress | undefined {
  if (!isNumber(progress)) return undefined
  return { progress, ...(isNumber(total) ? { total } : {}), ...(typeof message === 'string' ? { message } : {}) }
}

export function logEntryOf ({ level, logger, data = '' }: JsonObject): LogEntry {
  return {
    level: typeof level === 'string' ? level : 'unknown',
    data,
    ...(typeof logger === 'string' ? { logger } : {})
  }
}

function rpcErrorOf ({ code, message, data }: JsonObject): RpcError {
  return new RpcError(
    isNumber(code) ? code : 0,
    typeof message === 'string' ? message : 'the server gave no reason',
    data
  )
}

/** JSON has numbers that are too large to be finite here. */
const isNumber = (value: unknown): value is number => Number.isFinite(value)
