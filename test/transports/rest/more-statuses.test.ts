import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { resource, tool, type Options } from '../../../app.js'
import fixture, { gateway, listening } from '../../support/gateway.js'
import { EventParser } from '../../support/event-reader.js'
import { ADA, BOB, apiKeys, bearer } from '../../support/keys.js'
import { until } from '../../support/wait.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { apiServer, documentOf, fileOf } from '../../upstreams/openapi/api.js'

const FORM = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

async function more (app: FastifyInstance): Promise<void> {
  app.mcp.tools.add(tool({
    name: 'ask_late',
    description: 'Reports, and asks then',
    run: async (_input, call) => {
      call.progress(1, 2, 'begun')
      const { content } = await call.elicit('name', { message: 'Name?', requestedSchema: FORM })
      return `hello ${String(content?.text)}`
    }
  }))
  app.mcp.tools.add(tool({
    name: 'fail_late',
    description: 'Reports, and fails then',
    run: (_input, call) => {
      call.progress(1, 2, 'begun')
      throw new TypeError('hidden')
    }
  }))
  app.mcp.resources.add(resource({
    uri: 'test://asks',
    name: 'asks',
    read: async (_uri, call) => String((await call.elicit('name', { message: 'Name?', requestedSchema: FORM })).content?.text)
  }))
}

const serving = (options: Partial<Options> = {}): Partial<Options> =>
  ({ rest: true, plugins: [fixture, more], ...options })
const JSON_TYPE = { 'content-type': 'application/json' }
const post = (url: string, payload: unknown = {}, headers: Record<string, string> = {}) =>
  ({ method: 'POST' as const, url, payload: JSON.stringify(payload), headers: { ...JSON_TYPE, ...headers } })

t.test('a body that is too long is a 413, and a resource that asks a 501', async t => {
  const app = await gateway(t, serving({ maxMessage: 10_000 }))
  const long = await app.inject(post('/api/tools/echo', { text: 'x'.repeat(20_000) }))
  t.match(long.headers['content-type'], 'application/problem+json')
  t.match(long.json(), { status: 413, title: String, detail: String })
  const asks = await app.inject({ url: '/api/resources', query: { uri: 'test://asks' } })
  t.match(asks.json(), { status: 501, code: 'PATCHBAY_CAPABILITY_MISSING', detail: /elicitation/ })
})

t.test('a server that is not there is a 503, and its own document is below its alias', async t => {
  const api = await apiServer(t)
  const openapi = fileOf(t, documentOf({ '/pets': { get: { operationId: 'pets' } } }))
  const app = await gateway(t, serving({
    mcpServers: { api: { openapi, url: api.url }, gone: { command: process.execPath, args: ['-e', 'process.exit(1)'] } },
    limits: { upstreamListWait: 100 }
  }))
  await upstreamsReady(app, ['api'])
  const { paths } = (await app.inject({ url: '/api/api/openapi.json' })).json<{ paths: object }>()
  t.strictSame(Object.keys(paths), ['/tools/pets'])
  t.strictSame((await app.inject(post('/api/api/tools/pets'))).json(), {})
  t.strictSame((await app.inject({ url: '/api/api/tools/pets' })).json(), {}, 'it only reads')
  t.equal((await app.inject(post('/api/api/tools/echo', { text: 'x' }))).statusCode, 404)
  t.match((await app.inject(post('/api/gone/tools/any'))).json(), { status: 503, detail: String })
  await app.mcp.upstreams.configure([])
  t.equal((await app.inject(post('/api/tools/api__pets'))).statusCode, 404)
})

t.test('answers to questions are good for their caller at the gateway that asked, and nowhere else', async t => {
  const app = await gateway(t, serving({ apiKeys: [...apiKeys] }))
  const asked = (await app.inject(post('/api/tools/ask_late', {}, bearer(ADA)))).json<{ state: string }>()
  const answers = { arguments: {}, state: asked.state, answers: { name: { action: 'accept', content: { text: 'Ada' } } } }
  const other = await app.inject(post('/api/tools/ask_late/answers', answers, bearer(BOB)))
  t.match(other.json(), { status: 400, detail: /^state was not issued/ }, 'another caller')
  t.match((await app.inject(post('/api/tools/ask_late/answers', answers, bearer(ADA)))).json(), { content: [{ text: 'hello Ada' }] })
  const stranger = await gateway(t, serving({ apiKeys: [...apiKeys] }))
  t.match((await stranger.inject(post('/api/tools/ask_late/answers', answers, bearer(ADA)))).json(), { status: 400 }, 'another gateway')
})

/** The events of a reply over a socket, in their order. */
async function eventsOf (url: string, name: string, path = name): Promise<Array<{ event?: string, data?: string }>> {
  const reply = await fetch(`${url}/api/tools/${path}`, {
    method: 'POST', body: '{}', headers: { 'content-type': 'application/json', accept: 'text/event-stream' }
  })
  t.equal(reply.status, 200, name)
  t.match(reply.headers.get('content-type'), 'text/event-stream')
  return new EventParser().push(`${await reply.text()}\n\n`).filter(({ event }) => event !== undefined)
}

t.test('a question and a failure after progress are events with what would have been the problem', async t => {
  const { url } = await listening(t, serving())
  const asked = await eventsOf(url, 'ask_late')
  t.strictSame(asked.map(({ event }) => event), ['progress', 'problem'])
  t.match(JSON.parse(asked[1]?.data ?? ''), { status: 409, questions: { name: {} }, state: String, answersAt: '/api/tools/ask_late/answers' })
  const failed = await eventsOf(url, 'fail_late')
  t.strictSame(failed.map(({ event }) => event), ['progress', 'problem'])
  t.match(JSON.parse(failed[1]?.data ?? ''), { status: 500, code: 'PATCHBAY_INTERNAL' })
  t.notMatch(failed[1]?.data, 'hidden')
})

t.test('a call of plain HTTP has a line in the audit log like that of every transport', async t => {
  const lines: Array<{ audit?: object }> = []
  const { pino } = await import('pino')
  const loggerInstance = pino({ level: 'info' }, { write: (line: string) => { lines.push(JSON.parse(line) as { audit?: object }) } })
  const app = await gateway(t, serving({ apiKeys: [...apiKeys] }), { loggerInstance })
  await app.inject(post('/api/tools/echo', { text: 'secret-argument' }, bearer(ADA)))
  await app.inject(post('/api/tools/refuse', {}, bearer(ADA)))
  await until(() => lines.filter(({ audit }) => audit !== undefined).length >= 2, 'the lines')
  const [ok, refused] = lines.flatMap(({ audit }) => audit === undefined ? [] : [audit])
  t.match(ok, { principal: 'key:ada', transport: 'http', method: 'tools/call', tool: 'echo', outcome: 'ok', ms: Number })
  t.match(refused, { principal: 'key:ada', tool: 'refuse', outcome: String })
  t.notMatch(JSON.stringify(lines), 'secret-argument')
})
