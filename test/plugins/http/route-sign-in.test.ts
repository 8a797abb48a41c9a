import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { generateKeyPair, jwtVerify, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { patchbay, type Options } from '../../../app.js'
import { modernPost } from '../../support/host.js'

const ISSUER = 'https://shop.test'
const keys = await generateKeyPair('ES256')

/** Signs a token as the application does at its own sign-in. */
const signed = async (name: string, role: string, expires = '5m', { privateKey } = keys): Promise<string> =>
  await new SignJWT({ role })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(ISSUER)
    .setSubject(name)
    .setExpirationTime(expires)
    .sign(privateKey)

const SESSIONS = new Map([['s-ada', 'ada'], ['s-bob', 'bob']])

/** Who is signed in, by the session in the cookie. Of each plugin its own: hooks of one are not those of the other. */
const cart: FastifyPluginAsync = async app => {
  app.decorateRequest('customer', '')
  app.addHook('onRequest', async (request, reply) => {
    const [, id = ''] = /(?:^|; )sid=([^;]+)/.exec(request.headers.cookie ?? '') ?? []
    const customer = SESSIONS.get(id)
    if (customer === undefined) return await reply.code(401).header('www-authenticate', 'Cookie').send({ message: 'sign in' })
    request.setDecorator('customer', customer)
  })
  app.get('/', { config: { mcp: { name: 'get_cart', description: 'The cart of the customer' } } }, async request => ({
    customer: request.getDecorator<string>('customer')
  }))
}

/** Who calls, by a token that is verified before the handler. */
const orders: FastifyPluginAsync = async app => {
  app.decorateRequest('claims', null)
  app.addHook('onRequest', async (request, reply) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const verified = await jwtVerify(token, keys.publicKey, { issuer: ISSUER }).catch(() => undefined)
    if (verified === undefined) {
      return await reply.code(401).header('www-authenticate', 'Bearer error="invalid_token"').send({ message: 'no good token' })
    }
    request.setDecorator('claims', verified.payload)
  })
  app.get('/:id', {
    schema: { params: Type.Object({ id: Type.Integer() }) },
    config: { mcp: { name: 'get_order', description: 'One order' } }
  }, async request => ({ ...Object(request.params), of: request.getDecorator<{ sub: string }>('claims').sub }))
  await app.register(async admin => {
    admin.addHook('onRequest', async (request, reply) => {
      const { role } = request.getDecorator<{ role: string }>('claims')
      if (role !== 'admin') return await reply.code(403).send({ message: 'for admins' })
    })
    admin.delete('/:id', { config: { mcp: { name: 'delete_order', description: 'Deletes one' } } }, async () => ({ gone: true }))
  }, { prefix: '/admin' })
}

async function shop (t: Test, routes: Options['routes']): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai', grace: 1_000, allowAnonymous: true, ...(routes === undefined ? {} : { routes }) })
  await app.register(cart, { prefix: '/v1/cart' })
  await app.register(orders, { prefix: '/v1/orders' })
  await app.ready()
  return app
}

const NAMED = { headers: ['authorization', 'cookie'] }

async function call (app: FastifyInstance, name: string, args: object, headers: Record<string, string>) {
  const request = modernPost(name, args)
  const reply = await app.inject({ ...request, headers: { ...request.headers, ...headers } })
  const { result } = reply.json<{ result?: { structuredContent?: unknown, isError?: boolean } }>()
  return { status: reply.statusCode, challenge: reply.headers['www-authenticate'], output: result?.structuredContent }
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

t.test('a session cookie signs in to the tools of its plugin, and to no other', async t => {
  const app = await shop(t, NAMED)
  t.match(await call(app, 'get_cart', {}, { cookie: 'a=1; sid=s-ada' }), { status: 200, output: { customer: 'ada' } })
  t.match(await call(app, 'get_cart', {}, { cookie: 'sid=s-bob' }), { status: 200, output: { customer: 'bob' } })
  t.match(await call(app, 'get_cart', {}, { cookie: 'sid=s-eve' }), { status: 401, challenge: 'Cookie' })
  t.match(await call(app, 'get_order', { id: 1 }, { cookie: 'sid=s-ada' }), { status: 401, challenge: /^Bearer/ })
  const both = await Promise.all(['ada', 'bob'].map(async who => await call(app, 'get_cart', {}, { cookie: `sid=s-${who}` })))
  t.strictSame(both.map(({ output }) => output), [{ customer: 'ada' }, { customer: 'bob' }], 'calls at once do not mix')
})

t.test('a signed token is verified by the hook of the route, which a nested plugin narrows', async t => {
  const app = await shop(t, NAMED)
  const ada = bearer(await signed('ada', 'admin'))
  const bob = bearer(await signed('bob', 'customer'))
  t.match(await call(app, 'get_order', { id: 7 }, bob), { status: 200, output: { id: 7, of: 'bob' } })
  t.match(await call(app, 'delete_order', { id: '7' }, ada), { status: 200, output: { gone: true } })
  t.match(await call(app, 'delete_order', { id: '7' }, bob), { status: 403 })
  const others = await generateKeyPair('ES256')
  for (const token of ['', 'x.y.z', await signed('ada', 'admin', '-1m'), await signed('ada', 'admin', '5m', others)]) {
    t.match(await call(app, 'delete_order', { id: '7' }, bearer(token)), { status: 401, challenge: /invalid_token/ })
  }
})

t.test('credentials that are not named do not reach the routes', async t => {
  const headers = { ...bearer(await signed('ada', 'admin')), cookie: 'sid=s-ada' }
  for (const routes of [undefined, {}, { headers: ['x-other'] }]) {
    const app = await shop(t, routes)
    t.match(await call(app, 'get_cart', {}, headers), { status: 401 })
    t.match(await call(app, 'get_order', { id: 1 }, headers), { status: 401 })
  }
})
