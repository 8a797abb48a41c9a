import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { dataFolder } from '../../support/environment/on-disk.js'
import { browse } from '../../support/environment/authorization-server.js'
import { startHostileIssuer, type HostileIssuer } from '../../support/environment/hostile-issuer.js'
import { until } from '../../support/wait.js'
import { loggedGateway, signIn } from './place.js'

/** Tries to sign in, and says how it ended; an answer that is refused and not waited for ends it after a moment. */
async function attempt (
  t: Test,
  issuer: HostileIssuer,
  oauth?: object
): Promise<{ error: string, told: string[], log: string, app: FastifyInstance }> {
  const options = {
    plugins: [],
    tools: false,
    data: await dataFolder(t),
    mcpServers: { evil: { type: 'http', url: `${issuer.url}/mcp`, ...(oauth !== undefined && { oauth }) } }
  }
  const { app, log } = await loggedGateway(t, options)
  const ending = new AbortController()
  const told: string[] = []
  const visit = async (url: string): Promise<void> => {
    const { status } = await browse(url)
    if (status === 400) ending.abort(new Error('the answer was refused'))
  }
  const error = await signIn(app, options, visit, undefined, ending.signal, told).then(
    () => 'none',
    (failure: Error) => failure.message
  )
  return { error, told, log: log.join(''), app }
}

const sized = 'x'.repeat(300_000)

/** How an authorization server attacks, and the words that it is refused with. */
const ATTACKS: Record<string, [(issuer: HostileIssuer) => void, RegExp]> = {
  'metadata about another resource': [
    issuer => { issuer.resource = metadata => ({ ...metadata, resource: 'https://honest.example/mcp' }) },
    /about another resource than its URL/
  ],
  'metadata of another issuer': [
    issuer => { issuer.metadata = metadata => ({ ...metadata, issuer: 'https://honest.example' }) },
    /about another issuer than http:.*; it is not used/
  ],
  'a URL that a terminal would obey': [
    issuer => {
      const url = `${issuer.url}/\u001b[2Jx`
      issuer.resource = metadata => ({ ...metadata, authorization_servers: [url] })
      issuer.metadata = metadata => ({ ...metadata, issuer: url })
      issuer.answers.set('/.well-known/oauth-authorization-server/%1B[2Jx', (request, response) => {
        request.url = '/.well-known/oauth-authorization-server'
        issuer.serve(request, response)
      })
    },
    /^[ -~]*\/\\u\{1b\}\[2Jx, which has characters in it that no URL has; it is not used$/
  ],
  'an issuer that is the same URL with a line break in it': [
    issuer => {
      issuer.resource = metadata => ({ ...metadata, authorization_servers: [`${issuer.url}/`] })
      issuer.metadata = metadata => ({ ...metadata, issuer: `${issuer.url}\n/` })
    },
    /about another issuer than http:.*; it is not used/
  ],
  'no word about PKCE': [
    issuer => {
      issuer.metadata = ({ code_challenge_methods_supported: _, ...rest }) => rest
    },
    /does not say that it supports PKCE with S256/
  ],
  'PKCE without S256': [
    issuer => { issuer.metadata = metadata => ({ ...metadata, code_challenge_methods_supported: ['plain'] }) },
    /does not say that it supports PKCE with S256/
  ],
  'an authorization endpoint that is no web address': [
    issuer => { issuer.metadata = metadata => ({ ...metadata, authorization_endpoint: 'file:///etc/passwd' }) },
    /the authorization endpoint is not an https URL, but begins with file:/
  ],
  'a token endpoint without TLS elsewhere': [
    issuer => { issuer.metadata = metadata => ({ ...metadata, token_endpoint: 'http://192.0.2.1/token' }) },
    /the token endpoint is not an https URL/
  ],
  'metadata that redirect elsewhere': [
    issuer => {
      issuer.answers.set('/.well-known/oauth-authorization-server', (_request, response) => {
        response.writeHead(302, { location: 'https://honest.example/' }).end()
      })
    },
    /redirects elsewhere, which is not followed/
  ],
  'a document without an end': [
    issuer => {
      issuer.answers.set('/resource', (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write(sized)
        response.write(sized)
      })
    },
    /sent more than 262144 bytes/
  ],
  ...Object.fromEntries(['/.well-known/oauth-authorization-server', '/register', '/token'].map(path => [
    `a long document at ${path}`,
    [
      (issuer: HostileIssuer) => {
        issuer.answers.set(path, (_request, response) => {
          response.writeHead(path === '/register' ? 201 : 200, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ issuer: issuer.url, client_id: 'me', access_token: 'a', token_type: 'Bearer', sized }))
        })
      },
      /sent more than 262144 bytes; it is not used$/
    ] satisfies [unknown, RegExp]
  ])),
  'an answer of another issuer': [
    issuer => { issuer.respond = parameters => ({ ...parameters, iss: 'https://honest.example' }) },
    /cannot be used: unexpected "iss"/
  ],
  'no issuer in the answer where it was promised': [
    issuer => { issuer.metadata = metadata => ({ ...metadata, authorization_response_iss_parameter_supported: true }) },
    /cannot be used: response parameter "iss" \(issuer\) missing/
  ],
  'an error of another issuer, whose text is not shown': [
    issuer => {
      issuer.respond = ({ state = '' }) => ({ state, error: 'access_denied', error_description: 'call me', iss: 'https://honest.example' })
    },
    /^the answer of the authorization server \S+ cannot be used: unexpected "iss" \(issuer\) response parameter value$/
  ],
  'another state': [issuer => { issuer.respond = parameters => ({ ...parameters, state: 'other' }) }, /^the answer was refused$/]
}

