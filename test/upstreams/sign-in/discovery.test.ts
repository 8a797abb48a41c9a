import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { chooseClient } from '../../../upstreams/sign-in/client.js'
import { discover, probe, type Discovered } from '../../../upstreams/sign-in/discovery.js'
import { GuardedFetch } from '../../../upstreams/sign-in/guarded-fetch.js'
import { refresh } from '../../../upstreams/sign-in/token-requests.js'
import { startHostileIssuer, type HostileIssuer } from '../../support/environment/hostile-issuer.js'
import { signIn, loggedGateway } from './place.js'
import { dataFolder } from '../../support/environment/on-disk.js'

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const OPENID = '/.well-known/openid-configuration'

/** Asks a server as a sign-in does, and gives what was found, and the paths in their order. */
async function find (issuer: HostileIssuer): Promise<Discovered & { asked: string[] }> {
  const guarded = new GuardedFetch('loopback')
  const url = new URL(`${issuer.url}/mcp`)
  const { challenge } = await probe(guarded, url, { isStream: false })
  issuer.asked.length = 0
  const found = await discover(guarded, url, challenge, new AbortController().signal)
  return { ...found, asked: issuer.asked }
}

/** Has the server name no metadata in its challenge. */
const withoutHint = (issuer: HostileIssuer): void => {
  issuer.answers.set('/mcp', (_request, response) => { response.writeHead(401, { 'www-authenticate': 'Bearer' }).end() })
}

/** Serves at one path what is usually at another. */
const move = (issuer: HostileIssuer, from: string, to: string): void => {
  issuer.answers.set(to, (request, response) => {
    issuer.asked.pop()
    request.url = from
    issuer.serve(request, response)
    issuer.asked.splice(-1, 1, to)
  })
}

const hide = (issuer: HostileIssuer, path: string): void => {
  issuer.answers.set(path, (_request, response) => { response.writeHead(404).end() })
}

const page = (issuer: HostileIssuer, path: string): void => {
  issuer.answers.set(path, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Shop</title>')
  })
}

/** Puts the authorization server into a folder of its origin. */
const inFolder = (issuer: HostileIssuer, place: string): void => {
  issuer.resource = metadata => ({ ...metadata, authorization_servers: [`${issuer.url}/tenant`] })
  issuer.metadata = metadata => ({ ...metadata, issuer: `${issuer.url}/tenant` })
  issuer.answers.set(place, (_request, response) => {
    issuer.answers.delete(SERVER)
    _request.url = SERVER
    issuer.serve(_request, response)
    issuer.asked.pop()
  })
}

/** How a server and its authorization server publish their metadata, and which places are asked, in this order. */
const ROWS: Array<[what: string, arrange: (issuer: HostileIssuer) => void, asked: string[]]> = [
  ['the challenge names the metadata', () => {}, ['/resource', SERVER]],
  [
    'the metadata is at the well-known place of the path',
    issuer => { withoutHint(issuer); move(issuer, '/resource', `${RESOURCE}/mcp`) },
    [`${RESOURCE}/mcp`, SERVER]
  ],
  [
    'the metadata is at the well-known place of the origin',
    issuer => { withoutHint(issuer); move(issuer, '/resource', RESOURCE) },
    [`${RESOURCE}/mcp`, RESOURCE, SERVER]
  ],
  [
    'a page is in place of the metadata of the path',
    issuer => { withoutHint(issuer); page(issuer, `${RESOURCE}/mcp`); move(issuer, '/resource', RESOURCE) },
    [`${RESOURCE}/mcp`, RESOURCE, SERVER]
  ],
  ['the server is its own authorization server', withoutHint, [`${RESOURCE}/mcp`, RESOURCE, SERVER]],
  [
    'the authorization server is one of OpenID Connect',
    issuer => { hide(issuer, SERVER); moveMetadata(issuer) },
    ['/resource', SERVER, OPENID]
  ],
  [
    'a page is in place of the metadata of the authorization server',
    issuer => { page(issuer, SERVER); moveMetadata(issuer) },
    ['/resource', SERVER, OPENID]
  ],
  ['the issuer has a path', issuer => inFolder(issuer, `${SERVER}/tenant`), ['/resource', `${SERVER}/tenant`]],
  [
    'the issuer has a path and is one of OpenID Connect',
    issuer => inFolder(issuer, `${OPENID}/tenant`),
    ['/resource', `${SERVER}/tenant`, `${OPENID}/tenant`]
  ],
  [
    'the issuer has a path and its document at the end of it',
    issuer => inFolder(issuer, `/tenant${OPENID}`),
    ['/resource', `${SERVER}/tenant`, `${OPENID}/tenant`, `/tenant${OPENID}`]
  ]
]

/** Has the metadata of the authorization server at the place of OpenID Connect alone. */
function moveMetadata (issuer: HostileIssuer): void {
  issuer.answers.set(OPENID, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
      code_challenge_methods_supported: ['S256']
    }))
  })
}

for (const [what, arrange, asked] of ROWS) {
  t.test(`where to sign in is found out where ${what}`, async t => {
    const issuer = await startHostileIssuer(t)
    arrange(issuer)
    const found = await find(issuer)
    t.strictSame(found.asked, asked)
    t.match(found, { resource: `${issuer.url}/mcp`, server: { token_endpoint: `${issuer.url}/token` } })
  })
}

