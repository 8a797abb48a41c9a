import t from 'tap'
import { fetchJson, isSafe } from '../../../system/credentials/fetch-json.js'
import { findJwks } from '../../../system/credentials/issuer.js'
import { json, startIssuer } from '../../support/environment/issuer.js'

const { signal } = new AbortController()

t.test('the metadata are where one of the two standards puts them', async t => {
  const plain = await startIssuer(t)
  t.equal((await findJwks(plain.url, signal)).href, plain.metadata.jwks_uri)
  t.strictSame(plain.asked, ['/.well-known/oauth-authorization-server'])

  const tenant = await startIssuer(t, '/tenant')
  await findJwks(tenant.url, signal)
  t.strictSame(tenant.asked, ['/.well-known/oauth-authorization-server/tenant'])

  const openId = await startIssuer(t, '/tenant')
  openId.answers.set('/.well-known/oauth-authorization-server/tenant', (_request, response) =>
    response.writeHead(404).end()
  )
  openId.answers.set('/tenant/.well-known/openid-configuration', (_request, response) =>
    json(response, openId.metadata)
  )
  await findJwks(openId.url, signal)
  t.strictSame(openId.asked, [
    '/.well-known/oauth-authorization-server/tenant',
    '/.well-known/openid-configuration/tenant',
    '/tenant/.well-known/openid-configuration'
  ])
})

t.test('metadata that cannot be believed are not', async t => {
  const issuer = await startIssuer(t)
  const place = '/.well-known/oauth-authorization-server'
  const cases: Array<[document: unknown, expected: RegExp]> = [
    [{ ...issuer.metadata, issuer: 'https://evil.test' }, /the issuer is called "https:\/\/evil\.test"/],
    [{ ...issuer.metadata, issuer: `${issuer.url}/` }, /the issuer is called/],
    [{ jwks_uri: issuer.metadata.jwks_uri }, /the issuer is called undefined/],
    [{ issuer: issuer.url }, /jwks_uri is not an https URL/],
    [{ issuer: issuer.url, jwks_uri: 'http://evil.test/jwks' }, /jwks_uri is not an https URL/],
    [{ issuer: issuer.url, jwks_uri: 'file:///etc/passwd' }, /jwks_uri is not an https URL/],
    [{ issuer: issuer.url, jwks_uri: 'https://user:password@evil.test/jwks' }, /jwks_uri is not an https URL/],
    [null, /the issuer is called undefined/]
  ]
  for (const [document, expected] of cases) {
    issuer.answers.set(place, (_request, response) => json(response, document))
    await t.rejects(findJwks(issuer.url, signal), { message: expected }, JSON.stringify(document))
  }
})

t.test('a document that is too large, elsewhere, no JSON or never comes is given up', async t => {
  const issuer = await startIssuer(t)
  const url = new URL('/jwks', issuer.url)
  issuer.answers.set('/jwks', (_request, response) => {
    response.on('error', () => {})
    response.writeHead(200)
    response.write('x'.repeat(600 * 1024))
  })
  await t.rejects(fetchJson(url, signal), { message: /more than 524288 bytes/ }, 'although it has not ended')
  issuer.answers.set('/jwks', (_request, response) =>
    response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end()
  )
  await t.rejects(fetchJson(url, signal), { message: /status 302/ })
  t.equal(issuer.count('/elsewhere'), 0)
  issuer.answers.set('/jwks', (_request, response) => response.end('<html>'))
  await t.rejects(fetchJson(url, signal), SyntaxError)
  issuer.answers.set('/jwks', () => {})
  await t.rejects(fetchJson(url, AbortSignal.timeout(100)), { name: 'TimeoutError' })
})

t.test('only https may be asked, and http on this machine', async t => {
  for (const url of [
    'https://a.test',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://127.1.2.3/x',
    'http://[::1]:8080'
  ]) {
    t.ok(isSafe(new URL(url)), url)
  }
  for (const url of [
    'http://a.test',
    'http://10.0.0.1',
    'http://localhost.evil.test',
    'http://127.0.0.1.nip.io',
    'ftp://localhost',
    'https://me@a.test',
    'data:,x'
  ]) {
    t.notOk(isSafe(new URL(url)), url)
  }
})
