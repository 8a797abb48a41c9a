import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { patchbay } from '../../../app.js'
import { connectV2 } from '../../clients/client-v2.js'
import { connectV1 } from '../../clients/sdk-v1.js'
import { Unreachable } from '../../support/npm-packages.js'
import { installApplication, serve, signIn, type Server } from './strangers.js'

/** Everything that its author adds: a file in the folder of plugins, which autoload finds. */
const FIVE_LINES = `import fp from 'fastify-plugin'
import { patchbay } from 'mcp-patchbay'
export default fp(async app => {
  await app.register(patchbay, { prefix: '/ai', allowAnonymous: true, routes: { headers: ['authorization'], include: ['* /api/tasks', '* /api/tasks/:id', 'GET /api/tasks/:id/picture'] } })
})`
const SIX = ['createTask', 'delete_api_tasks_id', 'get_api_tasks', 'get_api_tasks_id', 'get_api_tasks_id_picture', 'patch_api_tasks_id']
/** Where its page is, as its CORS plugin knows it. */
const ORIGIN = 'https://tasks.example'

let isInstalled = false

/** Runs a test where the packages of the application could be installed. */
const test = (name: string, body: (t: Test) => Promise<void>) => t.test(name, async t => {
  if (isInstalled) await body(t)
  else t.comment('NOT TESTED: the registry of npm cannot be reached')
})

t.test('the packages of the application are installed', { timeout: 900_000 }, async () => {
  isInstalled = await installApplication().then(() => true, (error: unknown) => {
    if (!(error instanceof Unreachable)) throw error
    process.stderr.write('NOT TESTED: the application of a stranger; the registry of npm cannot be reached\n')
    return false
  })
})

/** The official client at a server, with these headers. */
async function connect (t: Test, { url }: Server, headers: Record<string, string> = {}) {
  const { client, verbs } = await connectV2(t, new StreamableHTTPClientTransport(new URL(`${url}/ai/mcp`), { requestInit: { headers } }))
  return { verbs, client, call: async (name: string, args = {}) => await client.callTool({ name, arguments: args }) }
}

const message = (name: string, args: object = {}, id = 1): object =>
  ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })

/** Sends a message, or several, over plain HTTP. */
async function send ({ url }: Server, sent: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${url}/ai/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(sent)
  })
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.json() as object }
}

const ask = async (server: Server, name: string, args: object, headers: Record<string, string>) =>
  await send(server, message(name, args), headers)

test('five lines make tools of six routes, and of nothing else', async t => {
  t.equal(FIVE_LINES.split('\n').length, 5)
  const server = await serve(t, { lines: FIVE_LINES })
  const { client } = await connect(t, server)
  const { tools } = await client.listTools()
  t.strictSame(tools.map(({ name }) => name), SIX)
  const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  t.match(schemas['createTask'], { required: ['title'], properties: { title: { minLength: 3 }, due: { format: 'date' } } })
  t.strictSame(Object.keys(schemas['get_api_tasks']?.properties ?? {}), ['page', 'limit', 'status'], 'of all parts that hold together')
  t.notOk(schemas['get_api_tasks']?.required?.length, 'the route fills in what has a default')
  t.match(schemas['patch_api_tasks_id'], { required: ['id'], properties: { id: { type: 'integer', minimum: 1 } } })
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const name of ['createTask', 'get_api_tasks', 'patch_api_tasks_id']) {
    const check = ajv.compile(schemas[name] ?? {})
    t.ok(check({ id: 1, title: 'Buy milk', status: 'done' }), `references of ${name} lead somewhere`)
    t.notOk(check({ id: 1, title: 'Buy milk', status: 'soon' }), 'to the schema that was meant')
  }
  t.match(tools.find(({ name }) => name === 'get_api_tasks'), { description: 'Lists tasks, a page at a time', annotations: { readOnlyHint: true } })
  t.match(tools.find(({ name }) => name === 'delete_api_tasks_id'), { description: 'Deletes a task', annotations: { destructiveHint: true } })
  t.strictSame(server.log, [], 'and there is nothing to warn of')
})

