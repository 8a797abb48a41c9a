import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { patchbay, tool, type Options } from '../../app.js'
import { folder } from '../support/process.js'
import { within } from '../support/wait.js'

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'orders', arguments: {} } }
const ADA = { 'x-user': 'ada' }
const STREAM = { accept: 'text/event-stream' }
const NO_IDENTITY = /the application did not say who is calling/

interface User { id: string, sessionEnds?: number }
const whoIs = async ({ headers }: FastifyRequest): Promise<User | undefined> =>
  headers['x-user'] === undefined ? undefined : { id: String(headers['x-user']) }

type Sample = (given: object) => Promise<FastifyInstance>

/** The code of docs/embed.md that sets the identity of the caller, as it is printed there. */
async function printed (t: Test): Promise<FastifyInstance> {
  const page = readFileSync(new URL('../../../docs/embed.md', import.meta.url), 'utf8')
  const code = [...page.matchAll(/^```ts\n(.*?)^```/gms)]
    .map(([, text]) => text as string)
    .find(text => text.includes('whoIs'))
  t.ok(code, 'the sample is there')
  const path = join(
    await folder(t, {
      'sample.mjs': `export default async ({ Fastify, patchbay, whoIs }) => {\n${code}\nreturn app }`
    }),
    'sample.mjs'
  )
  const { default: sample } = await import(pathToFileURL(path).href) as { default: Sample }
  return await serving(t, await sample({ Fastify, patchbay, whoIs }))
}

async function serving (t: Test, app: FastifyInstance): Promise<FastifyInstance> {
  t.teardown(async () => await app.close())
  app.mcp.tools.add(tool({ name: 'orders', description: 'Open orders.', run: () => 'three' }))
  app.mcp.tools.add(tool({ name: 'purge', description: 'Deletes all.', scopes: ['purge'], run: () => 'gone' }))
  await app.ready()
  return app
}

/** An application that sets identities, but did not decorate requests with them. */
async function undecorated (t: Test, options: Partial<Options> = {}): Promise<FastifyInstance> {
  const app = Fastify()
  app.addHook('onRequest', async request => {
    const user = await whoIs(request)
    if (user !== undefined) request.identity = { principal: user.id, scopes: new Set(['mcp']) }
  })
  await app.register(patchbay, { prefix: '/ai', ...options, limits: { maxEventLoopDelay: 60_000, ...options.limits } })
  return await serving(t, app)
}

const post = async (app: FastifyInstance, headers: Record<string, string> = {}, payload: object = MESSAGE) =>
  await app.inject({ method: 'POST', url: '/ai/message', headers, payload })

async function upgrade (app: FastifyInstance, path: string, headers: Record<string, string> = {}): Promise<number> {
  const { port } = app.server.address() as { port: number }
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
  socket.on('error', () => {})
  const status = await within(
    60_000,
    async signal =>
      await Promise.race([
        once(socket, 'open', { signal }).then(() => 101),
        once(socket, 'unexpected-response', { signal }).then(
          ([, response]) => (response as { statusCode: number }).statusCode
        )
      ])
  )
  socket.terminate()
  return status
}

