import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import { destination } from 'pino'
import { replyTo, type Asked } from './reply.js'

// The limit for HTTP: one route, Fastify's own parser, and a serializer that is compiled from a schema. A second
// argument names a file whose bytes are the answer to everything, or is "log" for Fastify's log of requests, written
// in the way that costs pino least.
const [port, second] = process.argv.slice(2)
const logs = second === 'log'
const bytes = second === undefined || logs ? undefined : readFileSync(second)
const bodyLimit = 4 * 1024 * 1024
const app = logs
  ? fastify({ bodyLimit, logger: { stream: destination({ fd: 2, sync: false, minLength: 4_096 }) } })
  : fastify({ bodyLimit })
const sessions = new Map<string, { revision: string | undefined }>()

const content = {
  type: 'array',
  items: { type: 'object', properties: { type: { type: 'string' }, text: { type: 'string' } } }
}
const result = {
  type: 'object',
  properties: {
    content,
    isError: { type: 'boolean' },
    resultType: { type: 'string' },
    _meta: { type: 'object', additionalProperties: true }
  },
  additionalProperties: true
}
const answer = { type: 'object', properties: { jsonrpc: { type: 'string' }, id: { type: 'integer' }, result } }

const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const body = { type: 'object', properties: { content } }

if (bytes === undefined) {
  app.post<{ Body: { text: string } }>(
    '/api/tools/echo',
    { schema: { body: input, response: { 200: body } } },
    ({ body: { text } }, reply) => {
      reply.send({ content: [{ type: 'text', text }] })
    }
  )
  app.post<{ Body: Asked }>('/mcp', { schema: { response: { 200: answer } } }, ({ body }, reply) => {
    if (body.method === 'initialize') reply.header('mcp-session-id', remember(body))
    const text = replyTo(body)
    if (text === undefined) reply.code(202)
    reply.send(text)
  })
} else {
  app.post('/mcp', (_, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
  })
}
app.get('/mcp', (_, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  reply.raw.flushHeaders()
})
app.delete('/mcp', ({ headers }, reply) => {
  sessions.delete(String(headers['mcp-session-id']))
  reply.code(204).send()
})
await app.listen({ port: Number(port), host: '127.0.0.1' })

function remember ({ params }: Asked): string {
  const id = randomUUID()
  sessions.set(id, { revision: params?.protocolVersion })
  return id
}
