import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { gateway } from '../support/gateway.js'
import { statusOf, exchange, request, type Head } from '../support/http-client.js'
import { startServer } from '../support/server.js'
import { ADA, apiKeys, bearer, BOB, challengeOf, listed, ping } from '../support/keys.js'

const post = async (app: FastifyInstance, headers: Record<string, string>, url = '/message') =>
  await app.inject({ method: 'POST', url, headers, payload: ping })

t.test('where no credential is needed, those that are sent do not matter', async t => {
  const app = await gateway(t)
  for (const headers of [{}, bearer(ADA), { authorization: 'Basic eDp5' }, { 'x-api-key': '' }]) {
    t.equal((await post(app, headers)).statusCode, 200)
  }
  t.equal((await app.inject({ method: 'POST', url: '/ticket' })).statusCode, 404)
  t.equal((await app.inject('/.well-known/oauth-protected-resource')).statusCode, 404)
})

t.test('a key opens the transport, in either header', async t => {
  const app = await gateway(t, { apiKeys })
  for (const headers of [
    bearer(ADA),
    { authorization: `bearer ${ADA}` },
    { authorization: `BEARER   ${ADA}` },
    { 'x-api-key': ADA }
  ]) {
    t.equal((await post(app, headers)).statusCode, 200, JSON.stringify(headers))
  }
})

t.test('without a credential the challenge has realm and scope, and no error', async t => {
  const app = await gateway(t, { apiKeys, name: 'my "own" gäteway' })
  for (const headers of [{}, { authorization: 'Basic eDp5' }, { authorization: 'Digest x="y"' }]) {
    const response = await post(app, headers)
    t.equal(response.statusCode, 401)
    t.strictSame(challengeOf(response.headers['www-authenticate']), { realm: 'my own gteway', scope: 'mcp' })
    t.match(response.json(), { jsonrpc: '2.0', error: { code: -32600, message: /Bearer/ } })
  }
})

t.test('a credential that is not good is an invalid token', async t => {
  const app = await gateway(t, {
    apiKeys: [
      ...apiKeys,
      listed('old', 'pb_old', ['admin'], { expires: '2020-01-01' }),
      listed('young', 'pb_young', [], { expires: '2100-01-01T00:00:00Z' })
    ]
  })
  const wrong = [
    'x',
    ADA.slice(0, -1),
    `${ADA}x`,
    ADA.toUpperCase(),
    apiKeys[0]?.hash.slice(7) ?? '',
    'a.b.c',
    'A'.repeat(8_000),
    '__proto__'
  ]
  for (const credential of wrong) {
    for (const headers of [bearer(credential), { 'x-api-key': credential }]) {
      const response = await post(app, headers as Record<string, string>)
      t.equal(response.statusCode, 401, credential.slice(0, 50))
      t.strictSame(challengeOf(response.headers['www-authenticate']), {
        realm: 'mcp-patchbay',
        scope: 'mcp',
        error: 'invalid_token',
        error_description: 'the API key is not known'
      })
    }
  }
  const { headers } = await post(app, bearer('pb_old'))
  t.match(challengeOf(headers['www-authenticate']), {
    error: 'invalid_token',
    error_description: 'the API key has expired'
  })
  t.equal((await post(app, bearer('pb_young'))).statusCode, 200)
})

t.test('a request with several or malformed credentials is a bad request', async t => {
  const { port } = await startServer(t, { apiKeys })
  const good: [string, string] = ['Authorization', `Bearer ${ADA}`]
  const heads: Record<string, Head> = {
    'nothing after Bearer': [['Authorization', 'Bearer']],
    'spaces after Bearer': [['Authorization', 'Bearer   ']],
    'two tokens': [['Authorization', `Bearer ${ADA} ${BOB}`]],
    'two tokens with a comma': [['Authorization', `Bearer ${ADA}, Bearer ${BOB}`]],
    'letters that no token has': [['Authorization', `Bearer ${ADA}"`]],
    'two Authorization headers': [good, good],
    'two in different letters': [good, ['AUTHORIZATION', `Bearer ${BOB}`]],
    'both headers': [good, ['X-API-Key', ADA]],
    'another scheme and a key': [['Authorization', 'Basic eDp5'], ['X-API-Key', ADA]],
    'two keys': [['X-API-Key', ADA], ['X-API-Key', BOB]],
    'an empty key': [['X-API-Key', '']],
    'a key with a space': [['X-API-Key', `${ADA} x`]]
  }
  for (const [what, head] of Object.entries(heads)) {
    const { status, headers } = await exchange(
      port,
      request(
        'POST',
        '/message',
        [['Host', 'localhost'], ['Content-Type', 'application/json'], ...head],
        JSON.stringify(ping)
      )
    )
    t.equal(status, 400, what)
    t.match(challengeOf(headers.get('www-authenticate')), { error: 'invalid_request', error_description: /./ }, what)
  }
  t.equal(
    await statusOf(
      port,
      request(
        'POST',
        '/message',
        [['Host', 'localhost'], ['Content-Type', 'application/json'], good],
        JSON.stringify(ping)
      )
    ),
    200
  )
})

t.test('a credential in a URL opens nothing', async t => {
  const app = await gateway(t, { apiKeys })
  for (const name of ['access_token', 'api_key', 'apikey', 'token', 'ticket', 'key', 'authorization', 'x-api-key']) {
    for (const url of ['/message', '/mcp', '/nowhere']) {
      const response = await post(app, {}, `${url}?${name}=${ADA}`)
      t.equal(response.statusCode, 401, `${url}?${name}`)
      t.notOk('error' in challengeOf(response.headers['www-authenticate']))
      t.notMatch(response.body, ADA)
    }
  }
  t.match((await post(app, {}, `/message?access_token=${ADA}`)).json(), {
    error: { message: /in a URL does not count.*Authorization header/ }
  })
  t.equal(
    (await post(app, bearer(ADA), `/message?access_token=${ADA}`)).statusCode,
    400,
    'nor is it a second credential'
  )
  t.equal((await app.inject(`/health?token=${ADA}`)).statusCode, 401)
})

t.test('health shows its status to callers without a credential, and everything to the others', async t => {
  const app = await gateway(t, { apiKeys })
  t.strictSame((await app.inject('/health')).json(), { status: 'healthy', live: true, ready: true })
  t.match((await app.inject({ url: '/health', headers: bearer(ADA) })).json(), {
    status: 'healthy',
    name: 'mcp-patchbay',
    version: String,
    sessions: 0
  })
  t.equal(
    (await app.inject({ url: '/health', headers: bearer('x') })).statusCode,
    401,
    'whoever says something says the truth'
  )
  t.equal((await app.inject({ method: 'POST', url: '/health' })).statusCode, 401)
})

t.test('a page in a browser gets the challenge, too, and its preflight needs no credential', async t => {
  const app = await gateway(t, { apiKeys })
  const origin = 'http://localhost:3000'
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  })
  t.match(
    { status: preflight.statusCode, allowed: preflight.headers['access-control-allow-headers'] },
    { status: 204, allowed: 'authorization' }
  )
  const { statusCode, headers } = await post(app, { origin })
  t.equal(statusCode, 401)
  t.match(headers, {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': /WWW-Authenticate/,
    'www-authenticate': /^Bearer/
  })
  t.equal((await app.inject({ method: 'OPTIONS', url: '/mcp' })).statusCode, 401, 'what is no preflight is a request')
})
