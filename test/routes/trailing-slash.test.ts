import { once } from 'node:events'
import type { FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import type { Options } from '../../app.js'
import { ADA, apiKeys } from '../support/keys.js'
import { routesOf, VIEW } from '../support/routes.js'
import { host } from '../support/host.js'
import { gateway, listening } from '../support/gateway.js'
import { openSession } from '../support/http-session.js'
import { openStream } from '../support/event-reader.js'

const PATHS = [
  '/mcp',
  '/mcp/sse',
  '/sse',
  '/message',
  '/health',
  '/ticket',
  `/mcp/${VIEW}`,
  `/mcp/sse/${VIEW}`,
  `/sse/${VIEW}`,
  `/message/${VIEW}`,
  '/mcp/unknown'
]
const EVIL = { host: 'evil.example' }
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const guarded = { apiKeys } satisfies Partial<Options>

/** Applications with the gateway, and the prefix it is served under. */
const servers = {
  'a gateway of its own': { prefix: '', start: async (t: Test) => await gateway(t, guarded) },
  'a host application': { prefix: '/ai', start: async (t: Test) => await host(t, undefined, guarded) },
  'a host application whose router ignores the slash': {
    prefix: '/ai',
    start: async (t: Test) =>
      await host(t, undefined, guarded, { routerOptions: { ignoreTrailingSlash: true } } satisfies FastifyServerOptions)
  }
}

for (const [name, { prefix, start }] of Object.entries(servers)) {
  t.test(`${name}: a path with a trailing slash is answered like the one without`, async t => {
    const app = await start(t)
    app.mcp.views.open(VIEW)
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        for (const headers of [{}, { 'x-api-key': 'wrong' }, { 'x-api-key': ADA, accept: 'text/html' }, EVIL]) {
          const ask = async (url: string) => {
            const {
              statusCode,
              headers: { allow, location, 'www-authenticate': challenge }
            } = await app.inject({ method, url, headers, ...(method === 'POST' ? { payload: PING } : {}) })
            return { statusCode, allow, location, challenge }
          }
          t.strictSame(
            await ask(`${prefix}${path}/`),
            await ask(`${prefix}${path}`),
            `${method} ${path} ${JSON.stringify(headers)}`
          )
        }
      }
    }
    t.equal((await app.inject({ url: `${prefix}/mcp/`, headers: EVIL })).statusCode, 403)
    t.equal((await app.inject({ url: `${prefix}/mcp/` })).statusCode, 401)
    t.equal((await app.inject({ method: 'PUT', url: `${prefix}/mcp/`, headers: { 'x-api-key': ADA } })).statusCode, 405)
    t.equal((await app.inject({ url: `${prefix}/mcp//`, headers: { 'x-api-key': ADA } })).statusCode, 404)
  })
}

t.test('every route of ours is there with a slash, under the same methods', async t => {
  const routes = routesOf(await gateway(t, guarded)).map(([method, url]) => `${method} ${url}`)
  t.strictSame(routes.filter(route => !route.endsWith('/') && !routes.includes(`${route}/`)), [])
})

t.test('a client whose URL ends with a slash has all of a session: calls, a stream, its end', async t => {
  const { url } = await listening(t)
  const session = await openSession(`${url}`)
  const post = await fetch(`${url}/mcp/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session.headers },
    body: JSON.stringify(PING),
    redirect: 'error'
  })
  t.match(await post.json(), { id: 1, result: {} })
  const stream = await openStream(`${url}/mcp/`, { headers: session.headers, redirect: 'error' })
  t.equal(stream.response.status, 200)
  stream.drop()
  t.equal((await fetch(`${url}/mcp/`, { method: 'DELETE', headers: session.headers, redirect: 'error' })).status, 200)
})

t.test('HTTP+SSE under a slash names the address to post to', async t => {
  const { url } = await listening(t)
  const stream = await openStream(`${url}/sse/`)
  const { data = '' } = await stream.event() ?? {}
  t.match(data, /^\/message\?sessionId=/)
  const accepted = await fetch(url + data.replace('/message', '/message/'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(PING)
  })
  t.equal(accepted.status, 202)
  t.match(await stream.message(), { id: 1, result: {} })
  stream.drop()
})

t.test('a WebSocket is opened under a slash, too, and only by those who may', async t => {
  const { url } = await listening(t, guarded)
  const address = `${url.replace('http', 'ws')}/mcp/`
  const socket = new WebSocket(address, { headers: { 'x-api-key': ADA } })
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  socket.send(JSON.stringify(PING))
  const [answer] = await once(socket, 'message') as [Buffer]
  t.match(JSON.parse(String(answer)), { id: 1, result: {} })
  const stranger = new WebSocket(address)
  const [error] = await once(stranger, 'error') as [Error]
  t.match(error.message, /401/)
})
