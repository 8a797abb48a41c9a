import type { AddressInfo, Socket } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { patchbay } from '../../app.js'
import { request, statusOf, type Head } from '../support/http-client.js'
import { upgradeHead } from '../support/websocket-client.js'
import { routesOf, VIEW } from '../support/routes.js'
import { expectUnharmed, startServer } from '../support/server.js'

interface Visit { row: string, title: string, head: Head, target?: (url: string) => string, status: number[] }

const GOOD_HOST: [string, string] = ['Host', 'localhost']
const origin = (row: string, value: string, status = 403): Visit => ({
  row,
  title: `Origin ${JSON.stringify(value)}`,
  head: [GOOD_HOST, ['Origin', value]],
  status: [status]
})
const host = (row: string, value: string, status = 403): Visit => ({
  row,
  title: `Host ${JSON.stringify(value)}`,
  head: [['Host', value]],
  status: [status]
})
const absolute = (value: string): Visit => ({
  row: 'E19',
  title: `a target that starts with ${value}`,
  head: [GOOD_HOST],
  target: url => value + url,
  status: [400, 403]
})

const REFUSED: Visit[] = [
  ...[
    'http://evil.com',
    'https://evil.com:8080',
    'http://localhost.evil.com',
    'http://127.0.0.1.nip.io',
    'http://localhost@evil.com',
    'chrome-extension://abcdef'
  ].map(value => origin('E9', value)),
  origin('E10', 'null'),
  ...[
    '',
    'localhost',
    'http://',
    'http://localhost/path',
    'http://a b',
    '__proto__',
    'file://',
    'http://localhost, http://evil.com'
  ].map(value => origin('E11', value)),
  {
    row: 'E12',
    title: 'two Origins',
    head: [GOOD_HOST, ['Origin', 'http://localhost'], ['Origin', 'http://localhost']],
    status: [403]
  },
  {
    row: 'E12',
    title: 'two Origins, one in capitals',
    head: [GOOD_HOST, ['Origin', 'http://localhost'], ['ORIGIN', 'http://evil.com']],
    status: [403]
  },
  ...['evil.com', 'evil.com:8080', '0.0.0.0', '192.168.0.1'].map(value => host('E14', value)),
  host('E15', 'localhost.evil.com'),
  ...[
    '127.0.0.1.nip.io',
    'localhost@evil.com',
    'localhost:99999',
    'localhost/evil.com',
    'localhost#evil.com',
    'localhost, evil.com',
    '__proto__',
    ''
  ].map(value => host('E16', value)),
  { row: 'E17', title: 'no Host', head: [], status: [400] },
  { row: 'E18', title: 'two Hosts', head: [GOOD_HOST, GOOD_HOST], status: [400] },
  { row: 'E18', title: 'two Hosts, the second of them evil', head: [GOOD_HOST, ['host', 'evil.com']], status: [400] },
  absolute('http://evil.com'),
  absolute('http://localhost'),
  absolute('https://evil.com')
]
/**
 * One visit of each row. All of them go to few routes, and these to the others: a route may be without the guard, but
 * not with half of it.
 */
const SAMPLE = REFUSED.filter(({ row }, index) => REFUSED.findIndex(visit => visit.row === row) === index)
const PROBED = ['/', '/mcp', '/message', '/health', '/not/served', '/ai/mcp']

const PASSED: Head[] = [
  [GOOD_HOST],
  [['Host', '127.0.0.1']],
  [['Host', '[::1]:8080']],
  [['Host', 'LOCALHOST:1']],
  ...['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5173'].map((value): Head => [
    GOOD_HOST,
    ['Origin', value]
  ])
]

/** The name of a file of the console, which changes with what is in it. */
const BUILT = /\/[\w-]+\.\w{8}\.\w+(?=\/?$)/

const SERVED = ['/mcp', '/mcp/sse', '/message', '/sse']

