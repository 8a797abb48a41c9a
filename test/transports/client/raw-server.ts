import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'
import { Mailbox } from '../../support/mailbox.js'
import { dialUrl, type UrlDialOptions } from '../../../transports/client/dial-url.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'

/** A request that the server got, and the ways to answer it. */
export interface Got {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The message in the body. */
  message: { id?: number, method?: string, params?: Record<string, unknown>, result?: unknown }
  response: ServerResponse
  /** For bytes that are no proper reply. */
  socket: Socket
}

export interface RawServer {
  origin: string
  url: string
  /** Requests that were not answered by `answer`. */
  got: Mailbox<Got>
  sockets: Set<Socket>
  stop: () => Promise<void>
}

/** An HTTP server that answers as the test says; `answer` returns false for requests that the test answers itself. */
export async function startRawServer (t: Test, answer: (got: Got) => boolean = () => false): Promise<RawServer> {
  const got = new Mailbox<Got>()
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const message = (body === '' ? {} : JSON.parse(body)) as Got['message']
      const item = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        message,
        response,
        socket: request.socket
      }
      if (!answer(item)) got.push(item)
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { origin, url: `${origin}/mcp`, got, sockets, stop }
}

export async function connect (
  t: Test,
  kind: 'any' | 'http' | 'sse' | 'websocket',
  url: string,
  options: Partial<UrlDialOptions> = {},
  headers: Record<string, string> = {}
): Promise<LinkRecorder> {
  const recorder = await new LinkRecorder().dial(dialUrl(kind, { url, headers }, { ...OPTIONS, ...options }))
  t.teardown(() => recorder.link.close())
  return recorder
}

export function sendJson ({ response }: Got, value: object, status = 200, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
  return true
}

export const resultOf = ({ message: { id } }: Got, result: object = {}): object => ({ jsonrpc: '2.0', id, result })

export function startEvents ({ response }: Got): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  return response
}

export const event = (value: object | string, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

/** Answers the handshake of a legacy server with a session; 405 to GET unless `listens`. */
export function answerHandshake (got: Got, { session = 'session-1', listens = false } = {}): boolean {
  if (got.message.method === 'initialize') {
    return sendJson(
      got,
      resultOf(got, { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'raw', version: '1' } }),
      200,
      { 'mcp-session-id': session }
    )
  }
  if (got.message.method === 'notifications/initialized') return end(got, 202)
  if (got.method === 'DELETE') return end(got, 204)
  return got.method === 'GET' && !listens && end(got, 405)
}

export function end ({ response }: Got, status: number): true {
  response.writeHead(status)
  response.end()
  return true
}