test('with the token of a member, all six do what the routes do', async t => {
  const server = await serve(t, { lines: FIVE_LINES })
  const { call } = await connect(t, server, await signIn(server, 'ada'))
  const task = { id: 1, title: 'Buy milk', status: 'new', author: 'ada', assignee: null, parts: [] }
  t.strictSame((await call('createTask', { title: 'Buy milk' })).structuredContent, task, 'as the schema of the reply says')
  t.strictSame((await call('get_api_tasks', {})).structuredContent, { total: 1, tasks: [task] })
  t.match(await call('get_api_tasks', { status: 'done' }), { structuredContent: { total: 0 } })
  t.match(await call('patch_api_tasks_id', { id: 1, status: 'done' }), { structuredContent: { id: 1, status: 'done' } })
  t.match(await call('get_api_tasks_id', { id: '1' }), { structuredContent: { title: 'Buy milk', status: 'done' } })
  const picture = await call('get_api_tasks_id_picture', { id: 1 })
  t.match(picture, { content: [{ type: 'image', mimeType: 'image/png', data: /^iVBORw0KGgo.*=$/ }] }, 'a reply in parts')
  t.match(await call('delete_api_tasks_id', { id: 1 }), { content: [{ text: 'HTTP 204 No Content' }], isError: false })
  t.match(await call('get_api_tasks_id', { id: 1 }), { isError: true, content: [{ text: 'HTTP 404 Not Found\n{"problem":"There is no task 1"}' }] })
  const legacy = await connectV1(t, new TransportV1(new URL(`${server.url}/ai/mcp`), { requestInit: { headers: await signIn(server, 'bob') } }) as Transport)
  t.match(await legacy.call({ name: 'createTask', arguments: { title: 'In a session' } }), { structuredContent: { id: 2, author: 'bob' } })
})

test('wrong arguments come back in the words of its error handler', async t => {
  const server = await serve(t, { lines: FIVE_LINES })
  const { call } = await connect(t, server, await signIn(server, 'ada'))
  const wrong: Array<[string, object, string, RegExp]> = [
    ['createTask', {}, 'body', /must have required property 'title'/],
    ['createTask', { title: 'x' }, 'body/title', /must NOT have fewer than 3 characters/],
    ['get_api_tasks', { limit: 500 }, 'querystring/limit', /must be <= 100/],
    ['get_api_tasks', { status: 'soon' }, 'querystring/status', /must be equal to one of the allowed values/],
    ['patch_api_tasks_id', { id: 0, title: 'abc' }, 'params/id', /must be >= 1/],
    ['delete_api_tasks_id', { id: 'one' }, 'params/id', /must be integer/]
  ]
  for (const [name, args, place, says] of wrong) {
    const { isError, content: [block] } = await call(name, args)
    const { text } = block as { text: string }
    t.ok(isError)
    t.match(text, new RegExp(`^HTTP 400 Bad Request\n.*"problem":"${place} ${says.source}`), name)
    t.match(text, /"code":"FST_ERR_VALIDATION","fields":\[/)
  }
  t.match(await call('get_api_tasks_id', {}), { isError: true, content: [{ text: /"id" is missing/ }] })
})

test('a 401 of its hook is the 401 of the caller, and a failed result where there is more than one message', async t => {
  const server = await serve(t, { lines: FIVE_LINES })
  const { authorization } = await signIn(server, 'bob')
  const refused = /HTTP 401 Unauthorized\n.*"FST_JWT_NO_AUTHORIZATION_IN_HEADER"/
  t.match(await ask(server, 'get_api_tasks', {}, {}), { status: 401, body: { error: { message: refused } } })
  const broken = authorization.replace(/\.[^.]*\./, '.e30.')
  t.match(await ask(server, 'get_api_tasks', {}, { authorization: broken }), { status: 401, body: { error: { message: /TOKEN_INVALID/ } } })
  t.match(await ask(server, 'get_api_tasks', {}, { authorization }), { status: 200, body: { result: {} } })
  t.match(await ask(server, 'delete_api_tasks_id', { id: 1 }, { authorization }), {
    status: 403, body: { error: { message: /HTTP 403 Forbidden\n.*Only for the role admin/ } }
  })
  const stranger = await connect(t, server)
  const error: unknown = await stranger.call('get_api_tasks').catch((reason: unknown) => reason)
  t.match(error, { data: { status: 401 } }, 'the official client learns the status')
  const batch = await send(server, [message('get_api_tasks'), message('get_api_tasks_id', { id: 1 }, 2)])
  t.equal(batch.status, 200)
  const failed = { result: { isError: true, content: [{ text: refused }] } }
  t.match(batch.body, [failed, failed])
})

test('headers that are not named go no further, and a session counts where its cookie is named', async t => {
  const include = ['/api/tasks', '/api/profile']
  const withHeaders = async (headers: string[]) => await serve(t, {
    lines: FIVE_LINES.replace(/routes: \{.*?\}/, `routes: ${JSON.stringify({ headers, include })}`)
  })
  const cases = [[[], 401, 401], [['Authorization'], 200, 401], [['cookie'], 401, 200]] as const
  for (const [headers, byToken, bySession] of cases) {
    const server = await withHeaders([...headers])
    const member = await signIn(server, 'ada')
    t.match(await ask(server, 'get_api_tasks', {}, member), { status: byToken }, `${headers.join()}: the token`)
    const profile = await ask(server, 'get_api_profile', {}, member)
    t.match(profile, { status: bySession }, `${headers.join()}: the session`)
    if (bySession === 200) t.match(profile, { body: { result: { content: [{ text: /"name":"ada"/ }] } } })
  }
})

test('registered before or after the application, Patchbay has the same six', async t => {
  const options = { prefix: '/ai', allowAnonymous: true, routes: { headers: ['authorization'], include: ['* /api/tasks', '* /api/tasks/:id', 'GET /api/tasks/:id/picture'] } }
  for (const when of ['first', 'last']) {
    const server = await serve(t, { [when]: async (app: Server['app']) => { await app.register(patchbay, options) } })
    const name = when === 'first' ? 'createTask' : 'post_api_tasks'
    const { verbs, call } = await connect(t, server, await signIn(server, 'ada'))
    t.strictSame((await verbs.listTools()).tools.map(tool => tool.name), [...SIX.slice(1), name].sort())
    const task = { title: 'Buy milk' }
    t.match(await call(name, when === 'first' ? task : { body: task }), { structuredContent: { id: 1, author: 'ada' } })
    t.match(await call('get_api_tasks', when === 'first' ? { limit: 1 } : { query: { limit: 1 } }), { structuredContent: { total: 1 } })
    t.match(await call('get_api_tasks_id', { id: 1 }), { structuredContent: task })
    t.match(await ask(server, 'get_api_tasks', {}, {}), { status: 401 })
    t.strictSame(server.log.filter(line => !line.includes('"outcome":"refused"')), [])
  }
})

test('its helmet, CORS, rate limits, OpenAPI and handlers hold for Patchbay, too, and break nothing', async t => {
  const lines = FIVE_LINES
    .replace("prefix: '/ai'", `prefix: '/ai', allowedOrigins: ['${ORIGIN}']`)
    .replace(/include: \[.*?\]/, "include: ['/api/tasks/report.csv']")
  const server = await serve(t, { lines })
  const [url, headers] = [`${server.url}/ai/mcp`, { origin: ORIGIN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }]
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'mcp-session-id' }
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: ORIGIN, ...asked } })
  t.match([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, ORIGIN])
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'browser', version: '1' } }
  const opened = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }) })
  t.equal(opened.status, 200)
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
  const stream = await fetch(url, { headers: { ...session, origin: ORIGIN, accept: 'text/event-stream' } })
  t.match([stream.status, stream.headers.get('content-type')], [200, 'text/event-stream'])
  for (const reply of [opened, stream]) {
    t.equal(reply.headers.get('access-control-allow-origin'), ORIGIN)
    t.match(reply.headers.get('content-security-policy'), "default-src 'self'")
    t.match(Number(reply.headers.get('x-ratelimit-remaining')), Number)
  }
  await stream.body?.cancel()

  const member = await signIn(server, 'ada')
  const table = async () => (await ask(server, 'get_api_tasks_report_csv', { columns: ['title'] }, member)).body
  for (let count = 0; count < 3; count++) t.match(await table(), { result: { content: [{ type: 'text', text: 'title\n' }] } })
  t.match(await table(), { result: { isError: true, content: [{ text: /^HTTP 429 .*\n.*Rate limit exceeded.*\nTry again after \d+ / }] } })

  const { paths } = await (await fetch(`${server.url}/openapi.json`)).json() as { paths: object }
  t.notOk(Object.keys(paths).some(path => path.startsWith('/ai')), 'its OpenAPI document has its own routes')
  t.ok('/api/tasks/{id}' in paths)
  const missing = await fetch(`${server.url}/ai/nothing`)
  t.strictSame([missing.status, await missing.json()], [404, { problem: 'There is nothing at /ai/nothing' }])
})