for (const [name, [attack, words]] of Object.entries(ATTACKS)) {
  t.test(`an authorization server with ${name} is refused in words, and gets no code`, async t => {
    const issuer = await startHostileIssuer(t)
    attack(issuer)
    const { error } = await attempt(t, issuer)
    t.match(error, words)
    t.same(issuer.codes, [])
  })
}

t.test('the same server without an attack is signed in to, so that the attacks are what is refused', async t => {
  const issuer = await startHostileIssuer(t)
  const { error, log } = await attempt(t, issuer)
  t.equal(error, 'none')
  t.same(issuer.codes, ['the-code'])
  t.notMatch(log, /secret-access/)
})

t.test('a refusal is told in the words of the authorization server', async t => {
  const issuer = await startHostileIssuer(t)
  issuer.respond = ({ state = '' }) => ({ state, error: 'access_denied', error_description: 'you said\nno' })
  t.match(await attempt(t, issuer), { error: /refused: access_denied: you said\?no$/ })
})

t.test('a token of a type that is not known is not stored', async t => {
  const issuer = await startHostileIssuer(t)
  issuer.answers.set('/token', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"a","token_type":"mac"}')
  })
  const { error } = await attempt(t, issuer)
  t.match(error, /cannot be used|of the type mac/)
})

t.test('a token that lasts longer than dates do has a date all the same', async t => {
  const issuer = await startHostileIssuer(t)
  issuer.answers.set('/token', (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"access_token":"a","token_type":"Bearer","expires_in":1e300}')
  })
  const { error, app } = await attempt(t, issuer)
  t.equal(error, 'none')
  const mcpServers = { evil: { type: 'http', url: `${issuer.url}/mcp` } }
  const sources = { mcpServers, mcpConfig: [], maxMcpConfig: 1_000_000, schemas: 'safe' as const }
  const { entries } = await app.mcp.upstreams.read(sources)
  const [state] = await app.mcp.upstreams.signIns.states(entries, AbortSignal.timeout(10_000))
  t.match(state, { alias: 'evil', state: 'signed in' })
  t.match(new Date(state?.expiresAt ?? NaN).toISOString(), /^21\d\d-/)
})

