import t, { type Test } from 'tap'
import { flatten, resolveOptions, type Options } from '../../../options.js'
import { AccessRefused } from '../../../transports/client/credential.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { clientCredential } from '../../../upstreams/sign-in/stored-credential.js'
import { until } from '../../support/wait.js'
import { loggedGateway, openPlace, type Place } from './place.js'

const SECRET = 'a-secret-of-the-client'
const CLIENT = {
  client_id: 'gateway',
  client_secret: SECRET,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: []
}

interface Opened extends Place { options: Partial<Options> }

async function open (t: Test, oauth: (place: Place) => object = () => ({})): Promise<Opened> {
  const place = await openPlace(t, { clients: [CLIENT] })
  const { linear = {} } = place.options.mcpServers ?? {}
  const settings = {
    grant: 'client_credentials' as const,
    issuer: place.issuer.url,
    clientId: 'gateway',
    clientSecret: SECRET,
    scopes: ['mcp'],
    ...oauth(place)
  }
  const { data, ...rest } = place.options
  return { ...place, options: { ...rest, ephemeral: true, mcpServers: { linear: { ...linear, oauth: settings } } } }
}

t.test('the gateway signs in by itself, with no store and no person, and writes no secret', async t => {
  const { options, issuer, server } = await open(t)
  const { app, log } = await loggedGateway(t, options)
  await until(() => app.mcp.upstreams.status()[0]?.state === 'ready', 'the server')
  t.strictSame(issuer.granted, ['client_credentials'])
  t.equal(new Set(server.tokens).size, 1)
  const texts = log.join('') + JSON.stringify(app.mcp.upstreams.status())
  for (const secret of [SECRET, ...server.tokens]) t.notOk(texts.includes(secret))
  const entry = app.mcp.upstreams.get('linear')?.entry
  if (entry === undefined) throw new Error('there is no server')
  const person = { show: () => {}, tell: () => {}, pasted: nothing(), signal: new AbortController().signal }
  await t.rejects(app.mcp.upstreams.signIns.signIn(entry, person), { message: /--ephemeral/ })
})

t.test('a token that is refused is replaced, once for all calls, and not again at once', async t => {
  const { options, issuer, server } = await open(t)
  const around = { env: {}, home: undefined, cwd: '/' }
  const { entries: [entry] } = await readEntries(flatten(resolveOptions(options)), around)
  if (entry === undefined) throw new Error('there is no server')
  const refused = (token?: string, status = 401): AccessRefused => new AccessRefused('no', status, undefined, token)
  const credential = clientCredential(entry.oauth ?? {}, server.url, 0)
  await Promise.all(Array.from({ length: 10 }, async () => await credential.renew(refused())))
  const { token } = credential
  t.type(token, 'string')
  t.equal(issuer.count('/token'), 1)
  await credential.renew(refused('an older one'))
  t.equal(credential.token, token, 'a request that was sent before')
  await credential.renew(refused(token))
  t.not(credential.token, token)
  t.equal(issuer.count('/token'), 2)
  await t.rejects(credential.renew(refused(credential.token, 403)), { message: /add them to oauth\.scopes/ })

  const patient = clientCredential(entry.oauth ?? {}, server.url)
  await patient.renew(refused())
  await t.rejects(patient.renew(refused(patient.token)), { message: /does not accept the token .* a moment ago$/ })
  t.equal(issuer.count('/token'), 3)
})

t.test('an authorization server without client credentials, or that is away, is said in words', async t => {
  const { options, issuer, server } = await open(t)
  const around = { env: {}, home: undefined, cwd: '/' }
  const { entries: [entry] } = await readEntries(flatten(resolveOptions(options)), around)
  if (entry === undefined) throw new Error('there is no server')
  const credential = clientCredential(entry.oauth ?? {}, server.url)
  const refusal = new AccessRefused('no', 401, undefined, undefined)
  issuer.answers.set('/token', (_request, response) => response.writeHead(503).end())
  await t.rejects(credential.renew(refusal), { message: /cannot answer now: status 503$/ })
  issuer.answers.set('/.well-known/oauth-authorization-server', (_request, response) => response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ issuer: issuer.url, token_endpoint: `${issuer.url}/token`, grant_types_supported: ['implicit'] })))
  await t.rejects(credential.renew(refusal), { message: /does not support client credentials$/ })
})

async function * nothing (): AsyncGenerator<string> {}

t.test('the secret goes to the configured issuer alone', async t => {
  const { options, issuer } = await open(t, () => ({ issuer: 'https://issuer.example.com' }))
  const { app } = await loggedGateway(t, options)
  const trouble = (): string => app.mcp.upstreams.status()[0]?.lastError ?? ''
  await until(() => trouble() !== '', 'a failure')
  t.match(trouble(), /names the authorization server http:\/\/127\.0\.0\.1:\d+, and "oauth" has the issuer https:\/\/issuer\.example\.com; the secret was not sent/)
  t.equal(issuer.count('/token'), 0)
})

t.test('a secret that is wrong is said in words, without it', async t => {
  const { options } = await open(t, () => ({ clientSecret: 'another-secret-than-it' }))
  const { app } = await loggedGateway(t, options)
  const trouble = (): string => app.mcp.upstreams.status()[0]?.lastError ?? ''
  await until(() => trouble() !== '', 'a failure')
  t.match(trouble(), /no token could be had with client credentials: the authorization server http:\/\/\S+ refused/)
  t.notMatch(trouble(), 'another-secret-than-it')
})

t.test('an entry without client, secret or issuer is a mistake', async t => {
  const around = { env: {}, home: undefined, cwd: '/' }
  for (const oauth of [
    { grant: 'client_credentials' },
    { grant: 'client_credentials', clientId: 'a', clientSecret: 'b' },
    { grant: 'client_credentials', clientId: 'a', clientSecret: 'b', issuer: 'nowhere' }
  ] as const) {
    const mcpServers = { a: { url: 'https://example.com/mcp', oauth } }
    const { leftOut } = await readEntries(flatten(resolveOptions({ mcpServers })), around)
    t.match(leftOut, [{
      mistakes: [{ text: /^option mcpServers\.a\.oauth needs clientId, clientSecret and issuer, the URL of/ }]
    }])
  }
  const oauth = { grant: 'client_credentials', clientId: 'a', clientSecret: '${UNSET}', issuer: 'https://a.example' } as const // eslint-disable-line no-template-curly-in-string
  const options = resolveOptions({ mcpServers: { a: { url: 'https://example.com/mcp', oauth } } })
  t.match((await readEntries(flatten(options), around)).leftOut, [{
    mistakes: [{ text: 'option mcpServers.a.oauth needs the environment variable UNSET, which is not set' }]
  }])
})