test('a client that its rate limit refuses is told so in words, and when to come back', async t => {
  const server = await serve(t, { lines: FIVE_LINES, max: 5 })
  const replies = await Promise.all(Array.from({ length: 7 }, async () => await send(server, { jsonrpc: '2.0', id: 1, method: 'tools/list' })))
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 429, 429])
  const refused = replies.find(({ status }) => status === 429)
  t.match(refused, { headers: { 'retry-after': /\d/ }, body: { error: 'Too Many Requests', message: /Rate limit exceeded/ } })
})

test('its own routes answer as they do without Patchbay', async t => {
  const servers = [await serve(t, {}), await serve(t, { lines: FIVE_LINES })]
  const requests: Array<[string, RequestInit]> = [
    ['/api/tasks', {}], ['/api/tasks/1', { method: 'DELETE' }], ['/status', {}], ['/nothing', {}],
    ['/api/tasks', { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'POST' } }],
    ['/api/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":1' }],
    ['/api/auth/login', { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<name/>' }],
    ['/openapi.json', {}]
  ]
  for (const [path, request] of requests) {
    const [without, withIt] = await Promise.all(servers.map(async ({ url }) => {
      const reply = await fetch(`${url}${path}`, request)
      const { date: _date, ...headers } = Object.fromEntries(reply.headers)
      return { status: reply.status, headers, body: await reply.text() }
    }))
    t.strictSame(withIt, without, `${request.method ?? 'GET'} ${path}`)
  }
})
