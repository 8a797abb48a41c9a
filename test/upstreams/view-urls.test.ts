import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import websocket from '@fastify/websocket'
import t from 'tap'
import { tool } from '../../app.js'
import { overWebSocket, upgradeStatus, INITIALIZE, callOf } from '../app/mount-clients.js'
import { gateway, listening } from '../support/gateway.js'
import { host } from '../support/host.js'
import { openStream } from '../support/event-reader.js'
import { ADA, apiKeys, bearer } from '../support/keys.js'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const initialize = JSON.parse(INITIALIZE) as object

t.test(
  'the URL of an upstream that is not configured answers 404 in words, with every method that is served',
  async t => {
    const app = await gateway(t)
    app.mcp.views.open('alpha')
    for (const [method, url] of [
      ['POST', '/mcp/alfa'],
      ['GET', '/mcp/alfa'],
      ['DELETE', '/mcp/alfa'],
      ['GET', '/sse/alfa'],
      ['POST', '/message/alfa'],
      ['GET', '/mcp/sse/alfa'],
      ['POST', '/mcp/Alpha'],
      ['POST', '/mcp/a%2Fb']
    ] as const) {
      const { statusCode, body } = await app.inject({
        method,
        url,
        headers: JSON_HEADERS,
        ...(method === 'POST' ? { payload: PING } : {})
      })
      t.equal(statusCode, 404, `${method} ${url}`)
      t.match(JSON.parse(body), {
        error: {
          message:
            /there is no view or upstream server ".*"; use the name of a view, the alias of a server as \/health lists it, or \/mcp/,
          data: { code: 'PATCHBAY_UNKNOWN_VIEW' }
        }
      })
    }
    t.match(
      (await app.inject({ method: 'POST', url: `/mcp/${'x'.repeat(99)}`, headers: JSON_HEADERS, payload: PING }))
        .statusCode,
      404
    )
    t.equal((await app.inject({ method: 'PUT', url: '/mcp/alpha' })).statusCode, 405)
    t.equal(
      (await app.inject({ method: 'POST', url: '/mcp/alpha', headers: JSON_HEADERS, payload: PING })).statusCode,
      200
    )
    t.equal(
      (await app.inject({ method: 'POST', url: '/mcp/%61lpha', headers: JSON_HEADERS, payload: PING })).statusCode,
      200,
      'encoded'
    )
    const { url } = await listening(t)
    t.equal(await upgradeStatus(`${url}/mcp/alfa`, {}), 404)
  }
)

t.test('a credential comes first: without one it is not said which upstreams there are', async t => {
  const app = await gateway(t, {
    apiKeys,
    oauth: { issuer: 'http://127.0.0.1:1', resource: 'http://localhost/mcp', jwks: 'http://127.0.0.1:1/jwks' }
  })
  app.mcp.views.open('alpha')
  for (const url of ['/mcp/alpha', '/mcp/alfa']) {
    const { statusCode, headers } = await app.inject({ method: 'POST', url, headers: JSON_HEADERS, payload: PING })
    t.equal(statusCode, 401)
    t.match(
      headers['www-authenticate'],
      /resource_metadata="http:\/\/localhost\/\.well-known\/oauth-protected-resource\/mcp"/
    )
    t.match((await app.inject(`/.well-known/oauth-protected-resource${url}`)).json(), {
      resource: 'http://localhost/mcp'
    })
  }
  t.equal(
    (
      await app.inject({
        method: 'POST',
        url: '/mcp/alpha',
        headers: { ...JSON_HEADERS, ...bearer(ADA) },
        payload: PING
      })
    ).statusCode,
    200
  )
  const { ticket } = (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })).json<{
    ticket: string
  }>()
  t.equal(
    (await app.inject({ url: `/mcp/alpha?ticket=${ticket}`, headers: { accept: 'text/event-stream' } })).statusCode,
    400,
    'a ticket is a credential here, too: what is missing is a session'
  )
})

t.test('limits hold at the URLs of views', async t => {
  const app = await gateway(t, { maxMessage: 2_000 })
  app.mcp.views.open('alpha')
  for (const url of ['/mcp/alpha', '/message/alpha']) {
    t.equal(
      (
        await app.inject({
          method: 'POST',
          url,
          headers: JSON_HEADERS,
          payload: { ...PING, params: { long: 'x'.repeat(2_000) } }
        })
      ).statusCode,
      413
    )
    t.equal(
      (
        await app.inject({
          method: 'POST',
          url,
          headers: { ...JSON_HEADERS, 'content-type': 'text/plain' },
          payload: 'x'
        })
      ).statusCode,
      415
    )
  }
  t.equal(
    (
      await app.inject({
        method: 'POST',
        url: '/mcp/alpha',
        headers: { ...JSON_HEADERS, accept: 'text/html' },
        payload: PING
      })
    ).statusCode,
    406
  )
})

