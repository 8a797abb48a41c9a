import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { McpError, tool, type Options } from '../../../app.js'
import fixture, { gateway } from '../../support/gateway.js'
import { host } from '../../support/host.js'
import { ADA, apiKeys, headOf } from '../../support/keys.js'

const more = async (app: FastifyInstance): Promise<void> => {
  app.mcp.tools.add(tool({
    name: 'count',
    description: 'Counts',
    annotations: { readOnlyHint: true },
    input: Type.Object({
      from: Type.Integer(),
      names: Type.Optional(Type.Array(Type.String())),
      loud: Type.Optional(Type.Boolean()),
      where: Type.Optional(Type.Object({ place: Type.String() }))
    }, { additionalProperties: false }),
    run: input => ({ ...input })
  }))
  app.mcp.tools.add(tool({ name: 'text', description: 'Says hello', run: () => 'hello' }))
  app.mcp.tools.add(tool({ name: 'own', description: 'Fails', run: () => { throw new McpError(-32050, 'own error') } }))
  app.mcp.tools.add(tool({ name: 'secret', description: 'For few', scopes: ['few'], run: () => 'told' }))
  app.mcp.tools.add(tool({
    name: 'twice',
    description: 'Asks twice',
    input: Type.Object({ n: Type.Integer() }),
    run: async ({ n }, call) => {
      const form = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
      const first = await call.elicit('first', { message: 'First?', requestedSchema: form })
      const second = await call.elicit('second', { message: 'Second?', requestedSchema: form })
      return [n, first.content?.text, second.content?.text].join(' ')
    }
  }))
}

const withRest = (options: Partial<Options> = {}): Partial<Options> =>
  ({ rest: true, plugins: [fixture, more], ...options })

const post = (url: string, payload: unknown = {}, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url,
  payload: JSON.stringify(payload),
  headers: { 'content-type': 'application/json', ...headers }
})

t.test('without the option there is nothing below /api', async t => {
  const app = await gateway(t)
  for (const request of [post('/api/tools/echo', { text: 'hi' }), { url: '/api/openapi.json' }]) {
    t.match(await app.inject(request), { statusCode: 404 })
  }
})

t.test('a tool is called with its arguments as the body, and answered with its value', async t => {
  const app = await gateway(t, withRest())
  const structured = await app.inject(post('/api/tools/echo', { text: 'hi' }))
  t.match(structured, { statusCode: 200, headers: { 'content-type': 'application/json' } })
  t.strictSame(structured.json(), { text: 'hi' })
  t.strictSame((await app.inject(post('/api/tools/text/'))).json(), { content: [{ type: 'text', text: 'hello' }] })
  const empty = await app.inject({ ...post('/api/tools/text'), payload: '' })
  t.equal(empty.statusCode, 200, 'no body is no arguments')
})

t.test('each failure has its status, and says what to do', async t => {
  const app = await gateway(t, withRest())
  const cases: Array<[string, unknown, number, object]> = [
    ['echo', { text: 3 }, 400, { code: 'PATCHBAY_WRONG_ARGUMENTS', errors: [{ path: '/text', message: String }] }],
    ['echo', [1], 400, { detail: /must be a JSON object with the arguments/ }],
    ['nobody', {}, 404, { code: 'PATCHBAY_UNKNOWN_TOOL', detail: /^Unknown tool: nobody/ }],
    ['refuse', {}, 422, { title: 'Unprocessable Entity', detail: 'not today' }],
    ['own', {}, 422, { detail: 'own error' }],
    ['boom', {}, 500, { code: 'PATCHBAY_INTERNAL', correlation: String }]
  ]
  for (const [name, args, status, problem] of cases) {
    const reply = await app.inject(post(`/api/tools/${name}`, args))
    t.equal(reply.statusCode, status, `${name}: ${reply.body}`)
    t.match(reply.headers['content-type'], 'application/problem+json', name)
    t.match(reply.json(), { status, ...problem }, name)
    t.notMatch(reply.body, 'secret detail')
  }
})

t.test('a name of any length is looked up, and the reply does not repeat it whole', async t => {
  const app = await gateway(t, withRest())
  const long = 'x'.repeat(8_000)
  for (const [path, code] of [
    [`tools/${long}`, 'PATCHBAY_UNKNOWN_TOOL'],
    [`tools/${long}/answers`, 'PATCHBAY_INVALID_PARAMS'],
    [`${long}/tools/echo`, 'PATCHBAY_UNKNOWN_VIEW']
  ] as const) {
    const reply = await app.inject(post(`/api/${path}`))
    t.match(reply, { headers: { 'content-type': 'application/problem+json' } })
    t.match(reply.json(), { code })
    t.ok(reply.body.length < 1_000)
  }
})

