import t from 'tap'
import { EntryLookups } from '../../../lib/address-check.js'
import { ReplyBudget } from '../../../transports/client/reply-budget.js'
import { openSite } from '../../../upstreams/openapi/site.js'
import { ClientCredential } from '../../../upstreams/sign-in/client-credential.js'
import { ADA, apiKeys, bearer } from '../../support/keys.js'
import { modernMeta } from '../../support/modern.js'
import { apiServer, documentOf, fileOf, inFrontOfApi, latest, sendJson } from './api.js'

/** Headers of every request that the gateway makes for itself. */
const OWN = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']

t.test('of a caller over HTTP nothing reaches an API but the arguments', async t => {
  const api = await apiServer(t)
  const parameter = (name: string): object => ({ name, in: 'header', schema: { type: 'string' } })
  const parameters = ['X-Asked', 'Authorization', 'Cookie', 'X-Api-Key', 'X-Forwarded-For'].map(parameter)
  const { app } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/pets': { get: { operationId: 'pets', parameters } } })),
    url: api.url,
    headers: { 'X-Api-Key': 'key-of-the-entry' }
  }, { apiKeys })
  const _meta = { ...modernMeta(), progressToken: 'token-of-the-caller', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', secret: 'meta-of-the-caller' }
  for (const credential of [bearer(ADA), { 'x-api-key': ADA }]) {
    const reply = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        ...credential,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'api__pets',
        cookie: 'session=cookie-of-the-caller',
        'x-forwarded-for': '203.0.113.9',
        'user-agent': 'agent-of-the-caller'
      },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'api__pets', arguments: { 'X-Asked': 'asked' }, _meta } }
    })
    t.match(reply.json(), { result: { structuredContent: {} } }, reply.body)
    const { headers, url, body } = latest(api)
    t.strictSame(Object.keys(headers).sort(), [...OWN, 'x-api-key', 'x-asked'].sort())
    t.match(headers, { 'x-api-key': 'key-of-the-entry', 'x-asked': 'asked' })
    t.equal(url, '/pets')
    t.equal(body.length, 0)
    for (const secret of ['of-the-caller', ADA, '203.0.113.9', '0af7651916cd']) t.notOk(JSON.stringify(headers).includes(secret), secret)
  }
})

t.test('the server of a document at another origin than the API gets none of its headers', async t => {
  const documents = await apiServer(t, (_request, response) => sendJson(response, documentOf({ '/pets': { get: { operationId: 'pets' } } })))
  const api = await apiServer(t)
  const headers = { Authorization: 'Bearer for-the-api-alone', 'X-Key': 'for-the-api-too' }
  const entry = { openapi: `${documents.url}/openapi.json`, url: `${api.url}/v1?key=in-the-query`, headers }
  const { call } = await inFrontOfApi(t, entry)
  await call('pets')
  t.strictSame(documents.received.map(({ url }) => url), ['/openapi.json'])
  t.strictSame(Object.keys(latest(documents).headers).filter(name => !OWN.includes(name)), [])
  t.match(latest(api), { url: '/v1/pets?key=in-the-query', headers: { authorization: 'Bearer for-the-api-alone', 'x-key': 'for-the-api-too' } })
  const same = await apiServer(t, ({ url }, response) => sendJson(response, url === '/openapi.json' ? documentOf({ '/pets': { get: { operationId: 'pets' } } }) : {}))
  await inFrontOfApi(t, { ...entry, openapi: `${same.url}/openapi.json`, url: same.url })
  t.match(latest(same).headers, { authorization: 'Bearer for-the-api-alone' }, 'at its own origin it gets them')
})

t.test('a hundred calls whose token is refused at once get one other token, and all succeed', async t => {
  let asked = 0
  let refused = ''
  const api = await apiServer(t, ({ headers: { authorization = '' }, method, body }, response) =>
    sendJson(response, { method, body: String(body) }, authorization === refused ? 401 : 200))
  const credential = new ClientCredential(async () => {
    const accessToken = `token-${++asked}`
    await new Promise(resolve => { setImmediate(resolve) })
    return { accessToken }
  }, undefined, 0)
  const address = { kind: 'openapi', document: 'api.json', url: api.url, headers: {}, operations: {} } as const
  const replies = new ReplyBudget(1_000_000, 10_000_000)
  const limits = { maxReply: 1_000_000, maxDocument: 1, connections: 64, maxQueue: 4_000_000 }
  const lookups = new EntryLookups()
  const site = await openSite(new URL(api.url), address, { ...limits, credential, replies, lookups })
  t.teardown(async () => await site.client.close())
  const call = async (index: number) => {
    const method = index % 2 === 0 ? 'GET' : 'POST'
    const request = { method, path: '/', headers: [], ...(method === 'POST' ? { body: `body ${index}` } : {}) } as const
    const { status, body } = await site.send({ ...request, headers: [] }, `caller ${index % 7}`, async exchange => await exchange.reply)
    return { status, ...JSON.parse(String(body)) as object }
  }
  t.match(await call(0), { status: 200 })
  refused = 'Bearer token-1'
  const before = api.received.length
  const all = await Promise.all(Array.from({ length: 100 }, async (_, index) => await call(index)))
  t.equal(asked, 2, 'one more token')
  for (const [index, reply] of all.entries()) {
    t.strictSame(reply, index % 2 === 0 ? { status: 200, method: 'GET', body: '' } : { status: 200, method: 'POST', body: `body ${index}` })
  }
  const later = api.received.slice(before)
  const posts = later.filter(({ headers, method }) => method === 'POST' && headers.authorization === 'Bearer token-2')
  t.strictSame(posts.map(({ body }) => String(body)).sort(), Array.from({ length: 50 }, (_, index) => `body ${2 * index + 1}`).sort(), 'each is accepted once')
})
