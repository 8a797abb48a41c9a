import type { FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import { createClient, resource, tool, type Identity, type Options } from '../../../app.js'
import { startIssuer, RESOURCE } from '../../support/environment/issuer.js'
import { viewOf, VIEW_PARAMETER } from '../../../transports/http/gateway.js'
import { gateway } from '../../support/gateway.js'
import { ADA, bearer, BOB, listed } from '../../support/keys.js'
import { own } from './curated.js'

const views: Options['views'] = { maths: { tools: ['calc*'] }, other: {} }
const base: Partial<Options> = { tools: false, plugins: [own], views, metrics: true }

/** The answer to a request at a path, as JSON-RPC. */
async function ask (app: FastifyInstance, key: string, method: string, url = '/message'): Promise<unknown> {
  const payload = { jsonrpc: '2.0', id: 1, method, params: { server: 'x' } }
  return (await app.inject({ method: 'POST', url, headers: bearer(key), payload })).json()
}

const HIDDEN = { error: { code: -32601 } }

t.test('a bound key has the methods of operators only with the scope admin', async t => {
  const apiKeys = [
    listed('ada', ADA, ['mcp', 'metrics'], { view: 'maths' }),
    listed('bob', BOB, ['admin'], { view: 'maths' })
  ]
  const app = await gateway(t, { ...base, apiKeys })
  const get = async (key: string, url: string): Promise<{ statusCode: number, body: string }> =>
    await app.inject({ url, headers: bearer(key) })
  for (const method of ['patchbay/servers/log', 'patchbay/servers/start', 'patchbay/watch']) {
    t.match(await ask(app, ADA, method), HIDDEN, method)
  }
  t.match(await ask(app, BOB, 'patchbay/servers/log'), { error: { code: -32602, message: /no upstream server/ } })
  t.match(await ask(app, BOB, 'tools/list'), { result: { tools: [{ name: 'calculate' }] } }, 'and sees its view')
  t.strictSame(JSON.parse((await get(ADA, '/health')).body), { status: 'healthy', live: true, ready: true })
  t.match(JSON.parse((await get(BOB, '/health')).body), { name: String, uptime: Number })
  t.equal((await get(ADA, '/metrics')).statusCode, 200, 'the scope metrics was given to it by name')
})

t.test('a bound identity with all scopes has those of its view, not those of operators', async t => {
  const app = await gateway(t, { ...base, scopes: { 'tools/calculate': ['admin'] } })
  const identity: Identity = { principal: undefined, scopes: 'all', view: 'maths' }
  const client = await createClient(app, { identity })
  for (const method of ['patchbay/servers/log', 'patchbay/watch']) {
    await t.rejects(client.request(method, { server: 'x' }), { code: -32601 }, method)
  }
  t.match(await client.request('tools/list'), { tools: [] }, 'lists and calls agree')
  await t.rejects(client.call('calculate'), { message: /Unknown tool: calculate$/ })
  const whole = await createClient(app)
  t.match(await whole.request('tools/list'), { tools: [{ name: 'calculate' }, { name: 'write' }] })
})

t.test('the view of a credential wins over that of the URL, wherever it is asked for', t => {
  const request = (view: string | undefined): FastifyRequest =>
    ({ identity: { principal: 'ada', scopes: 'all', view }, params: { [VIEW_PARAMETER]: 'other' } }) as never
  t.equal(viewOf(request('maths')), 'maths')
  t.equal(viewOf(request(undefined)), 'other')
  t.end()
})

t.test('a token whose claim is there and names no view is refused', async t => {
  const issuer = await startIssuer(t)
  const oauth = { issuer: issuer.url, resource: RESOURCE, viewClaim: 'patchbay_view' }
  const app = await gateway(t, { ...base, oauth })
  const status = async (claims: object): Promise<number> => {
    const token = await issuer.sign({ scope: 'mcp', ...claims })
    const request = { method: 'POST' as const, url: '/message', headers: bearer(token) }
    return (await app.inject({ ...request, payload: { jsonrpc: '2.0', id: 1, method: 'ping' } })).statusCode
  }
  t.equal(await status({}), 200)
  for (const view of [null, [], {}, ['maths', 'other'], 7]) t.equal(await status({ patchbay_view: view }), 401)
  t.equal(await status({ patchbay_view: ['maths'] }), 200)
})

t.test('other spellings of what a view excludes are unknown, too', async t => {
  const files = resource({
    uri: 'file:///{+path}',
    name: 'file',
    complete: { path: () => ['secret/key', 'readme'] },
    read: ({ path }) => `read ${path}`
  })
  const plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.resources.add(files)
    mcp.tools.add(tool({ name: 'x', description: '', run: () => '' }))
  }
  const app = await gateway(t, {
    tools: false,
    plugins: [plugin],
    views: { some: { exclude: ['file:///secret/*', 'file:///hidden'] }, free: { exclude: ['x'] } }
  })
  const client = await createClient(app, { view: 'some' })
  t.match(await client.read('file:///readme'), { text: 'read readme' })
  for (const path of [
    'secret/key',
    '%73ecret/key',
    '%2573ecret/key',
    'a/../secret/key',
    './secret//key',
    'secret%2Fkey',
    'a/%2e%2e/secret/key',
    'secret/key?x',
    '%73ecret/key?%',
    '/secret/key',
    '//secret/key',
    '%2Fsecret/key',
    '\\secret/key',
    '%5Csecret\\key',
    '\tsecret/key',
    'se\ncret/key',
    'secret/key%00',
    '..//secret/key',
    'hidden/',
    'hidden%00',
    'hidden%00.txt'
  ]) {
    await t.rejects(client.read(`file:///${path}`), { code: -32002 }, path)
  }
  const complete = {
    ref: { type: 'ref/resource', uri: 'file:///{+path}' },
    argument: { name: 'path', value: '' }
  }
  t.match(await client.request('completion/complete', complete), { completion: { values: { length: 0 } } })
  const free = await createClient(app, { view: 'free' })
  t.match(await free.request('completion/complete', complete), { completion: { values: ['secret/key', 'readme'] } })
})