t.test('every route is closed to pages of other sites', async t => {
  const server = await startServer(t, {
    plugins: [
      async fastify => {
        fastify.mcp.views.open(VIEW)
        fastify.get('/extra', async () => 'extra')
      }
    ]
  })
  const routes = routesOf(server.app)
  t.strictSame(
    [...new Set(routes.map(([, url]) => url.replace(BUILT, '')))].sort(),
    [
      '/',
      '/extra',
      ...[
        '/console',
        '/console/login.json',
        '/console/sandbox.html',
        '/health',
        '/livez',
        '/metrics',
        '/readyz',
        '/sign-in',
        '/sign-in/callback',
        ...SERVED,
        ...SERVED.map(url => `${url}/${VIEW}`)
      ].flatMap(url => [url, `${url}/`])
    ].sort(),
    'the routes there are'
  )

  // Of the files of the console one is enough: all have the same route.
  const [built] = routes.filter(([, url]) => BUILT.test(url))
  for (const [method, url] of [
    ...routes.filter(([, url]) => !BUILT.test(url) || url === built?.[1]),
    ['GET', '/not/served']
  ] as const) {
    await t.test(`${method} ${url}`, async t => {
      await refuses(t, server.port, method, url)
      const passed = await Promise.all(
        (PROBED.includes(url) ? PASSED : PASSED.slice(-1)).map(
          async head => await statusOf(server.port, request(method, url, head))
        )
      )
      t.notOk(
        passed.includes(403) || passed.includes(0),
        `E13: and serves whom it knows, and who is no page at all: ${passed.join(', ')}`
      )
    })
  }
  await expectUnharmed(t, server)

  await t.test('I1: so is the WebSocket upgrade, also where there is no such route', async t => {
    for (const url of ['/mcp', '/mcp/', `/mcp/${VIEW}`, '/extra', '/health', '/not/served']) {
      await refuses(t, server.port, 'GET', url, upgradeHead(0).slice(1))
    }
    for (const head of PASSED) {
      t.equal(await statusOf(server.port, request('GET', '/mcp', [...head, ...upgradeHead(0).slice(1)])), 101)
    }
    await expectUnharmed(t, server)
  })
})

t.test('names and origins that are allowed are allowed exactly', async t => {
  const { port } = await startServer(t, {
    allowedHosts: ['gateway.test', 'other.test:81'],
    allowedOrigins: ['https://app.test']
  })
  const status = async (head: Head) => await statusOf(port, request('GET', '/message', head))
  const health = async (head: Head) => await statusOf(port, request('GET', '/health', head))
  for (const value of ['gateway.test', 'GATEWAY.test:99', 'other.test:81']) {
    t.equal(await status([['Host', value]]), 405, value)
  }
  for (const value of ['other.test', 'other.test:82', 'x.gateway.test', 'gateway.test.evil.com', 'app.test']) {
    t.equal(await status([['Host', value]]), 403, value)
  }
  for (const value of ['https://app.test', 'HTTPS://APP.test']) {
    t.equal(await health([GOOD_HOST, ['Origin', value]]), 200, value)
  }
  for (const value of ['http://app.test', 'https://app.test:444', 'https://app.test.evil.com', 'https://gateway.test']) {
    t.equal(await health([GOOD_HOST, ['Origin', value]]), 403, value)
  }
})

t.test('in a host application our routes are guarded and its own are not', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  const sockets = new Set<Socket>()
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  app.server.on('connection', (socket: Socket) => sockets.add(socket))
  app.get('/theirs', async () => 'theirs')
  await app.register(patchbay, { prefix: '/ai', limits: { maxEventLoopDelay: 60_000 } })
  app.mcp.views.open(VIEW)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  for (const url of ['/ai/health', ...SERVED.flatMap(url => [`/ai${url}`, `/ai${url}/${VIEW}`])].flatMap(url => [
    url,
    `${url}/`
  ])) {
    const methods = routesOf(app)
      .filter(route => route[1] === url)
      .map(([method]) => method)
    t.ok(methods.includes(url.startsWith('/ai/message') ? 'POST' : 'GET'), `${url} is served`)
    for (const method of methods) await refuses(t, port, method, url)
  }
  await refuses(t, port, 'GET', '/ai/mcp', upgradeHead(0).slice(1))
  t.equal(await statusOf(port, request('GET', '/theirs', [['Host', 'theirs.test']])), 200)
})

const same = (url: string): string => url

/** Probes ask for /health, /livez and /readyz with any Host; the reply has bare fields only. */
const isProbe = (method: string, url: string, { row }: Visit, more: Head): boolean =>
  /\/(health|livez|readyz)\/?$/.test(url) &&
  ['GET', 'HEAD'].includes(method) &&
  more.length === 0 &&
  ['E14', 'E15', 'E16'].includes(row)

async function refuses (t: Test, port: number, method: string, url: string, more: Head = []): Promise<void> {
  const visits = PROBED.includes(url) ? REFUSED : SAMPLE
  const wrong = await Promise.all(visits.map(async visit => {
    const { row, title, head, target = same } = visit
    const status = isProbe(method, url, visit, more) ? [200] : visit.status
    const got = await statusOf(port, request(method, target(url), [...head, ...more]))
    return status.includes(got) ? [] : [`${row}, ${title}: ${got}`]
  }))
  t.strictSame(wrong.flat(), [], `${method} ${url} refuses whom it does not know`)
}
