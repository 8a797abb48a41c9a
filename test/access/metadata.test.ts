import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import { patchbay } from '../../app.js'
import { audienceOf, canonicalResource, metadataUrl } from '../../protocol/http/protected-resource.js'
import { gateway } from '../support/gateway.js'
import { startIssuer } from '../support/environment/issuer.js'
import { bearer, challengeOf, ping } from '../support/keys.js'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

t.test('the metadata are served at both places without a credential', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: { ...issuer.options, resource: 'https://Gateway.TEST:443/mcp' } })
  for (const url of [WELL_KNOWN, `${WELL_KNOWN}/mcp`]) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 200)
    t.match(response.headers['content-type'], /^application\/json/)
    t.strictSame(response.json(), {
      resource: 'https://gateway.test/mcp',
      authorization_servers: [issuer.url],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header']
    })
    t.equal((await app.inject({ url, headers: { host: 'evil.test' } })).statusCode, 403)
    t.equal((await app.inject({ url, headers: bearer('x') })).statusCode, 401)
    t.equal(
      (
        await app.inject({
          method: 'POST',
          url,
          headers: bearer(await issuer.sign({ aud: 'https://gateway.test/mcp' }))
        })
      ).statusCode,
      405
    )
  }
  t.equal((await app.inject(`${WELL_KNOWN}/other`)).statusCode, 401)
  t.equal(
    (await app.inject('/.well-known/oauth-authorization-server')).statusCode,
    401,
    'we are no authorization server'
  )
})

t.test('the scopes to ask for are the operator\'s to choose', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { oauth: { ...issuer.options, scopes: ['mcp', 'notes'] } })
  t.match((await app.inject(WELL_KNOWN)).json(), { scopes_supported: ['mcp', 'notes'] })
  const { headers } = await app.inject({ method: 'POST', url: '/mcp', payload: ping })
  t.equal(challengeOf(headers['www-authenticate']).scope, 'mcp notes')
})

t.test('with a prefix the metadata are before it, at the URL in the challenge', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, {
    prefix: '/ai',
    oauth: { ...issuer.options, resource: 'https://gateway.test/outside/ai/mcp' }
  })
  for (const path of ['', '/ai/mcp', '/outside/ai/mcp']) {
    t.equal((await app.inject(WELL_KNOWN + path)).statusCode, 200, path)
  }
  const { headers } = await app.inject({ method: 'POST', url: '/ai/mcp', payload: ping })
  t.equal(
    challengeOf(headers['www-authenticate']).resource_metadata,
    `https://gateway.test${WELL_KNOWN}/outside/ai/mcp`
  )
})

t.test('in a part of a host application they are in that part, at the URL in the challenge', async t => {
  const issuer = await startIssuer(t)
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(
    async part => {
      await part.register(patchbay, {
        prefix: '/ai',
        tools: false,
        oauth: { ...issuer.options, resource: 'https://gateway.test/part/ai/mcp' }
      })
    },
    { prefix: '/part' }
  )
  app.get('/own', async () => 'own')
  const { statusCode, headers } = await app.inject({ method: 'POST', url: '/part/ai/mcp', payload: ping })
  t.equal(statusCode, 401)
  const place = new URL(challengeOf(headers['www-authenticate']).resource_metadata ?? '')
  t.equal(place.href, `https://gateway.test/part${WELL_KNOWN}/ai/mcp`)
  t.match((await app.inject(place.pathname)).json(), { resource: 'https://gateway.test/part/ai/mcp' })
  t.equal((await app.inject('/own')).statusCode, 200, 'what is the host\'s is the host\'s')
})

t.test('a host application may know its callers itself, and is believed', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  app.decorateRequest('identity')
  app.addHook('onRequest', async request => {
    if (request.headers['x-user'] !== undefined) {
      request.identity = { principal: String(request.headers['x-user']), scopes: new Set(['mcp']) }
    }
  })
  await app.register(patchbay, { apiKeys: [{ name: 'a', hash: `sha256:${'0'.repeat(64)}`, scopes: [] }] })
  const list = { ...ping, method: 'tools/list' }
  t.equal((await app.inject({ method: 'POST', url: '/message', payload: list })).statusCode, 401)
  const response = await app.inject({ method: 'POST', url: '/message', payload: list, headers: { 'x-user': 'ada' } })
  t.equal(response.statusCode, 200)
  t.notMatch(response.body, 'add_note')
})

t.test('names of a server', async t => {
  t.equal(canonicalResource('HTTPS://Gateway.Test'), 'https://gateway.test')
  t.equal(canonicalResource('https://gateway.test:8443/a/b?c=d'), 'https://gateway.test:8443/a/b?c=d')
  t.equal(metadataUrl('https://gateway.test'), `https://gateway.test${WELL_KNOWN}`)
  t.equal(metadataUrl('https://gateway.test/a?b=c'), `https://gateway.test${WELL_KNOWN}/a?b=c`)
  t.strictSame(audienceOf('https://Gateway.test'), [
    'https://Gateway.test',
    'https://gateway.test',
    'https://gateway.test/'
  ])
  t.strictSame(audienceOf('https://gateway.test/mcp'), ['https://gateway.test/mcp'])
})

t.test('what a host application calls auth is its own', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(fp(async fastify => { fastify.decorate('auth', () => {}) }, { name: 'auth' }))
  await app.register(patchbay, { apiKeys: [{ name: 'a', hash: `sha256:${'0'.repeat(64)}`, scopes: [] }] })
  t.equal((await app.inject({ method: 'POST', url: '/message', payload: ping })).statusCode, 401)
})
