import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { serveStdio, type Identity } from '../../../app.js'
import { openStream } from '../../support/event-reader.js'
import { modernMeta } from '../../support/modern.js'
import type { Json } from '../../support/specification/message.js'
import { modern } from '../../support/specification/revisions.js'
import { Inbox } from '../../support/wait.js'

/** Sends a request, and gives its answer. */
export type Ask = (method: string, params?: Json) => Promise<Json>

/** How a client connects: the view of its URL, what is behind `?`, its headers, and the revision it speaks. */
export interface Way {
  view?: string
  query?: string
  headers?: Record<string, string>
  version?: string
}

type Connect = (t: Test, url: string, way: Way) => Promise<Ask>

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const LEGACY = '2025-11-25'
const body = (method: string, params: Json = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const initialize = (version: string): Json => ({
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' }
})
const pathOf = (path: string, { view, query }: Way): string =>
  `${path}${view === undefined ? '' : `/${view}`}${query === undefined ? '' : `?${query}`}`

async function post (
  url: string,
  text: string,
  headers: Record<string, string> = {}
): Promise<{ response: Response, answer: Json }> {
  const response = await fetch(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: text })
  const answer = await response.text()
  return { response, answer: answer === '' ? {} : (JSON.parse(answer) as Json) }
}

/** The next message that is no notification. */
async function answerOf (next: () => Promise<Json>): Promise<Json> {
  for (;;) {
    const message = await next()
    if ('id' in message) return message
  }
}

/** Every road by which clients of HTTP reach the dispatcher. */
export const roads: Record<string, Connect> = {
  'modern HTTP':
    async (_t, url, way) =>
      async (method, params = {}) => {
        const named =
        typeof (params.name ?? params.uri) === 'string' ? { 'mcp-name': String(params.name ?? params.uri) } : {}
        return (
          await post(url + pathOf('/mcp', way), body(method, { ...params, _meta: modernMeta() }), {
            ...way.headers,
            'mcp-protocol-version': modern.version,
            'mcp-method': method,
            ...named
          })
        ).answer
      },
  'HTTP with a session': async (_t, url, way) => {
    const place = url + pathOf('/mcp', way)
    const { response, answer } = await post(place, body('initialize', initialize(way.version ?? LEGACY)), way.headers)
    const session = response.headers.get('mcp-session-id')
    return async (method, params) =>
      session === null
        ? answer
        : (await post(place, body(method, params), { ...way.headers, 'mcp-session-id': session })).answer
  },
  'POST /message': async (_t, url, way) => async (method, params) =>
    (
      await post(url + pathOf('/message', way), body(method, params), {
        ...way.headers,
        'mcp-protocol-version': way.version ?? LEGACY
      })
    ).answer,
  'HTTP+SSE': async (t, url, way) => {
    const stream = await openStream(
      url + pathOf('/sse', way),
      way.headers === undefined ? {} : { headers: way.headers }
    )
    t.teardown(() => stream.drop())
    const endpoint = (await stream.event())?.data ?? ''
    const ask: Ask = async (method, params) => {
      await fetch(url + endpoint, {
        method: 'POST',
        headers: { ...JSON_HEADERS, ...way.headers },
        body: body(method, params)
      })
      return await answerOf(async () => await stream.message())
    }
    await ask('initialize', initialize(way.version ?? LEGACY))
    return ask
  },
  WebSocket: async (t, url, way) => {
    const socket = new WebSocket(
      url.replace('http', 'ws') + pathOf('/mcp', way),
      'mcp',
      way.headers === undefined ? {} : { headers: way.headers }
    )
    const inbox = new Inbox<Json>()
    socket.on('message', data => inbox.push(JSON.parse(String(data)) as Json))
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    const ask: Ask = async (method, params) => {
      socket.send(body(method, params))
      return await answerOf(async () => await inbox.next())
    }
    await ask('initialize', initialize(way.version ?? LEGACY))
    return ask
  }
}

/** A client on standard input and output. */
export async function overStdio (
  t: Test,
  app: FastifyInstance,
  { view, identity, version = LEGACY }: { view?: string, identity?: Identity, version?: string }
): Promise<Ask> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const inbox = new Inbox<Json>()
  output.on('data', (chunk: Buffer) => {
    for (const line of String(chunk).split('\n')) if (line !== '') inbox.push(JSON.parse(line) as Json)
  })
  serveStdio(app.mcp, { input, output, maxMessage: 1_000_000, view, ...(identity !== undefined && { identity }) })
  t.teardown(() => input.end())
  const ask: Ask = async (method, params) => {
    input.write(`${body(method, params)}\n`)
    return await answerOf(async () => await inbox.next())
  }
  await ask('initialize', initialize(version))
  return ask
}