t.test('without registration, the words say what to register, and a configured client is used', async t => {
  const issuer = await startHostileIssuer(t)
  issuer.metadata = ({ registration_endpoint: _, ...rest }) => rest
  t.match(await attempt(t, issuer), {
    error: /registers no clients by itself: register one there with the redirect URI http:\/\/127\.0\.0\.1:\d+\/callback/
  })
  t.match(await attempt(t, issuer, { clientId: 'https://me.example/client.json' }), {
    error: /does not support client id metadata documents/
  })
  t.match(await attempt(t, issuer, { clientId: 'mine', clientSecret: 'hidden-secret' }), { error: 'none' })
  const documents = { client_id_metadata_document_supported: true }
  issuer.metadata = ({ registration_endpoint: _, ...rest }) => ({ ...rest, ...documents })
  t.match(await attempt(t, issuer, { clientId: 'https://me.example/client.json' }), { error: 'none' })
  t.equal(issuer.asked.filter(path => path === '/register').length, 0)
})

t.test('a client that is configured is used at one authorization server alone', async t => {
  const [honest, other] = [await startHostileIssuer(t), await startHostileIssuer(t)]
  const data = await dataFolder(t)
  const attemptWith = async (oauth: object): Promise<{ error: string, app: FastifyInstance }> => {
    const mcpServers = { linear: { type: 'http', url: `${honest.url}/mcp`, oauth: { clientId: 'mine', ...oauth } } }
    const options = { plugins: [], tools: false, data, mcpServers }
    const { app } = await loggedGateway(t, options)
    const error = await signIn(app, options).then(() => 'none', (failure: Error) => failure.message)
    return { error, app }
  }
  const secret = { clientSecret: 'hidden-secret' }
  t.match(await attemptWith({ ...secret, issuer: other.url }), { error: /^the server names the authorization server .*; nothing was sent there$/ })
  t.match(await attemptWith({ ...secret, issuer: `${honest.url}/` }), { error: 'none' })
  honest.resource = metadata => ({ ...metadata, authorization_servers: [other.url] })
  const refused = await attemptWith(secret)
  t.match(refused.error, /the client of its "oauth" was used at .* until now; nothing was sent there\. If that is right, sign out first/)
  t.strictSame(other.asked, ['/.well-known/oauth-authorization-server'], 'nothing but its metadata was asked for')
  t.match(await attemptWith({}), { error: /was used at/ }, 'nor without a secret')
  await refused.app.mcp.upstreams.signIns.signOut('linear', undefined)
  t.match(await attemptWith(secret), { error: 'none' })
})

t.test('neither a code nor a registration follows a redirect', async t => {
  const issuer = await startHostileIssuer(t)
  for (const path of ['/token', '/register']) {
    issuer.answers.set(path, (_request, response) => { response.writeHead(307, { location: `${issuer.url}/elsewhere` }).end() })
    t.match(await attempt(t, issuer), { error: /^the answer of the authorization server \S+ cannot be used: / }, path)
  }
  t.notOk(issuer.asked.includes('/elsewhere'))
  t.same(issuer.codes, [])
})

t.test('offline access is asked for only where the authorization server has it', async t => {
  const issuer = await startHostileIssuer(t)
  const asked: URLSearchParams[] = []
  issuer.answers.set('/authorize', (request, response) => {
    asked.push(new URL(request.url ?? '', issuer.url).searchParams)
    issuer.answers.delete('/authorize')
    issuer.asked.pop()
    issuer.serve(request, response)
  })
  await attempt(t, issuer)
  t.equal(asked[0]?.get('scope'), null)
  t.equal(asked[0]?.get('resource'), `${issuer.url}/mcp`)
})

t.test('a token endpoint that answers nothing is given up when the person gives up', async t => {
  const issuer = await startHostileIssuer(t)
  let asked = 0
  issuer.answers.set('/token', () => { asked++ })
  const options = {
    plugins: [],
    tools: false,
    data: await dataFolder(t),
    mcpServers: { evil: { type: 'http', url: `${issuer.url}/mcp` } }
  }
  const { app } = await loggedGateway(t, options)
  const ending = new AbortController()
  const attempted = signIn(app, options, browse, undefined, ending.signal)
  void attempted.catch(() => {})
  await until(() => asked === 1)
  ending.abort(new Error('the person gave up'))
  await t.rejects(attempted)
  t.same(await app.mcp.upstreams.signIns.signOut('evil', undefined), { issuers: [], notRevoked: [] }, 'nothing is stored')
})
