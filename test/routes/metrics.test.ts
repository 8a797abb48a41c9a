import t from 'tap'
import { unknownNames } from '../../loader/unknown-names.js'
import { gateway } from '../support/gateway.js'
import { host } from '../support/host.js'
import { ADA, apiKeys, bearer, BOB, challengeOf, listed } from '../support/keys.js'
import { until } from '../support/wait.js'

const GRACE = 'pb_grace-0123456789-0123456789-0123456789-0'

t.test('the Host is checked as on every route', async t => {
  const app = await gateway(t)
  t.equal((await app.inject({ url: '/metrics', headers: { host: 'elsewhere.example' } })).statusCode, 403)
  t.equal((await app.inject({ url: '/metrics', headers: { host: 'localhost' } })).statusCode, 200)
})

t.test('where callers authenticate, the scope metrics or admin is needed', async t => {
  const app = await gateway(t, { apiKeys: [...apiKeys, listed('grace', GRACE, ['metrics'])] })
  t.strictSame(
    unknownNames(app.mcp, { scopes: {}, toolRates: {}, apiKeys: [listed('grace', GRACE, ['metrics'])] }),
    [],
    'and it is known'
  )
  t.equal((await app.inject('/metrics')).statusCode, 401)
  const refused = await app.inject({ url: '/metrics', headers: bearer(ADA) })
  t.equal(refused.statusCode, 403)
  t.match(refused.json(), { error: { message: /needs the scope metrics/, data: { code: 'PATCHBAY_SCOPE_MISSING' } } })
  t.match(challengeOf(refused.headers['www-authenticate'] as string), { error: 'insufficient_scope', scope: 'metrics' })
  for (const key of [BOB, GRACE]) t.equal((await app.inject({ url: '/metrics', headers: bearer(key) })).statusCode, 200)
})

t.test('they are served while all else is refused', async t => {
  const app = await gateway(t, { limits: { maxRss: 1, maxEventLoopDelay: 100 } })
  await until(() => app.mcp.pressure.level === 'heavy')
  t.equal((await app.inject('/sse')).statusCode, 503)
  t.equal((await app.inject('/metrics')).statusCode, 200)
})

t.test('they are under the prefix, for GET and HEAD', async t => {
  const app = await gateway(t, { prefix: '/ai' })
  t.equal((await app.inject('/metrics')).statusCode, 404)
  t.equal((await app.inject('/ai/metrics/')).statusCode, 200)
  t.match(await app.inject({ method: 'HEAD', url: '/ai/metrics' }), { statusCode: 200, body: '' })
  t.match(await app.inject({ method: 'POST', url: '/ai/metrics' }), {
    statusCode: 405,
    headers: { allow: 'GET, HEAD' }
  })
})

t.test('in a host application they have to be asked for', async t => {
  t.equal((await (await host(t, undefined, { allowAnonymous: true })).inject('/ai/metrics')).statusCode, 404)
  const app = await host(t, undefined, { allowAnonymous: true, metrics: true })
  t.match(await app.inject('/ai/metrics'), { statusCode: 200, body: /^# TYPE patchbay_calls_total counter$/m })
})
