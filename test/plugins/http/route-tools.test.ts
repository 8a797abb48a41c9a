import { Type, type Static, type TSchema } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyReply, type FastifyTypeProvider } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, McpError, patchbay, type Options } from '../../../app.js'
import { modernPost } from '../../support/host.js'

const OAUTH = { issuer: 'http://127.0.0.1:1', resource: 'http://localhost/shop/mcp', jwks: 'http://127.0.0.1:1/jwks' }

interface TypeBoxTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

const USERS: Record<string, { name: string, admin: boolean }> = {
  'token-ada': { name: 'ada', admin: true },
  'token-bob': { name: 'bob', admin: false }
}

/** The routes of an application of a stranger: schemas, an identity by a token, a prefix, a plugin. */
const taskRoutes: FastifyPluginAsync = async plain => {
  const app = plain.withTypeProvider<TypeBoxTypeProvider>()
  const Task = Type.Object({ id: Type.Integer(), title: Type.String() })
  app.addHook('onRequest', async (request, reply) => {
    if (request.identity?.principal === undefined) await reply.code(401).header('www-authenticate', 'Bearer realm="demo"').send({ message: 'log in' })
  })
  app.get('/', {
    schema: { description: 'Lists tasks', querystring: Type.Object({ page: Type.Integer({ default: 1 }), tag: Type.Optional(Type.Array(Type.String())) }) },
    config: { mcp: { name: 'list_tasks', description: 'Lists the tasks of a page' } }
  }, async ({ query, identity }) => ({ ...query, by: identity.principal }))
  app.get('/:id', {
    schema: { params: Type.Object({ id: Type.Integer() }), response: { 200: Task } },
    config: { mcp: { name: 'get_task' } }
  }, async ({ params: { id } }, reply) => id === 404 ? await (reply as FastifyReply).code(404).send({ message: 'no task' }) as never : { id, title: 'one', hidden: true })
  app.post('/', {
    schema: { body: Type.Object({ title: Type.String({ minLength: 2 }) }, { additionalProperties: false }) },
    config: { mcp: { name: 'create_task', description: 'Creates a task' } }
  }, async ({ body }, reply) => await reply.code(201).send({ id: 7, ...body }))
  app.patch('/:id', {
    schema: {
      params: Type.Object({ id: Type.Integer() }),
      body: Type.Object({ id: Type.Optional(Type.Integer()), title: Type.String() })
    },
    config: { mcp: { name: 'update_task' } }
  }, async ({ params, body }) => ({ path: params.id, body }))
  app.delete('/:id', {
    schema: { params: Type.Object({ id: Type.Integer() }) },
    preHandler: async (request, reply) => { if (request.identity.scopes !== 'all') await reply.code(403).send({ message: 'for admins' }) },
    config: { mcp: { name: 'delete_task' } }
  }, async (_request, reply) => await reply.code(204).send())
  app.get('/icon', { config: { mcp: { name: 'icon' } } }, async (_request, reply) => await reply.type('image/png').send(Buffer.from([1, 2])))
  app.get('/private', async () => 'never a tool')
}

async function demo (
  t: Test,
  options: Partial<Options> = {},
  more: (app: FastifyInstance) => unknown = () => {}
): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => await app.close())
  app.decorateRequest('identity')
  app.addHook('onRequest', async request => {
    const user = USERS[String(request.headers.authorization).replace('Bearer ', '')]
    if (user !== undefined) request.identity = { principal: user.name, scopes: user.admin ? 'all' : new Set(['mcp']) }
  })
  await app.register(patchbay, { prefix: '/ai', grace: 1_000, routes: {}, ...options })
  await more(app)
  await app.register(taskRoutes, { prefix: '/api/tasks' })
  await app.ready()
  return app
}

