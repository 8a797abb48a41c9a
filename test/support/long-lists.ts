import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { tool } from '../../app.js'
import { request } from './http-client.js'
import { ReplyParser } from './reply-parser.js'
import { modernMeta, type Json } from './modern.js'
import { within } from './wait.js'
import { openSession } from './http-session.js'

export const COUNT = 40

/** Tools that make a list of more than 8 KiB, in characters of every length. */
export default async function longList (app: FastifyInstance): Promise<void> {
  for (let index = 0; index < COUNT; index++) app.mcp.tools.add(entry(`tool_${String(index).padStart(2, '0')}`))
}

export const entry = (name: string) =>
  tool({ name, description: `${name}: größer, "€" und 😀. `.repeat(12), run: () => name })

/** A gateway with this list and nothing else. */
export const LONG = { plugins: [longList], tools: false }

export interface Endpoint { path: string, headers: Record<string, string>, meta: Json }

/** The ways to ask for a list over HTTP. */
export async function endpoints (url: string): Promise<Record<'modern' | 'session' | 'message', Endpoint>> {
  return {
    modern: MODERN,
    session: { path: '/mcp', headers: { 'x-session-id': (await openSession(url)).id }, meta: {} },
    message: { path: '/message', headers: {}, meta: {} }
  }
}

export const MODERN: Endpoint = {
  path: '/mcp',
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  meta: modernMeta()
}

export interface ListReply {
  status: number
  headers: Headers
  body: Buffer
  message: { id: unknown, result: Json & { tools: Json[] } }
}

/** One HTTP connection on which requests may be sent before others are answered. */
export class Connection {
  readonly socket: Socket
  #parser = new ReplyParser()

  constructor (t: Test, url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', chunk => this.#parser.push(chunk))
    t.teardown(() => this.socket.destroy())
  }

  /** Asks for the list under each of these ids. */
  ask (endpoint: Endpoint, ids: unknown[], more: Record<string, string> = {}): void {
    this.socket.write(Buffer.concat(ids.map(id => listRequest(endpoint, id, more))))
  }

  async next (): Promise<ListReply> {
    await within(60_000, async signal => {
      while (!this.#parser.done) {
        if (this.socket.destroyed) throw new Error('the connection is closed')
        await once(this.socket, 'data', { signal })
      }
    })
    const { reply: { status }, headerLines, bytes: body, rest } = this.#parser
    this.#parser = new ReplyParser()
    this.#parser.push(rest)
    return {
      status,
      headers: new Headers(headerLines),
      body,
      message: JSON.parse(body.toString()) as ListReply['message']
    }
  }

  /** Text that came and was not read yet. */
  get rest (): string {
    return this.#parser.hasHead ? 'a reply' : this.#parser.rest.toString()
  }
}

/** The one reply to a request for the list on a connection of its own. */
export async function listOver (
  t: Test,
  url: string,
  endpoint: Endpoint = MODERN,
  id: unknown = 1,
  more: Record<string, string> = {}
): Promise<ListReply> {
  const connection = new Connection(t, url)
  connection.ask(endpoint, [id], more)
  const reply = await connection.next()
  connection.socket.destroy()
  return reply
}

export const listMessage = ({ meta }: Endpoint, id: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: meta } })

function listRequest (endpoint: Endpoint, id: unknown, more: Record<string, string>): Buffer {
  const headers = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...endpoint.headers,
    ...more
  }
  return request('POST', endpoint.path, Object.entries(headers), listMessage(endpoint, id))
}
