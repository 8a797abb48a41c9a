import { once } from 'node:events'
import t from 'tap'
import { WebSocket } from 'ws'
import { exchange, request, statusOf, type Head } from '../support/http-client.js'
import { upgradeHead } from '../support/websocket-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { consolePaths } from '../support/console-files.js'
import { routesOf, VIEW } from '../support/routes.js'
import { startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, challengeOf, headOf } from '../support/keys.js'

const HOST: [string, string] = ['Host', 'localhost']
const STREAM: Head = [['Accept', 'text/event-stream']]
const CONSOLE_PATHS = [...consolePaths(), '/console/login.json', '/console/client.json']
/** They say in words that there is no sign-in to begin or end. */
const SIGN_IN = ['GET /sign-in', 'POST /sign-in', 'GET /sign-in/callback']
const PUBLIC = [
  ...SIGN_IN,
  ...['/health', '/livez', '/readyz', '/', ...CONSOLE_PATHS].flatMap(url => [`GET ${url}`, `HEAD ${url}`]),
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  `GET /.well-known/oauth-protected-resource/mcp/${VIEW}`
].flatMap(named => [named, `${named}/`])

t.test('every route but the public ones needs a credential', async t => {
  const issuer = await startIssuer(t)
  const server = await startServer(t, {
    apiKeys,
    oauth: issuer.options,
    rest: true,
    limits: { maxWrongCredentials: 100_000 },
    plugins: [
      async fastify => {
        fastify.mcp.views.open(VIEW)
        fastify.get('/extra', async () => 'extra')
      }
    ]
  })
  const routes = routesOf(server.app)
  t.ok(routes.length > 40, `${routes.length} routes`)
  const full = { resource_metadata: 'https://gateway.test/.well-known/oauth-protected-resource/mcp', scope: 'mcp' }

  for (const [method, url] of [...routes, ['GET', '/not/served'], ['POST', '/not/served']] as const) {
    const what = `${method} ${url}`
    const stranger = await exchange(
      server.port,
      request(method, url, [
        HOST,
        ...STREAM,
        ...(method === 'HEAD' ? [['Connection', 'close'] as [string, string]] : [])
      ])
    )
    if (PUBLIC.includes(what)) {
      t.equal(stranger.status, url === '/console' ? 308 : url === '/' ? 404 : url.startsWith('/sign-in') ? 400 : 200, `${what} is for everybody`)
    } else {
      t.equal(stranger.status, 401, `${what} is not for strangers`)
      t.strictSame(challengeOf(stranger.headers.get('www-authenticate')), full, what)
    }
    const liar = await exchange(
      server.port,
      request(method, url, [
        HOST,
        ...STREAM,
        ...headOf('x'),
        ...(method === 'HEAD' ? [['Connection', 'close'] as [string, string]] : [])
      ])
    )
    t.equal(liar.status, 401, `${what} is not for liars`)
    t.match(challengeOf(liar.headers.get('www-authenticate')), {
      ...full,
      error: 'invalid_token',
      error_description: /./
    })
    t.not(
      await statusOf(server.port, request(method, url, [HOST, ...STREAM, ...headOf(ADA)])),
      401,
      `${what} is for Ada`
    )
  }
  await expectUnharmed(t, { ...server, head: headOf(ADA) })

  await t.test('so it is with WebSocket', async t => {
    for (const url of ['/mcp', '/mcp/', `/mcp/${VIEW}`, '/mcp/unknown', '/extra', '/not/served', '/ticket']) {
      const refused = await exchange(server.port, request('GET', url, [HOST, ...upgradeHead(0).slice(1)]))
      t.equal(refused.status, 401, url)
      t.strictSame(challengeOf(refused.headers.get('www-authenticate')), full)
    }
    t.equal(
      await statusOf(server.port, request('GET', '/mcp', [HOST, ...upgradeHead(0).slice(1), ...headOf(ADA)])),
      101
    )
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/mcp`, { headers: { 'x-api-key': ADA } })
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
  })
})

t.test('of two mistakes in one request the first is answered', async t => {
  const { port } = await startServer(t, { apiKeys })
  const evil: [string, string] = ['Host', 'evil.test']
  const body = '{'
  const visits: Array<[what: string, status: number, bytes: Buffer]> = [
    ['a bad Host and no credential', 403, request('POST', '/mcp', [evil], body)],
    [
      'a bad Origin and a bad credential',
      403,
      request('POST', '/mcp', [HOST, ['Origin', 'https://evil.test'], ...headOf('x')], body)
    ],
    ['a bad Host and two credentials', 403, request('POST', '/mcp', [evil, ...headOf(ADA), ...headOf(ADA)], body)],
    ['a bad Host on what is public', 403, request('GET', '/health', [evil, ...upgradeHead(0).slice(1)])],
    ['no credential and a wrong method', 401, request('PUT', '/mcp', [HOST], body)],
    [
      'no credential and a wrong media type',
      401,
      request('POST', '/message', [HOST, ['Content-Type', 'text/plain']], body)
    ],
    [
      'no credential and an Accept that allows nothing',
      401,
      request('POST', '/mcp', [HOST, ['Accept', 'text/html']], body)
    ],
    [
      'no credential and a message that is too large',
      401,
      request('POST', '/message', [HOST, ['Content-Type', 'application/json'], ['Content-Length', '99999999']])
    ],
    ['no credential and no JSON', 401, request('POST', '/message', [HOST, ['Content-Type', 'application/json']], body)],
    ['no credential and an unknown session', 401, request('GET', '/mcp', [HOST, ...STREAM, ['Mcp-Session-Id', 'x']])],
    [
      'no credential and an old WebSocket',
      401,
      request('GET', '/mcp', [
        HOST,
        ...upgradeHead(0)
          .slice(1)
          .map(([name, value]): [string, string] => [name, name === 'Sec-WebSocket-Version' ? '7' : value])
      ])
    ],
    ['a credential and a wrong method', 405, request('PUT', '/mcp', [HOST, ...headOf(ADA)], body)],
    [
      'a credential and no JSON',
      400,
      request('POST', '/message', [HOST, ['Content-Type', 'application/json'], ...headOf(ADA)], body)
    ]
  ]
  for (const [what, status, bytes] of visits) t.equal(await statusOf(port, bytes), status, what)
})
