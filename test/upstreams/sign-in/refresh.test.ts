import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { createClient } from '../../../app.js'
import { memoryStore } from '../../../stores/memory/store.js'
import { SignIns } from '../../../upstreams/sign-in/sign-ins.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'
import { loggedGateway, openPlace, signIn, type Place } from './place.js'

const call = { name: 'linear__echo', arguments: { text: 'hello' } }

interface Ready extends Place { readonly app: FastifyInstance, readonly log: string[] }

/** A gateway that is signed in and connected. */
async function signedIn (t: Test): Promise<Ready> {
  const place = await openPlace(t)
  const { app, log } = await loggedGateway(t, place.options)
  await signIn(app, place.options)
  await upstreamsReady(app, ['linear'])
  return { ...place, app, log }
}

/** Makes the server refuse the tokens that it has accepted until now. */
const expire = ({ server, withdrawn }: Place): void => {
  for (const token of server.tokens) withdrawn.add(token)
}

const refreshes = ({ issuer }: Place): number => issuer.granted.filter(grant => grant === 'refresh_token').length

t.test('ten calls with an expired token are one refresh, and all of them are answered', async t => {
  const place = await signedIn(t)
  const client = await createClient(place.app)
  expire(place)
  const results = await Promise.all(Array.from({ length: 10 }, async () => await client.request('tools/call', call)))
  t.equal(results.length, 10)
  t.equal(refreshes(place), 1)
  expire(place)
  await client.request('tools/call', call)
  t.equal(refreshes(place), 2, 'the refresh token is the new one')
})

t.test('two gateways on one data folder refresh once', async t => {
  const place = await signedIn(t)
  const { app } = await loggedGateway(t, place.options)
  await upstreamsReady(app, ['linear'])
  const clients = await Promise.all([place.app, app].map(async each => await createClient(each)))
  expire(place)
  await Promise.all(clients.flatMap(client => [1, 2, 3].map(async () => await client.request('tools/call', call))))
  t.equal(refreshes(place), 1)
  t.same(place.issuer.refused, [], 'no refresh token was used twice')
})

t.test('an authorization server that fails or is away costs no sign-in', async t => {
  const place = await signedIn(t)
  const { issuer, app } = place
  const client = await createClient(app)
  expire(place)
  issuer.answers.set('/token', (_request, response) => { response.writeHead(503).end() })
  await t.rejects(client.request('tools/call', call), { message: /could not be renewed now: the authorization server .* status 503/ })
  issuer.answers.set('/token', request => { request.socket.destroy() })
  await t.rejects(client.request('tools/call', call), { message: /could not be renewed now: the token endpoint .* does not answer/ })
  issuer.answers.delete('/token')
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] })
})

t.test('what an authorization server says about a refresh token reaches neither callers nor the log', async t => {
  const place = await signedIn(t)
  const { issuer, app, log } = place
  const client = await createClient(app)
  expire(place)
  let secret = ''
  const refuse = (errorOf: (token: string) => object): void => {
    issuer.answers.set('/token', (request, response) => {
      void request.toArray().then(chunks => {
        secret = new URLSearchParams(Buffer.concat(chunks as Buffer[]).toString()).get('refresh_token') ?? ''
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(errorOf(secret)))
      })
    })
  }
  for (const [errorOf, words] of [
    [token => ({ error: 'invalid_request', error_description: `the refresh token ${token} is busy` }), /refused: invalid_request$/],
    [token => ({ error: 'invalid_request', error_description: `${'x'.repeat(190)}${token}` }), /refused: invalid_request$/],
    [token => ({ error: `busy ${token}` }), /refused: it gave another error$/]
  ] as Array<[(token: string) => object, RegExp]>) {
    refuse(errorOf)
    const { message } = await client.request('tools/call', call).then(() => ({ message: 'none' }), (error: Error) => error)
    t.match(message, words)
    t.not(secret, '')
    t.notOk((message + log.join('')).includes(secret.slice(0, 8)))
  }
})

t.test('a refresh token that is refused asks for a new sign-in, once', async t => {
  const place = await signedIn(t)
  const { issuer, app, log } = place
  const client = await createClient(app)
  expire(place)
  issuer.answers.set('/token', (_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
  })
  await t.rejects(client.request('tools/call', call), {
    message: /needs a sign-in: the last one has expired/,
    data: { code: 'PATCHBAY_SIGN_IN_REQUIRED' }
  })
  await until(() => app.mcp.upstreams.status()[0]?.state === 'needs sign-in')
  await t.rejects(client.request('tools/call', call), { message: /needs a sign-in: / })
  t.equal(issuer.count('/token'), 2, 'the code, and one refresh')
  t.equal(log.filter(line => line.includes('needs a sign-in (the last one has expired)')).length, 1)
  issuer.answers.delete('/token')
  await signIn(app, place.options)
  await until(() => app.mcp.upstreams.status()[0]?.state === 'ready')
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] })
})

t.test('a call that needs more scopes says so, and the next sign-in asks for the old and the new', async t => {
  const place = await signedIn(t)
  const { app, options } = place
  const client = await createClient(app)
  const more = { name: 'linear__echo', arguments: { text: 'needs-more' } }
  await t.rejects(client.request('tools/call', more), { message: /needs a sign-in: it asks for the scope files:write/ })
  t.match(await client.request('tools/call', call), { content: [{ text: /hello/ }] }, 'others go on')
  t.match(await signIn(app, options), { scopes: ['mcp', 'files:write'] })
  t.match(await client.request('tools/call', more), { content: [{ text: /needs-more/ }] })
})

t.test('a server that asks for other scopes at each call is remembered a limited number of them', async t => {
  const signIns = new SignIns(memoryStore().values, { ephemeral: true })
  await signIns.want('a', ['x'.repeat(129), 'first'])
  for (let round = 0; round < 5; round++) await signIns.want('a', Array.from({ length: 100 }, (_, index) => `s${round}-${index}`))
  const wanted = await signIns.wanted('a')
  t.equal(wanted.length, 64)
  t.same(wanted.slice(0, 2), ['first', 's0-0'])
  t.equal(await signIns.want('a', ['another']), false)
})

t.test('a sign-out counts at once for a gateway that runs', async t => {
  const { app, issuer } = await signedIn(t)
  const client = await createClient(app)
  const { issuers, notRevoked } = await app.mcp.upstreams.signIns.signOut('linear', app.mcp.upstreams.get('linear')?.entry)
  t.same({ issuers, notRevoked }, { issuers: [issuer.url], notRevoked: [] })
  t.equal(issuer.count('/token/revocation'), 1)
  await t.rejects(client.request('tools/call', call), { message: /needs a sign-in: / })
})

t.test('a sign-out counts where the authorization server cannot take tokens back', async t => {
  const place = await signedIn(t)
  const { app, server } = place
  const { app: other } = await loggedGateway(t, place.options)
  await upstreamsReady(other, ['linear'])
  await app.mcp.upstreams.signIns.signOut('linear', undefined)
  for (const each of [app, other]) await until(() => each.mcp.upstreams.status()[0]?.state === 'needs sign-in')
  const before = server.tokens.length
  await t.rejects((await createClient(other)).request('tools/call', call), { message: /needs a sign-in: / })
  t.equal(server.tokens.length, before, 'no token is sent any more')
})
