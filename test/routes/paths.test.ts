import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { patchbay } from '../../app.js'

/** An application that has routes of its own where Patchbay, without a prefix, would have some, too. */
async function hostWith (t: Test, routes: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => await app.close())
  routes(app)
  await app.register(patchbay, { prefix: '', allowAnonymous: true })
  await app.ready()
  return app
}

t.test('a host keeps its own route at a path of ours with a slash at its end', async t => {
  const app = await hostWith(t, host => { host.get('/health/', async () => ({ own: true })) })
  t.strictSame((await app.inject('/health/')).json(), { own: true })
  t.match((await app.inject('/health')).json(), { live: true })
  t.equal(
    (await app.inject({ method: 'PUT', url: '/health/' })).statusCode,
    405,
    'methods that neither serves are refused'
  )
})

t.test('a host keeps its own routes of the HTTP methods that we would refuse', async t => {
  const app = await hostWith(t, host => {
    host.put('/mcp', async () => ({ own: 'put' }))
    host.patch('/mcp/', async () => ({ own: 'patch' }))
    host.all('/message/', async () => ({ own: 'all' }))
  })
  t.strictSame((await app.inject({ method: 'PUT', url: '/mcp' })).json(), { own: 'put' })
  t.strictSame((await app.inject({ method: 'PATCH', url: '/mcp/' })).json(), { own: 'patch' })
  t.strictSame((await app.inject({ method: 'POST', url: '/message/' })).json(), { own: 'all' })
  t.equal((await app.inject({ method: 'PATCH', url: '/mcp' })).statusCode, 405)
})

t.test('a host that has a route of ours itself does not start', async t => {
  await t.rejects(hostWith(t, host => { host.post('/mcp', async () => ({})) }), { code: 'FST_ERR_DUPLICATED_ROUTE' })
})

t.test('the OpenAPI document of a host has its own routes only', async t => {
  const documented: string[] = []
  await hostWith(t, host => {
    host.addHook('onRoute', ({ method, url, schema }) => {
      if (Reflect.get(schema ?? {}, 'hide') !== true) documented.push(`${String(method)} ${url}`)
    })
    host.get('/own', { exposeHeadRoute: false }, async () => ({}))
  })
  t.strictSame(documented, ['GET /own'])
})
