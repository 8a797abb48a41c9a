import type { default as FastifyFactory, FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { shopWithPatchbay } from '../../examples/embed/with-patchbay.js'
import { callOf, INITIALIZE, overEventStream, overHttp, overWebSocket, post, upgradeStatus } from './mount-clients.js'

const ADA = { authorization: 'Bearer token-of-ada' }
const BOB = { authorization: 'Bearer token-of-bob' }
const ORIGIN = 'https://shop.example.com'
const OPEN = { id: 1, result: { structuredContent: { ids: [1] } } }

// The types of the two versions differ, and the oldest is not there before `npm ci`, so the compiler does not see the
// imports.
const VERSIONS = { oldest: 'fastify-oldest', newest: 'fastify' }

for (const [age, name] of Object.entries(VERSIONS)) {
  const { default: Fastify } = await import(name) as { default: typeof FastifyFactory }
  for (const patchbayFirst of [true, false]) {
    t.test(
      `the example host works with the ${age} Fastify, Patchbay registered ${patchbayFirst ? 'before' : 'after'} its plugins`,
      async t => {
        const lines: string[] = []
        const app = Fastify({
          logger: {
            level: 'warn',
            stream: {
              write: (line: string) => {
                lines.push(line)
              }
            }
          },
          forceCloseConnections: true
        })
        t.teardown(async () => await app.close())
        await shopWithPatchbay(app, patchbayFirst)
        const url = await app.listen({ port: 0, host: '127.0.0.1' })
        t.match(app.version, /^5\./)
        await t.test('its own routes', async t => await ownRoutes(t, app, url))
        await t.test('MCP', async t => await gateway(t, `${url}/ai`))
        await t.test('both together', async t => await both(t, url))
        // Each refusal is logged at most once.
        t.strictSame(
          lines.filter(line => !/"level":40/.test(line)),
          []
        )
      }
    )
  }
}

async function ownRoutes (t: Test, app: FastifyInstance, url: string): Promise<void> {
  const orders = await fetch(`${url}/orders`, { headers: { ...ADA, origin: ORIGIN } })
  t.match(await orders.json(), [{ id: 1 }, { id: 2 }])
  t.equal(orders.headers.get('access-control-allow-origin'), ORIGIN, 'its CORS')
  t.equal(
    (await fetch(`${url}/orders`, { headers: { ...ADA, origin: 'https://evil.example' } })).headers.get(
      'access-control-allow-origin'
    ),
    null
  )
  const preflight = await fetch(`${url}/orders`, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': 'GET' }
  })
  t.match([preflight.status, preflight.headers.get('access-control-allow-headers')], [204, 'authorization'])
  t.strictSame(
    await (await fetch(`${url}/orders`)).json(),
    { shopError: 'send your token' },
    'its callers and error handler'
  )
  t.strictSame(await (await fetch(`${url}/broken`)).json(), { shopError: 'the shop is broken' })
  t.strictSame(await (await fetch(`${url}/health`)).json(), { health: 'the shop is open' }, 'its decorator')
  t.equal(app.store.orders.length, 2)
  t.equal((await fetch(`${url}/status`)).status, 200, 'under-pressure')
  t.equal(await overWebSocket(`${url}/feed`, ['3']), 'order 3 has come', 'its WebSocket route')
  t.equal((await fetch(`${url}/nowhere`)).status, 404)
}

async function gateway (t: Test, url: string): Promise<void> {
  t.match(
    await overHttp(`${url}/message`, callOf('open_orders'), ADA),
    { id: 1, result: { content: [{ text: /"ids":\[1\]/ }] } },
    'over HTTP'
  )
  t.match(
    await overEventStream(`${url}/mcp`, callOf('open_orders'), ADA),
    [{ method: 'notifications/progress' }, OPEN],
    'over an event stream'
  )
  t.match(
    JSON.parse(await overWebSocket(`${url}/mcp`, [INITIALIZE, callOf('open_orders')], ADA)),
    OPEN,
    'over WebSocket'
  )
  t.equal((await post(`${url}/message`, callOf('open_orders'))).status, 401, 'a stranger has no rights')
  t.equal(await upgradeStatus(`${url}/mcp`, {}), 401)
  t.match(
    await overHttp(`${url}/message`, callOf('close_order', { id: 1 }), BOB),
    { error: { message: /scope/ } },
    'a caller has the rights that the host gave'
  )
  t.strictSame(Object.keys(await (await fetch(`${url}/health`)).json() as object), ['status', 'live', 'ready'])
  const { result } = (await overHttp(
    `${url}/message`,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    ADA
  )) as { result: { tools: Array<{ name: string }> } }
  t.strictSame(result.tools.map(({ name }) => name), ['close_order', 'open_orders'], 'its tools and no others')
}

async function both (t: Test, url: string): Promise<void> {
  t.strictSame(
    await (await fetch(`${url}/open-orders`, { headers: ADA })).json(),
    { ids: [1] },
    'a route calls a tool for its caller'
  )
  t.equal((await fetch(`${url}/open-orders`)).status, 401)
  t.match(await overHttp(`${url}/ai/message`, callOf('close_order', { id: 1 }), ADA), {
    result: { content: [{ text: 'order 1 is closed' }] }
  })
  t.match(
    await (await fetch(`${url}/orders`, { headers: ADA })).json(),
    [{ id: 1, open: false }],
    'a tool changes the store of the host'
  )
}
