import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Options } from '../../app.js'
import { hashOf, makeKey } from '../../system/credentials/api-key.js'
import { headOf, request, statusOf, type Head } from '../support/http-client.js'
import { upgradeHead } from '../support/websocket-client.js'
import { consolePaths } from '../support/console-files.js'
import { routesOf, VIEW } from '../support/routes.js'
import { startServer } from '../support/server.js'

const KEY = makeKey()
const HOST: Head[number] = ['Host', 'localhost']
const UPGRADE = upgradeHead(0).slice(1)
const ISSUER = 'http://127.0.0.1:1'
const METADATA = '/.well-known/oauth-protected-resource'

const CONSOLE_PATHS = [...consolePaths(), '/console/login.json', '/console/client.json']
/** Routes that are served without a credential, too: an addition to this list needs a reason. */
const PUBLIC = [
  `GET ${METADATA}`,
  `GET ${METADATA}/mcp`,
  `GET ${METADATA}/mcp/${VIEW}`,
  ...['/health', '/livez', '/readyz', ...CONSOLE_PATHS].flatMap(url => [`GET ${url}`, `HEAD ${url}`])
]
  .flatMap(named => [named, `${named}/`])
  .concat('GET /', 'HEAD /')
  .sort()

interface Visit { method: string, url: string, more: Head, named: string }

/** Every HTTP method of every route, an upgrade of each URL, and URLs that are not served. */
function visitsOf (app: FastifyInstance): Visit[] {
  const routes = [...routesOf(app), ['GET', '/not/served'], ['POST', '/not/served']] as Array<[string, string]>
  const urls = [...new Set(routes.map(([, url]) => url))]
  return [
    ...routes.map(([method, url]) => ({ method, url, more: [], named: `${method} ${url}` })),
    ...urls.map(url => ({ method: 'GET', url, more: UPGRADE, named: `an upgrade of ${url}` }))
  ]
}

/** A route and a WebSocket that an author adds without a thought of security. */
async function thoughtless (app: FastifyInstance): Promise<void> {
  app.mcp.views.open(VIEW)
  app.get('/added', async () => 'added')
  app.post('/added', async () => 'added')
  app.get('/added/socket', { websocket: true }, socket => socket.send('added'))
}

async function locked (t: Test, options: Partial<Options> = {}) {
  const oauth = { issuer: ISSUER, resource: 'http://localhost/mcp', jwks: `${ISSUER}/jwks` }
  const server = await startServer(t, {
    apiKeys: [{ name: 'ada', hash: hashOf(KEY), scopes: ['mcp'] }],
    oauth,
    limits: { maxWrongCredentials: 100_000 },
    rest: true,
    plugins: [thoughtless],
    ...options
  })
  const routes = visitsOf(server.app)
  t.ok(
    ['GET /added', 'POST /added', 'an upgrade of /added/socket', 'POST /ticket', 'GET /metrics', 'DELETE /mcp'].every(
      name => routes.some(({ named }) => named === name)
    ),
    'what was added is among them'
  )
  return { port: server.port, routes }
}

t.test('no route serves a request without a credential, but for the public ones', async t => {
  const { port, routes } = await locked(t)
  const open: string[] = []
  for (const { method, url, more, named } of routes) {
    // Browsers have no credential there: without a link or an answer, they are refused.
    if (url.startsWith('/sign-in')) continue
    const { status, headers } = await headOf(port, request(method, url, [HOST, ...more]))
    // The root leads browsers to the console, and others to nothing.
    if (status === 200 || status === 308 || (url === '/' && status === 404)) open.push(named)
    else {
      t.match(
        { named, status, challenge: headers.get('www-authenticate') },
        { named, status: 401, challenge: `scope="mcp", resource_metadata="http://localhost${METADATA}/mcp"` }
      )
    }
  }
  t.strictSame(open.sort(), PUBLIC)
})

t.test('no route opens to a key that is not known, nor to one in the wrong place', async t => {
  const { port, routes } = await locked(t)
  for (const { method, url, more, named } of routes) {
    t.equal(
      await statusOf(port, request(method, url, [HOST, ['Authorization', `Bearer ${makeKey()}`], ...more])),
      401,
      `${named}: not known`
    )
    t.equal(
      await statusOf(port, request(method, `${url}?access_token=${KEY}`, [HOST, ...more])),
      401,
      `${named}: not in the URL`
    )
    t.equal(
      await statusOf(
        port,
        request(method, url, [HOST, ['Cookie', `key=${KEY}`], ['Authorization', `Basic ${KEY}`], ...more])
      ),
      401,
      `${named}: not in other ways`
    )
  }
})

t.test('a caller over its rate is refused at every route before anything else is checked', async t => {
  const { port, routes } = await locked(t, { rate: 1, burst: 1 })
  const key: Head[number] = ['Authorization', `Bearer ${KEY}`]
  const visit = async ({ method, url, more }: Visit) => await headOf(port, request(method, url, [HOST, key, ...more]))
  const health = routes.find(({ named }) => named === 'GET /health') as Visit
  while ((await visit(health)).status !== 429) { /* The bucket is emptied. */ }
  // A load balancer that asks often must not take a node for dead, and the page of the console must be able to say that
  // its calls are refused.
  for (const route of routes.filter(
    ({ url, method }) => !/^\/(livez|readyz|console|$)/.test(url) || !['GET', 'HEAD'].includes(method)
  )) {
    // A token may have come back since, also between visits that follow each other.
    const replies = await Promise.all([visit(route), visit(route), visit(route), visit(route)])
    const limited = replies.find(({ status }) => status === 429)
    t.match(
      { named: route.named, wait: limited?.headers.get('retry-after') },
      { named: route.named, wait: /^[1-9]\d*$/ }
    )
  }
  t.equal(
    await statusOf(port, request('GET', '/sse', [['Host', 'evil.example'], key])),
    403,
    'but a foreign page hears nothing, not even that'
  )
  t.equal(await statusOf(port, request('POST', '/mcp', [HOST])), 401, 'nor does who has no key')
})