t.test('docs/embed.md: a stranger has no rights, from the very first request on, whatever it asks for', async t => {
  const app = await printed(t)
  const first = await post(app)
  t.match(first, { statusCode: 401, body: NO_IDENTITY, headers: { 'www-authenticate': /^Bearer / } })
  t.match(
    await app.inject({
      method: 'POST',
      url: '/ai/mcp',
      headers: { accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
    }),
    { statusCode: 401, body: NO_IDENTITY }
  )
  for (const url of ['/ai/mcp', '/ai/sse', '/ai/mcp/sse', '/ai/sse?ticket=x']) {
    t.equal((await app.inject({ url, headers: STREAM })).statusCode, 401, url)
  }
  t.match(
    await post(app, { authorization: 'Bearer of-something' }),
    { statusCode: 401, body: NO_IDENTITY },
    'a credential that cannot be checked here counts as none'
  )
  t.equal((await app.inject({ method: 'POST', url: '/ai/ticket' })).statusCode, 401)
  t.strictSame(Object.keys((await app.inject({ url: '/ai/health' })).json()), ['status', 'live', 'ready'])
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.equal(await upgrade(app, '/ai/mcp'), 401)
})

t.test('docs/embed.md: a user has the rights that the application grants, and no others', async t => {
  const app = await printed(t)
  t.match((await post(app, ADA)).json(), { result: { content: [{ text: 'three' }] } })
  t.equal((await post(app, ADA, { ...MESSAGE, params: { name: 'purge' } })).statusCode, 403)
  t.strictSame(
    (await post(app, ADA, { ...MESSAGE, method: 'tools/list', params: {} }))
      .json<{ result: { tools: Array<{ name: string }> } }>()
      .result.tools.map(({ name }) => name),
    ['orders'],
    'its own tools, and of them those that a user may call'
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.equal(await upgrade(app, '/ai/mcp', ADA), 101)
  const { ticket } = (await app.inject({ method: 'POST', url: '/ai/ticket', headers: ADA })).json<{ ticket: string }>()
  t.equal(await upgrade(app, `/ai/mcp?ticket=${ticket}`), 101, 'a ticket stands for its user')
  t.equal(await upgrade(app, `/ai/mcp?ticket=${ticket}`), 401, 'once')
})

t.test('identities that were not announced are used from the first one on', async t => {
  const app = await undecorated(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const early = new WebSocket(`ws://127.0.0.1:${port}/ai/mcp`)
  t.teardown(() => early.terminate())
  await once(early, 'open')
  t.equal((await post(app)).statusCode, 200, 'nothing has told it yet')
  t.equal((await post(app, ADA)).statusCode, 200)
  t.match(await post(app), { statusCode: 401, body: NO_IDENTITY })
  t.equal(app.mcp.dispatcher.lifecycle.peers.size, 0, 'the connection of a stranger hears nothing more')
  const closed = once(early, 'close')
  early.send(JSON.stringify(MESSAGE))
  t.match(await within(60_000, async () => await closed), [4401])
})

t.test('a call of a stranger that is in flight when the first identity is set is answered with an error', async t => {
  const app = await undecorated(t)
  const begun = new EventEmitter()
  app.mcp.tools.add(
    tool({
      name: 'wait',
      description: 'd',
      run: async (_input, { signal }) => {
        begun.emit('call')
        await once(signal, 'abort')
      }
    })
  )
  const started = once(begun, 'call')
  const waiting = post(app, {}, { ...MESSAGE, params: { name: 'wait' } })
  await started
  t.equal((await post(app, ADA)).statusCode, 200)
  t.match((await waiting).json(), {
    id: 1,
    error: { code: -32603, message: /identifies its callers, and not this one/ }
  })
})

t.test('an application may grant strangers every right explicitly', async t => {
  const app = await undecorated(t, { allowAnonymous: true })
  t.equal((await post(app, ADA)).statusCode, 200)
  t.equal((await post(app, ADA, { ...MESSAGE, params: { name: 'purge' } })).statusCode, 403)
  t.match((await post(app, {}, { ...MESSAGE, params: { name: 'purge' } })).json(), {
    result: { content: [{ text: 'gone' }] }
  })
})

t.test('an identity that is null is none', async t => {
  const app = Fastify()
  app.decorateRequest('identity', null as never)
  await app.register(patchbay, { prefix: '/ai' })
  await serving(t, app)
  t.match(await post(app), { statusCode: 401, body: NO_IDENTITY })
})

t.test('decorating requests with an identity after the registration is an error at start', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai' })
  app.decorateRequest('identity')
  await t.rejects(async () => await app.ready(), /decorated with 'identity' after Patchbay was registered/)
})

t.test('an application that sets no identities serves every caller', async t => {
  const app = Fastify()
  await app.register(patchbay, { prefix: '/ai' })
  await serving(t, app)
  t.match((await post(app)).json(), { result: { content: [{ text: 'three' }] } })
})
