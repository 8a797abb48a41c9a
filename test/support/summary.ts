import { messagesOf } from './event-reader.js'
import { Closed } from './websocket-client.js'
import type { Reply } from './http-client.js'

type Json = Record<string, unknown>

/** One message in a few words: `-32600 id null`, `-32700 no id`, `ok id 7`, `isError id 7`. */
export function summarise (message: unknown): string {
  if (message instanceof Closed) return `close ${message.code}`
  if (Array.isArray(message)) return `[${message.map(summarise).join(', ')}]`
  const { jsonrpc, id, method, error, result } = message as {
    jsonrpc?: unknown
    id?: unknown
    method?: string
    error?: Json
    result?: Json
  }
  if (jsonrpc !== '2.0') return `not JSON-RPC: ${JSON.stringify(message)}`
  if (method !== undefined) return `${id === undefined ? 'notification' : 'request'} ${method}`
  const name = id === undefined ? 'no id' : `id ${JSON.stringify(id)}`
  if (error !== undefined) return `${String(error.code)} ${name}`
  return `${result?.isError === true ? 'isError' : 'ok'} ${name}`
}

/** An HTTP reply in a few words: the status, and a summary of the body. */
export function summariseReply ({ status, headers, body }: Reply): string {
  if (body === '') return String(status)
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) return [status, ...messagesOf(body).map(summarise)].join(' ')
  return `${status} ${type.startsWith('application/json') ? summarise(JSON.parse(body)) : body}`
}
