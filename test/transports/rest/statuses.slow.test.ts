import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool, type Options } from '../../../app.js'
import fixture, { listening } from '../../support/gateway.js'
import { ADA, apiKeys, headOf } from '../../support/keys.js'
import { until } from '../../support/wait.js'
import { apiServer, documentOf, fileOf } from '../../upstreams/openapi/api.js'
import { upstreamsReady } from '../../support/upstreams.js'

/** Calls of `wait` that run, and those of them that were given up. */
const [running, ended] = [[] as AbortSignal[], [] as unknown[]]

async function more (app: FastifyInstance): Promise<void> {
  app.mcp.tools.add(tool({
    name: 'wait',
    description: 'Waits until its call is given up',
    input: Type.Object({}),
    run: async (_input, { signal }) => await new Promise<string>(resolve => {
      running.push(signal)
      signal.addEventListener('abort', () => { ended.push(signal.reason); resolve('over') }, { once: true })
    })
  }))
  app.mcp.tools.add(tool({ name: 'secret', description: 'For few', scopes: ['few'], run: () => 'told' }))
}

const serving = (options: Partial<Options> = {}): Partial<Options> =>
  ({ rest: true, plugins: [fixture, more], ...options })

const post = async (url: string, path: string, value: unknown = {}, more: RequestInit = {}): Promise<Response> =>
  await fetch(`${url}/api/tools/${path}`, {
    method: 'POST', body: JSON.stringify(value), ...more, headers: { 'content-type': 'application/json', ...more.headers }
  })

t.test('each refusal has its status and a problem as its body, over a socket', async t => {
  const { url } = await listening(t, serving({ apiKeys: [...apiKeys] }))
  const headers = Object.fromEntries(headOf(ADA))
  const cases: Array<[status: number, path: string, value: unknown, headers: Record<string, string>]> = [
    [400, 'echo', { text: 3 }, headers],
    [401, 'echo', { text: 'a' }, {}],
    [403, 'secret', {}, headers],
    [404, 'nothing', {}, headers],
    [409, 'ask_name', {}, headers],
    [422, 'refuse', {}, headers]
  ]
  for (const [status, path, value, head] of cases) {
    const reply = await post(url, path, value, { headers: head })
    t.equal(reply.status, status, path)
    t.match(reply.headers.get('content-type'), 'application/problem+json')
    t.match(await reply.json(), { status, title: String, detail: String })
  }
})

t.test('too many calls are a 429 that says when to come again', async t => {
  const { url } = await listening(t, serving({ rate: 1, burst: 2 }))
  const replies = await Promise.all(Array.from({ length: 6 }, async () => await post(url, 'echo', { text: 'a' })))
  const refused = replies.find(({ status }) => status === 429)
  t.ok(Number(refused?.headers.get('retry-after')) >= 1)
  t.match(await refused?.json(), { status: 429, detail: String })
  t.ok(replies.some(({ status }) => status === 200))
})

t.test('a call that takes too long is a 504, and one of a server that is not there a 502', async t => {
  const api = await apiServer(t, (_request, response) => response.destroy())
  const { app, url } = await listening(t, serving({
    callTimeout: 200,
    mcpServers: { api: { openapi: fileOf(t, documentOf({ '/': { get: { operationId: 'get' } } })), url: api.url } }
  }))
  await upstreamsReady(app, ['api'])
  t.match(await (await post(url, 'wait')).json(), { status: 504, code: 'PATCHBAY_TIMEOUT' })
  const lost = await post(url, 'api__get')
  t.equal(lost.status, 502)
  t.match(await lost.json(), { status: 502, code: 'PATCHBAY_UPSTREAM_FAILED' })
})

t.test('a gateway that shuts down answers with 503, and gives up what still runs', async t => {
  const { app, url } = await listening(t, serving({ grace: 300 }))
  const before = running.length
  const waiting = post(url, 'wait')
  await until(() => running.length > before, 'the call')
  const closed = app.close()
  t.match(await (await waiting).json(), { status: 503, code: 'PATCHBAY_CLOSING' })
  await closed
})

t.test('a client that disconnects cancels its call', async t => {
  const { url } = await listening(t, serving())
  const [before, over] = [running.length, ended.length]
  const client = new AbortController()
  const waiting = post(url, 'wait', {}, { signal: client.signal })
  waiting.catch(() => {})
  await until(() => running.length > before, 'the call')
  client.abort()
  await t.rejects(waiting)
  await until(() => ended.length > over, 'the end of the call')
  t.match(ended.at(-1), { message: 'the client closed the connection' })
})