t.test('bodies that are not JSON, or not to be taken, are refused like messages', async t => {
  const app = await gateway(t, withRest({ limits: { maxDepth: 8 } }))
  const send = async (payload: string | Buffer, type = 'application/json') =>
    await app.inject({ method: 'POST', url: '/api/tools/echo', payload, headers: { 'content-type': type } })
  for (const payload of ['{', '"text"', '{"text":"hi"} {}', '{"__proto__":{}}', Buffer.from([0x7b, 0xff, 0x7d]), '{"text":1e999}', `${'['.repeat(50)}`]) {
    const reply = await send(payload)
    t.equal(reply.statusCode, 400, `${String(payload)} ${reply.body}`)
    t.match(reply.headers['content-type'], 'application/problem+json')
  }
  t.equal((await send(`{"text":${'['.repeat(20)}${']'.repeat(20)}}`)).json<{ code: string }>().code, 'PATCHBAY_TOO_DEEP')
  t.match((await send('text=hi', 'application/x-www-form-urlencoded')).json(), { status: 415, code: 'PATCHBAY_CONTENT_TYPE' })
  t.match((await app.inject({ method: 'PUT', url: '/api/tools/echo' })).json(), { status: 405 })
  t.equal((await send('{"text":"hi","name":"boom"}')).statusCode, 400, 'a body cannot name another tool')
})

t.test('a tool that only reads is called by GET, with a query that its schema explains', async t => {
  const app = await gateway(t, withRest())
  const get = async (query: string, headers = {}) => await app.inject({ url: `/api/tools/count?${query}`, headers })
  t.strictSame(
    (await get('from=3&names=a&names=b&loud=true&where=%7B%22place%22%3A%22x%22%7D')).json(),
    { from: 3, names: ['a', 'b'], loud: true, where: { place: 'x' } }
  )
  t.strictSame((await get('from=3&names=a')).json(), { from: 3, names: ['a'] }, 'a list of one')
  t.match((await get('from=three')).json(), { status: 400, errors: [{ path: '/from' }] })
  t.equal((await get('from=1&__proto__=x')).statusCode, 400)
  t.equal((await get('from=1&tools=x')).statusCode, 400, 'the query has arguments, not names of tools')
  const writing = await app.inject({ url: '/api/tools/echo?text=hi' })
  t.match(writing, { statusCode: 405, headers: { allow: 'POST' } })
  t.match(writing.json(), { code: 'PATCHBAY_NOT_READ_ONLY' })
  t.equal((await app.inject({ url: '/api/tools/nobody' })).statusCode, 404)
  t.match(await get('from=1', { 'sec-fetch-site': 'cross-site' }), { statusCode: 403 }, 'not by the picture of another site')
})

t.test('questions are a 409, and their answers are sent with its state', async t => {
  const app = await gateway(t, withRest())
  const asked = await app.inject(post('/api/tools/twice', { n: 1 }))
  t.equal(asked.statusCode, 409, asked.body)
  const first = asked.json<Asked>()
  t.match(first, {
    questions: { first: { method: 'elicitation/create', params: { message: 'First?' } } },
    answersAt: '/api/tools/twice/answers'
  })
  const answer = async (key: string, text: string, { state }: Asked, n = 1) =>
    await app.inject(post('/api/tools/twice/answers', {
      arguments: { n },
      state,
      answers: { [key]: { action: 'accept', content: { text } } }
    }))
  t.match((await answer('first', 'a', first, 2)).json(), { status: 400, detail: /^state was not issued for this request/ })
  const second = await answer('first', 'a', first)
  t.match(second.json(), { status: 409, questions: { second: {} }, answersAt: '/api/tools/twice/answers' })
  t.match((await answer('second', 'b', second.json<Asked>())).json(), { content: [{ text: '1 a b' }] })
  t.match((await app.inject(post('/api/tools/twice/answers', { n: 1 }))).json(), { status: 400, detail: /"answers"/ })
})

interface Asked { readonly state: string }