t.test('a session belongs to the URL it was opened at', async t => {
  const { app, url } = await listening(t)
  for (const name of ['alpha', 'beta']) app.mcp.views.open(name)
  const open = async (path: string) => ({
    'mcp-session-id':
      (
        await fetch(url + path, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(initialize) })
      ).headers.get('mcp-session-id') ?? ''
  })
  const paths = ['/mcp', '/mcp/alpha', '/mcp/beta']
  for (const opened of paths) {
    const session = await open(opened)
    for (const used of paths) {
      const expected = used === opened ? 200 : 404
      t.equal(
        (
          await fetch(url + used, {
            method: 'POST',
            headers: { ...JSON_HEADERS, ...session },
            body: JSON.stringify(PING)
          })
        ).status,
        expected,
        `POST ${used} in a session of ${opened}`
      )
      for (const stream of [used, used.replace('/mcp', '/mcp/sse')]) {
        const { response, drop } = await openStream(url + stream, { headers: session }).then(reader => ({
          response: reader.response,
          drop: () => reader.drop()
        }))
        t.equal(response.status, expected, `GET ${stream} in a session of ${opened}`)
        drop()
      }
    }
    for (const used of paths.filter(path => path !== opened)) {
      t.equal((await fetch(url + used, { method: 'DELETE', headers: session })).status, 404)
    }
    t.equal((await fetch(url + opened, { method: 'DELETE', headers: session })).status, 200)
  }
})

t.test('an HTTP+SSE stream takes messages at the URL that it named, and at no other', async t => {
  const { app, url } = await listening(t)
  for (const name of ['alpha', 'beta']) app.mcp.views.open(name)
  const stream = await openStream(`${url}/sse/alpha`)
  t.teardown(() => stream.drop())
  const endpoint = (await stream.event())?.data ?? ''
  const status = async (path: string) =>
    (await fetch(url + path, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(PING) })).status
  t.equal(await status(endpoint), 202)
  t.equal(await status(endpoint.replace('/alpha', '')), 404)
  t.equal(await status(endpoint.replace('/alpha', '/beta')), 404)
})

t.test(
  'a session of a view is there after a restart, at its own URL alone; sessions from before there were views are of the whole gateway',
  async t => {
    const data = join(t.testdir(), randomUUID())
    const start = async () => {
      const app = await gateway(t, { data, ephemeral: false })
      app.mcp.views.open('alpha').tools.add(tool({ name: 'echo', description: 'of alpha', run: () => 'from alpha' }))
      return app
    }
    const first = await start()
    const open = async (url: string) => ({
      'mcp-session-id': String(
        (await first.inject({ method: 'POST', url, headers: JSON_HEADERS, payload: initialize })).headers[
          'mcp-session-id'
        ]
      )
    })
    const [ofAlpha, ofWhole] = [await open('/mcp/alpha'), await open('/mcp')]
    const { id, record } = {
      id: ofWhole['mcp-session-id'],
      record: await first.mcp.store.sessions.load(ofWhole['mcp-session-id'])
    }
    t.notOk(JSON.stringify(record).includes('view'), 'a record without a view is what earlier versions wrote')
    await first.close()
    const second = await start()
    const list = async (url: string, session: Record<string, string>) =>
      await second.inject({
        method: 'POST',
        url,
        headers: { ...JSON_HEADERS, ...session },
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      })
    t.equal((await list('/mcp', ofAlpha)).statusCode, 404)
    t.match((await list('/mcp/alpha', ofAlpha)).json(), { result: { tools: [{ name: 'echo' }] } })
    t.equal((await list('/mcp/alpha', { 'mcp-session-id': id })).statusCode, 404)
    t.equal((await list('/mcp', { 'mcp-session-id': id })).statusCode, 200)
  }
)

t.test('in a host application its own routes under the path win, and views have the others', async t => {
  const app = await host(t, async fastify => {
    await fastify.register(websocket)
    fastify.get('/ai/mcp/mine', async () => 'the host\'s')
    fastify.get('/ai/sse/:anything', async () => 'the host\'s parameter')
    await fastify.register(async scope => {
      scope.get('/ai/mcp/socket', { websocket: true }, socket => {
        socket.on('message', () => socket.send("the host's"))
      })
    })
  })
  for (const name of ['alpha', 'mine', 'socket']) {
    app.mcp.views.open(name).tools.add(tool({ name: 'hello', description: 'd', run: () => `from ${name}` }))
  }
  t.equal((await app.inject('/ai/mcp/mine')).body, 'the host\'s')
  t.equal((await app.inject('/ai/sse/alpha')).body, 'the host\'s parameter')
  t.match(
    (
      await app.inject({ method: 'POST', url: '/ai/message/alpha', headers: JSON_HEADERS, payload: callOf('hello') })
    ).json(),
    { result: { content: [{ text: 'from alpha' }] } }
  )
  t.match(
    (await app.inject({ method: 'POST', url: '/ai/mcp/alfa', headers: JSON_HEADERS, payload: PING })).statusCode,
    404
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.match(JSON.parse(await overWebSocket(`${url}/ai/mcp/alpha`, [INITIALIZE, callOf('hello')])), {
    result: { content: [{ text: 'from alpha' }] }
  })
  t.equal(await overWebSocket(`${url}/ai/mcp/socket`, ['hello']), 'the host\'s')
})