const call = async (app: FastifyInstance, name: string, args: object, token = 'token-ada') => {
  const request = modernPost(name, args)
  return await app.inject({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
}
const resultOf = async (...asked: Parameters<typeof call>): Promise<Record<string, unknown>> =>
  (await call(...asked)).json<{ result: Record<string, unknown> }>().result

t.test('six routes of an application are tools, with their schemas, checks, hooks and replies', async t => {
  const app = await demo(t)
  const names = app.mcp.tools.names()
  t.strictSame(names, ['create_task', 'delete_task', 'get_task', 'icon', 'list_tasks', 'update_task'])
  t.match(app.mcp.tools.get('update_task')?.listed, {
    inputSchema: {
      properties: { id__path: { type: 'integer' }, id__body: { type: 'integer' }, title: { type: 'string' } },
      required: ['id__path', 'title']
    },
    annotations: { readOnlyHint: false, openWorldHint: false }
  })
  t.match(await resultOf(app, 'list_tasks', { page: 2, tag: ['a', 'b'] }), {
    structuredContent: { page: 2, tag: ['a', 'b'], by: 'ada' }
  })
  t.match(await resultOf(app, 'list_tasks', {}), { structuredContent: { page: 1 } }, 'defaults are those of the route')
  t.strictSame((await resultOf(app, 'get_task', { id: 3 })).structuredContent, { id: 3, title: 'one' }, 'serialised by its schema')
  t.match(await resultOf(app, 'get_task', { id: 404 }), { isError: true, content: [{ text: /HTTP 404 Not Found\n.*no task/ }] })
  t.match(await resultOf(app, 'create_task', { title: 'new' }), { structuredContent: { id: 7, title: 'new' } })
  t.match(await resultOf(app, 'create_task', { title: 'n' }), { isError: true, content: [{ text: /HTTP 400.*\n.*body\/title/ }] })
  t.match(await resultOf(app, 'update_task', { id__path: 1, id__body: 2, title: 'x' }), {
    structuredContent: { path: 1, body: { id: 2, title: 'x' } }
  })
  t.match(await resultOf(app, 'delete_task', { id: 1 }), { content: [{ text: 'HTTP 204 No Content' }], isError: false })
  t.match(await resultOf(app, 'icon', {}), { content: [{ type: 'image', data: 'AQI=', mimeType: 'image/png' }] })
})

t.test('a refusal of a hook is the status of the caller, and a failed result where there is no status', async t => {
  const app = await demo(t)
  const refused = await call(app, 'delete_task', { id: 1 }, 'token-bob')
  t.match(refused, { statusCode: 403 })
  t.match(refused.json(), { error: { data: { code: 'PATCHBAY_ROUTE_REFUSED' }, message: /for admins/ } })
  const client = await createClient(app, { identity: { principal: 'bob', scopes: new Set(['mcp']) } })
  await t.rejects(client.call('delete_task', { id: 1 }), /HTTP 403/)
  client.close()
})

t.test('a 401 of a hook is the 401 of the caller, with its challenge', async t => {
  const app = await demo(t, { allowAnonymous: true })
  const refused = await call(app, 'list_tasks', {}, 'nobody')
  t.match(refused, { statusCode: 401, headers: { 'www-authenticate': 'Bearer realm="demo"' } })
})

t.test('no client can take the identity of a call, and headers of callers go no further unless they are named', async t => {
  const seen: Array<Record<string, unknown>> = []
  const withEcho = (app: FastifyInstance): void => {
    app.get('/headers', { config: { mcp: { name: 'headers' } } }, async ({ headers, identity, ip }) => {
      seen.push(headers)
      return { principal: identity?.principal ?? null, ip }
    })
  }
  const app = await demo(t, {}, withEcho)
  t.match(await app.inject({ url: '/headers', headers: { 'x-patchbay-call': 'x' } }).then(reply => reply.json<unknown>()), { principal: null })
  t.match(await resultOf(app, 'headers', {}, 'token-bob'), { structuredContent: { principal: 'bob' } })
  t.notOk('authorization' in (seen.at(-1) ?? {}))
  t.notOk('x-patchbay-call' in (seen.at(-1) ?? {}), 'and it is taken off')
  const named = await demo(t, { routes: { headers: ['Authorization'] } }, withEcho)
  await resultOf(named, 'headers', {}, 'token-bob')
  t.match(seen.at(-1), { authorization: 'Bearer token-bob' })
})

t.test('no argument stands in for a header that says who calls, nor for one that the operator named', async t => {
  const refused = [
    'x-auth-request-user', 'X-Real-IP', 'x-original-url', 'x-client-cert', 'x-client-cert-dn', 'x-remote-user',
    'Remote-User', 'via', 'x-authenticated-userid', 'mcp-session-id', 'te', 'Upgrade', 'expect', 'x-patchbay-call', 'x-forwarded-user', 'authorization'
  ]
  const headers = Object.fromEntries([...refused, 'X-User', 'X-Asked', 'x-remotely'].map(name => [name, { type: 'string' }]))
  const app = await demo(t, { routes: { headers: ['x-user'] } }, app => {
    const schema = { headers: { type: 'object', properties: headers } }
    app.get('/headers', { schema, config: { mcp: { name: 'headers' } } }, async ({ headers }) => ({ headers }))
  })
  const { properties } = app.mcp.tools.get('headers')?.listed.inputSchema as { properties: object }
  t.strictSame(Object.keys(properties), ['X-Asked', 'x-remotely'])
  const request = modernPost('headers', Object.fromEntries(Object.keys(headers).map(name => [name, 'argument'])))
  const sent = { ...request.headers, authorization: 'Bearer token-ada', 'x-user': 'ada', 'x-auth-request-user': 'ada' }
  const reply = await app.inject({ ...request, headers: sent })
  const { result } = reply.json<{ result: { structuredContent: { headers: Record<string, string> } } }>()
  const got = result.structuredContent.headers
  t.match(got, { 'x-user': 'ada', 'x-asked': 'argument', 'x-remotely': 'argument' })
  for (const name of refused) t.not(got[name.toLowerCase()], 'argument', name)
  const without = await resultOf(app, 'headers', { 'X-User': 'eve', 'x-user': 'eve' })
  t.notMatch(without.structuredContent, { headers: { 'x-user': 'eve' } }, 'where the caller has none, there is none')
})

t.test('routes that the option includes are tools, before and after; no other is, and none of Patchbay', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  app.get('/shop/early/:id', { schema: { querystring: Type.Object({ n: Type.Integer() }) } }, async ({ params, query }) => ({ ...Object(params), ...Object(query) }))
  app.post('/shop/early', async ({ body }) => ({ body }))
  app.get('/other', async () => 'other')
  await app.register(patchbay, { prefix: '/shop', routes: { include: ['/shop/*', 'GET /x'] }, console: true, metrics: true, rest: true, oauth: OAUTH, allowAnonymous: true })
  app.addSchema({ $id: 'thing', type: 'object', properties: { inner: { $ref: '#' }, name: { type: 'string' } } })
  app.put('/shop/late/:id', { schema: { body: { $ref: 'thing#' } } }, async ({ params, body }) => ({ params, body }))
  app.get('/shop/secret', { config: { mcp: false } }, async () => 'secret')
  app.route({ method: ['GET', 'POST'], url: '/x', handler: async () => [1, 2] })
  await app.ready()
  t.strictSame(app.mcp.tools.names(), ['get_shop_early_id', 'get_x', 'post_shop_early', 'put_shop_late_id'])
  const client = await createClient(app)
  t.match(await client.call('get_shop_early_id', { id: 'a/b', query: { n: 3 } }), { output: { id: 'a/b', n: 3 } })
  t.match(await client.call('post_shop_early', { body: [1] }), { output: { body: [1] } })
  t.match(await client.call('put_shop_late_id', { id: '1', name: 'n', inner: { name: 'i' } }), {
    output: { params: { id: '1' }, body: { name: 'n', inner: { name: 'i' } } }
  })
  t.match(await client.call('get_x', {}), { output: { result: [1, 2] } })
  for (const id of ['..', '.', '', null, {}, [], '\ud800']) {
    await t.rejects(client.call('get_shop_early_id', { id, query: { n: 1 } }), /"id"/, JSON.stringify(id))
  }
  await t.rejects(client.call('get_shop_secret', {}), McpError)
  client.close()
})

t.test('a pattern that no route fits is named in a warning, as is one for routes of another scope', async t => {
  const log: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { log.push(line) } } } })
  t.teardown(async () => await app.close())
  await app.register(async scope => {
    await scope.register(patchbay, { prefix: '/ai', allowAnonymous: true, routes: { include: ['/seen/', 'GET /seen', '/beside', 'POST /seen*'] } })
    scope.get('/seen', async () => 'seen')
  })
  app.get('/beside', async () => 'beside')
  await app.ready()
  t.strictSame(log.map(line => /no route fits \\"(.*?)\\"/.exec(line)?.[1]), ['/beside', 'POST /seen*'])
})
