import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { Speaker } from '../../support/speaker.js'
import { upstreamsReady } from '../../support/upstreams.js'

/** A request as the server of an API got it. */
export interface Received {
  readonly method: string
  /** The path with its query, as it was sent. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

type Answer = (request: Received, response: ServerResponse) => void

/** A server that keeps every request and answers it with `answer`, or with an empty object. */
export async function apiServer (t: Test, answer: Answer = (_request, response) => sendJson(response, {})) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks) }
      received.push(one)
      answer(one, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return { received, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

/** The request that came last. */
export function latest ({ received }: { readonly received: readonly Received[] }): Received {
  const last = received.at(-1)
  if (last === undefined) throw new Error('there was no request')
  return last
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** A document with these paths. */
export const documentOf = (paths: object, more: object = {}): object =>
  ({ openapi: '3.0.3', info: { title: 'Test', version: '1' }, paths, ...more })

/** The path of a file with a document, as JSON unless it is text. */
export function fileOf (t: Test, document: object | string, name = 'openapi.json'): string {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  return `${t.testdir({ [name]: text })}/${name}`
}

/** A result of a call, as tests look at it. */
export interface Result {
  readonly content: ReadonlyArray<{ type: string, text: string, data?: string, mimeType?: string, resource?: object }>
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

export interface Served {
  readonly app: FastifyInstance
  readonly client: Speaker
  /** Calls a tool of the API; throws what is answered with an error. */
  call (name: string, args?: Record<string, unknown>): Promise<Result>
  /** A tool of the API as it is listed. */
  tool (name: string): Promise<ListedTool>
}

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly annotations: object
  readonly outputSchema?: object
  readonly inputSchema: { properties: Record<string, object>, required: string[], $defs?: Record<string, object> }
}

/** A gateway in front of the API with this entry, which has the alias `api`. */
export async function inFrontOfApi (t: Test, entry: object, options: Partial<Options> = {}): Promise<Served> {
  const app = await gateway(t, { plugins: [], tools: false, ...options, mcpServers: { api: entry } })
  await upstreamsReady(app, ['api'])
  const client = new Speaker(app)
  return {
    app,
    client,
    call: async (name, args = {}) => {
      const { result, error } = await client.tool(`api__${name}`, args)
      if (error !== undefined) throw new Error(error.message)
      return result as unknown as Result
    },
    tool: async name => {
      const { result } = await client.request('tools/list')
      const found = (result['tools'] as ListedTool[]).find(tool => tool.name === `api__${name}`)
      if (found === undefined) throw new Error(`there is no tool ${name}`)
      return found
    }
  }
}
