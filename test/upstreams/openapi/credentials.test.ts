import { writeFileSync } from 'node:fs'
import t from 'tap'
import { checkedLookup } from '../../../lib/address-check.js'
import { until } from '../../support/wait.js'
import { loggedGateway } from '../sign-in/place.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { Speaker } from '../../support/speaker.js'
import { apiServer, documentOf, fileOf, inFrontOfApi, sendJson } from './api.js'

const SECRET = 'secret-of-the-client'
const PATHS = { '/pets': { get: { operationId: 'pets' } } }

t.test('a hundred calls at once need one token, which is asked for again once it is refused or ends', async t => {
  const tokens: string[] = []
  const issuer = await apiServer(t, ({ headers, body }, response) => {
    t.equal(headers.authorization, `Basic ${Buffer.from(`gateway:${encodeURIComponent(SECRET)}`).toString('base64')}`)
    t.match(String(body), /^scope=read&grant_type=client_credentials$/)
    tokens.push(`token-${tokens.length + 1}-of-the-api`)
    sendJson(response, { access_token: tokens.at(-1), token_type: 'Bearer', expires_in: 3_600 })
  })
  let refused = ''
  const api = await apiServer(t, ({ headers }, response) => {
    const { authorization = '' } = headers
    sendJson(response, { said: authorization }, authorization === refused ? 401 : 200)
  })
  const { app, log } = await loggedGateway(t, {
    ephemeral: true,
    mcpServers: {
      api: {
        openapi: fileOf(t, documentOf(PATHS)),
        url: api.url,
        credentials: { tokenUrl: `${issuer.url}/token`, clientId: 'gateway', clientSecret: SECRET, scopes: ['read'] }
      }
    }
  })
  await upstreamsReady(app, ['api'])
  const client = new Speaker(app)
  const call = async () => (await client.tool('api__pets')).result
  t.equal(tokens.length, 0, 'nothing is asked for before the first call')
  const results = await Promise.all(Array.from({ length: 100 }, call))
  t.ok(results.every(({ isError }) => isError !== true))
  t.equal(tokens.length, 1)
  refused = `Bearer ${tokens[0]}`
  t.match(await call(), { isError: true }, 'a token that was just given is not replaced at once')
  t.equal(tokens.length, 1)
  t.equal(issuer.received.length, 1)
  const texts = log.join('') + JSON.stringify(app.mcp.upstreams.status()) + JSON.stringify(await call())
  for (const secret of [SECRET, ...tokens]) t.notOk(texts.includes(secret), 'no secret is told')
})

t.test('a token is replaced before it ends', async t => {
  let count = 0
  const issuer = await apiServer(t, (_request, response) => sendJson(response, { access_token: `short-lived-${++count}`, token_type: 'bearer', expires_in: count === 1 ? 0 : 3_600 }))
  const api = await apiServer(t)
  const { call } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf(PATHS)), url: api.url, credentials: { tokenUrl: issuer.url, clientId: 'c', clientSecret: SECRET }
  })
  for (let calls = 0; calls < 3; calls++) await call('pets')
  t.strictSame(api.received.map(({ headers }) => headers.authorization), ['Bearer short-lived-1', 'Bearer short-lived-2', 'Bearer short-lived-2'])
})

t.test('a token that cannot be had is an error that says why, without the secret', async t => {
  const issuer = await apiServer(t, (_request, response) => sendJson(response, { error: 'invalid_client', error_description: SECRET }, 400))
  const api = await apiServer(t)
  const { call } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf(PATHS)), url: api.url, credentials: { tokenUrl: issuer.url, clientId: 'c', clientSecret: SECRET }
  })
  await t.rejects(call('pets'), { message: /^The upstream server api failed: no token could be had with client credentials: .*invalid_client$/ })
  t.equal(api.received.length, 0)
})

t.test('a name that was on the Internet does not lead into a network later', async t => {
  let address = '93.184.216.34'
  type Done = (error: null, found: object[]) => void
  const resolve = ((_name: string, _options: object, done: Done) => done(null, [{ address, family: 4 }])) as never
  const find = async (lookup: ReturnType<typeof checkedLookup>, name = 'api.example') =>
    await new Promise(resolve => lookup(name, { all: true }, (error, found) => resolve(error?.code ?? found)))
  const named = checkedLookup(true, resolve)
  t.match(await find(named), [{ address }])
  address = '169.254.169.254'
  t.equal(await find(named), 'ERR_ADDRESS_REFUSED')
  t.equal(await find(checkedLookup(false, resolve)), 'ERR_ADDRESS_REFUSED', 'a host that only a document names')
  t.equal(await find(checkedLookup(false, resolve), 'localhost'), 'ERR_ADDRESS_REFUSED')
  address = '10.0.0.1'
  const local = checkedLookup(true, resolve)
  t.match(await find(local), [{ address }], 'a host in a network that the operator named')
  address = '127.0.0.1'
  t.equal(await find(local), 'ERR_ADDRESS_REFUSED')
})

t.test('a changed document changes the tools that differ, once, and a broken one changes nothing', async t => {
  const api = await apiServer(t)
  const openapi = fileOf(t, documentOf({ '/a': { get: { operationId: 'a' } }, '/b': { get: { operationId: 'b' } } }))
  const { app, call, client } = await inFrontOfApi(t, { openapi, url: api.url })
  const entry = app.mcp.upstreams.get('api')?.entry
  if (entry === undefined) throw new Error('there is no server')
  const before = app.mcp.tools.get('api__a')
  const reload = async (document: object | string): Promise<void> => {
    writeFileSync(openapi, typeof document === 'string' ? document : JSON.stringify(document))
    await app.mcp.upstreams.configure([entry])
  }
  await reload(documentOf({ '/a': { get: { operationId: 'a' } }, '/c': { get: { operationId: 'c', summary: 'New' } } }))
  await until(() => app.mcp.tools.get('api__c') !== undefined, 'the new tool')
  t.equal(app.mcp.tools.get('api__a'), before, 'a tool that did not change is the same')
  t.equal(app.mcp.tools.get('api__b'), undefined)
  await call('c')
  const changes = () => client.notifications.filter(({ method }) => method === 'notifications/tools/list_changed').length
  await until(() => changes() > 0, 'the announcement')
  t.equal(changes(), 1)
  await reload('{')
  await reload(documentOf({ '/a': { get: { operationId: 'a' } }, '/d': { get: { operationId: 'd' } } }))
  await until(() => app.mcp.tools.get('api__d') !== undefined, 'the tool after the broken document')
  t.equal(app.mcp.tools.get('api__a'), before)
  t.match(app.mcp.upstreams.status(), [{ state: 'ready', restarts: 0 }])
})
