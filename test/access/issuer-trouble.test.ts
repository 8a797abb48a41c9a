import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { gateway } from '../support/gateway.js'
import { until } from '../support/wait.js'
import { json, startIssuer } from '../support/environment/issuer.js'
import { bearer, ping } from '../support/keys.js'

const METADATA = '/.well-known/oauth-authorization-server'

const post = async (app: FastifyInstance, token: string) =>
  await app.inject({ method: 'POST', url: '/message', headers: bearer(token), payload: ping })
const statuses = async (app: FastifyInstance, tokens: string[]) =>
  new Set((await Promise.all(tokens.map(async token => await post(app, token)))).map(({ statusCode }) => statusCode))

t.test('a hundred requests at once fetch the keys once', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: issuer.options })
  const tokens = await Promise.all(
    Array.from({ length: 100 }, async (_nothing, index) => await issuer.sign({ sub: `user ${index}` }))
  )
  t.strictSame(await statuses(app, tokens), new Set([200]))
  t.strictSame(issuer.asked, [METADATA, '/jwks'])
})

t.test('a hundred tokens with unknown keys fetch nothing more', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: issuer.options, limits: { maxWrongCredentials: 1_000 } })
  const tokens = await Promise.all(
    Array.from({ length: 100 }, async (_nothing, index) => await issuer.sign({}, { kid: `unknown ${index}` }))
  )
  t.strictSame(await statuses(app, tokens), new Set([401]))
  t.equal(issuer.count('/jwks'), 1)
})

t.test('with the URL of the keys set, the metadata are not fetched', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: { ...issuer.options, jwks: issuer.metadata.jwks_uri } })
  t.equal((await post(app, await issuer.sign())).statusCode, 200)
  t.strictSame(issuer.asked, ['/jwks'])
})

t.test('while keys cannot be fetched no token is called wrong, and the issuer is not asked again', async t => {
  for (const [what, break_] of Object.entries({
    'an issuer that answers with errors': issuer =>
      issuer.answers.set(METADATA, (_request, response) => response.writeHead(500).end()),
    'keys that are redirected': issuer =>
      issuer.answers.set('/jwks', (_request, response) =>
        response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end()
      ),
    'keys without an end': issuer =>
      issuer.answers.set('/jwks', (_request, response) => {
        response.on('error', () => {})
        response.write('x'.repeat(600_000))
      }),
    'keys that are none': issuer =>
      issuer.answers.set('/jwks', (_request, response) => json(response, { keys: 'none' })),
    'a connection that is cut': issuer => issuer.answers.set('/jwks', request => request.socket.destroy())
  } satisfies Record<string, (issuer: Awaited<ReturnType<typeof startIssuer>>) => void>)) {
    await t.test(what, async t => {
      const issuer = await startIssuer(t)
      break_(issuer)
      const app = await gateway(t, { oauth: issuer.options })
      const token = await issuer.sign()
      const response = await post(app, token)
      t.match({ status: response.statusCode, retry: response.headers['retry-after'] }, { status: 503, retry: '5' })
      t.match(response.json(), { error: { code: -32603, message: /^the keys of the issuer cannot be fetched/ } })
      const asked = issuer.asked.length
      t.strictSame(
        await statuses(
          app,
          Array.from({ length: 50 }, () => token)
        ),
        new Set([503])
      )
      t.equal(issuer.asked.length, asked, 'fifty more ask nobody')
      t.equal((await app.inject('/health')).statusCode, 200, 'and the gateway is up')
      t.equal(issuer.count('/elsewhere'), 0)
    })
  }
})

t.test('an issuer that hangs delays only tokens that need it, and is given up', async t => {
  const issuer = await startIssuer(t)
  issuer.answers.set('/jwks', () => {})
  const app = await gateway(t, { oauth: issuer.options })
  const waiting = post(app, await issuer.sign())
  await until(() => issuer.count('/jwks') === 1)
  t.equal((await app.inject('/health')).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/message', payload: ping })).statusCode, 401)
  await app.close()
  t.equal((await waiting).statusCode, 503, 'at the latest when the gateway is closed')
})

t.test('the gateway starts while its issuer is not there yet, and finds it when it is', async t => {
  const issuer = await startIssuer(t)
  const trouble: unknown[] = []
  issuer.answers.set(METADATA, (_request, response) => response.writeHead(503).end())
  const app = await gateway(
    t,
    { oauth: issuer.options },
    {
      logger: {
        level: 'warn',
        stream: {
          write: line => {
            trouble.push(JSON.parse(line))
          }
        }
      }
    }
  )
  await until(() => trouble.length > 0)
  t.match(trouble, [{ level: 40, msg: /cannot be fetched/, err: { message: /status 503/ } }], 'who runs it is told')
  t.match(
    app.mcp.health.now(),
    { status: 'degraded', ready: true, parts: { oauth: /cannot be fetched/ } },
    'and the health report says so'
  )
  issuer.answers.delete(METADATA)
  t.equal((await post(app, await issuer.sign())).statusCode, 503)
  await until(async () => (await post(app, await issuer.sign())).statusCode === 200, 'an accepted token', 60_000, 200)
  t.equal(app.mcp.health.now().status, 'healthy')
})