t.test('a server without any metadata is said to have none, and one that fails is asked no further', async t => {
  const issuer = await startHostileIssuer(t)
  withoutHint(issuer)
  hide(issuer, SERVER)
  await t.rejects(find(issuer), { message: /^http:\S+ publishes no metadata of an authorization server; if this server takes a token or key/ })
  t.strictSame(issuer.asked, [`${RESOURCE}/mcp`, RESOURCE, SERVER, OPENID])
  issuer.answers.set(`${RESOURCE}/mcp`, (_request, response) => { response.writeHead(500).end() })
  await t.rejects(find(issuer), { name: 'NoAnswer', message: /cannot be had now: status 500$/ })
  t.strictSame(issuer.asked, [`${RESOURCE}/mcp`])
})

const bodyOf = async (request: IncomingMessage): Promise<string> =>
  Buffer.concat(await request.toArray() as Buffer[]).toString()

t.test('the registration is that of a native client, and tokens are asked for one resource', async t => {
  const issuer = await startHostileIssuer(t)
  const registered: unknown[] = []
  const asked: URLSearchParams[] = []
  issuer.answers.set('/register', (request, response) => {
    void bodyOf(request).then(body => {
      registered.push(JSON.parse(body))
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"client_id":"me"}')
    })
  })
  issuer.answers.set('/token', (request, response) => {
    void bodyOf(request).then(body => {
      asked.push(new URLSearchParams(body))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"a","token_type":"Bearer","refresh_token":"r"}')
    })
  })
  const options = {
    plugins: [],
    tools: false,
    data: await dataFolder(t),
    mcpServers: { linear: { type: 'http', url: `${issuer.url}/mcp` } }
  }
  const { app } = await loggedGateway(t, options)
  await signIn(app, options)
  t.match(registered, [{
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    redirect_uris: [/^http:\/\/127\.0\.0\.1:\d+\/callback$/]
  }])
  const resource = `${issuer.url}/mcp`
  t.match(Object.fromEntries(asked[0] ?? []), { grant_type: 'authorization_code', code: 'the-code', client_id: 'me', code_verifier: /^[\w-]{43,}$/, resource })
  await refresh({
    issuer: issuer.url,
    resource,
    tokenEndpoint: `${issuer.url}/token`,
    client: { id: 'me', method: 'none' },
    accessToken: 'a',
    refreshToken: 'r',
    requested: [],
    scopes: [],
    obtainedAt: 0,
    signedInAt: 0
  }, new URL(resource))
  t.match(Object.fromEntries(asked[1] ?? []), { grant_type: 'refresh_token', refresh_token: 'r', resource })
})

/** A guarded fetch for a server on the Internet, whose documents are given; it checks every URL as usual. */
class PublicFetch extends GuardedFetch {
  readonly asked: string[] = []
  readonly #documents: ReadonlyMap<string, object>

  constructor (documents: Record<string, object>) {
    super('public', undefined, async () => [{ address: '1.1.1.1', family: 4 }])
    this.#documents = new Map(Object.entries(documents))
  }

  override async fetch (...[url, what, options]: Parameters<GuardedFetch['fetch']>): Promise<Response> {
    const { pathname, hostname } = await this.check(url.href, what)
    if (!hostname.endsWith('.example')) return await super.fetch(url, what, options)
    this.asked.push(pathname)
    const document = this.#documents.get(pathname)
    return document === undefined ? new Response(null, { status: 404 }) : Response.json(document)
  }
}

const METADATA = {
  issuer: 'https://honest.example',
  authorization_endpoint: 'https://honest.example/authorize',
  token_endpoint: 'https://honest.example/token',
  registration_endpoint: 'https://honest.example/register',
  revocation_endpoint: 'https://honest.example/revoke',
  code_challenge_methods_supported: ['S256']
}

/** Looks for the authorization server of https://mcp.example/mcp, and registers there. */
async function signInFar (t: Test, resource: object, server: object): Promise<{ error: string, asked: string[] }> {
  const guarded = new PublicFetch({ [`${RESOURCE}/mcp`]: { resource: 'https://mcp.example/mcp', ...resource }, [SERVER]: server })
  const { signal } = new AbortController()
  const error = await discover(guarded, new URL('https://mcp.example/mcp'), undefined, signal)
    .then(async found => await chooseClient(guarded, found.server, {}, 'http://127.0.0.1:1/callback', signal))
    .then(() => 'none', (failure: Error) => failure.message)
  return { error, asked: guarded.asked }
}

for (const host of ['127.0.0.1', '169.254.169.254', '10.0.0.1', '[::1]', '[fd00::1]']) {
  t.test(`metadata of a server on the Internet that names ${host} is refused in words, and nothing is asked there`, async t => {
    let connections = 0
    const victim = createServer(socket => { connections++; socket.destroy() }).listen(0, '127.0.0.1')
    await once(victim, 'listening')
    t.teardown(() => victim.close())
    const url = `https://${host}:${(victim.address() as AddressInfo).port}`
    const known = { authorization_servers: [METADATA.issuer] }
    const words = (what: string): RegExp => new RegExp(`^${what} is at .*, in a network that the server itself is not in; it is not used$`)
    const named = await signInFar(t, { authorization_servers: [url] }, METADATA)
    t.match(named.error, words('the authorization server'))
    t.strictSame(named.asked, [`${RESOURCE}/mcp`])
    for (const what of ['authorization', 'token', 'registration', 'revocation']) {
      const { error, asked } = await signInFar(t, known, { ...METADATA, [`${what}_endpoint`]: `${url}/x` })
      t.match(error, words(`the ${what} endpoint`))
      t.strictSame(asked, [`${RESOURCE}/mcp`, SERVER], 'nothing is asked after it')
    }
    t.equal(connections, 0)
  })
}