t.test('with Accept: text/event-stream progress comes before the result', async t => {
  const app = await gateway(t, withRest())
  const events = { accept: 'text/event-stream' }
  const reply = await app.inject(post('/api/tools/slow', { steps: 2, delay: 1 }, events))
  t.match(reply.headers['content-type'], 'text/event-stream')
  const all = reply.body.split('\n\n').filter(event => event.startsWith('event:'))
  t.strictSame(all.map(event => /^event: (\w+)/.exec(event)?.[1]), ['progress', 'progress', 'result'])
  t.match(all[0], '"progress":1')
  t.notMatch(all[0], 'progressToken')
  t.match(all[2], '2 steps')
  t.match((await app.inject(post('/api/tools/nobody', {}, events))).statusCode, 404, 'a refusal keeps its status')
})

t.test('a tool whose calls must be tasks is not in the document, and refuses', async t => {
  const late = tool({ name: 'late', description: 'Late', task: 'must', run: () => 'done' })
  const maybe = tool({ name: 'maybe', description: 'Maybe', task: 'may', run: () => 'done' })
  const add = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => [late, maybe].forEach(one => tools.add(one))
  const app = await gateway(t, { rest: true, tools: false, plugins: [add], views: { all: { tools: ['*'] } } })
  for (const place of ['/api', '/api/all']) {
    const { paths } = (await app.inject({ url: `${place}/openapi.json` })).json<{ paths: object }>()
    t.strictSame(Object.keys(paths), ['/tools/maybe'])
  }
  t.match((await app.inject(post('/api/tools/late'))).json(), { status: 400, code: 'PATCHBAY_TASKS_NOT_DECLARED' })
  t.match((await app.inject(post('/api/tools/maybe'))).json(), { content: [{ text: 'done' }] })
})

t.test('resources are listed and read', async t => {
  const app = await gateway(t, withRest({ tools: false }))
  t.match((await app.inject({ url: '/api/resources' })).json(), {
    resources: [{ uri: 'test://bytes' }, { uri: 'test://text' }],
    resourceTemplates: [{ uriTemplate: 'test://item/{id}' }]
  })
  const read = async (uri: string) => await app.inject({ url: '/api/resources', query: { uri } })
  t.strictSame((await read('test://text')).json(), { contents: [{ uri: 'test://text', mimeType: 'text/plain', text: 'hello' }] })
  t.match((await read('test://nothing')).json(), { status: 404, code: 'PATCHBAY_UNKNOWN_RESOURCE' })
})

t.test('callers, scopes, rates and views are those of every transport', async t => {
  const app = await gateway(t, withRest({
    apiKeys: [...apiKeys],
    views: { few: { description: 'Few', tools: ['echo'] } }
  }))
  const head = Object.fromEntries(headOf(ADA))
  const stranger = await app.inject(post('/api/tools/echo', { text: 'hi' }))
  t.match(stranger, { statusCode: 401, headers: { 'www-authenticate': /Bearer/, 'content-type': /^application\/problem\+json/ } })
  t.equal((await app.inject(post('/api/tools/echo', { text: 'hi' }, head))).statusCode, 200)
  t.equal((await app.inject(post('/api/few/tools/echo', { text: 'hi' }, head))).statusCode, 200)
  t.equal((await app.inject(post('/api/few/tools/text', {}, head))).statusCode, 404)
  t.match((await app.inject(post('/api/none/tools/text', {}, head))).json(), { status: 404, code: 'PATCHBAY_UNKNOWN_VIEW' })
  t.match((await app.inject(post('/api/tools/secret', {}, head))).json(), { status: 403, requiredScopes: ['few'] })
  t.strictSame(
    Object.keys((await app.inject({ url: '/api/few/openapi.json', headers: head })).json<{ paths: object }>().paths),
    ['/tools/echo']
  )
  t.notOk('/tools/secret' in (await app.inject({ url: '/api/openapi.json', headers: head })).json<{ paths: object }>().paths)
})

t.test('in a host application it is below the prefix, and problems stay problems', async t => {
  const app = await host(t, () => {}, { rest: true })
  t.strictSame((await app.inject(post('/ai/api/tools/echo', { text: 'hi' }))).json(), { text: 'hi' })
  t.match((await app.inject({ url: '/ai/api/tools/echo' })).json(), { status: 405, code: 'PATCHBAY_NOT_READ_ONLY' })
  t.match((await app.inject({ url: '/ai/api/openapi.json' })).json(), { servers: [{ url: 'http://localhost:80/ai/api' }] })
  t.equal((await app.inject('/own/broken')).statusCode, 418, 'errors of the host are the host\'s')
})
