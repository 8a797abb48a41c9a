import t from 'tap'
import { createClient } from '../../../app.js'
import { gateway, listening } from '../../support/gateway.js'
import { openSession } from '../../support/http-session.js'

t.test('a client has at most 1,024 subscriptions, may repeat one, and may end one to begin another', async t => {
  const { request } = await createClient(await gateway(t))
  const subscribe = async (number: number) => await request('resources/subscribe', { uri: `test://item/${number}` })
  for (let number = 0; number < 1_024; number++) await subscribe(number)
  await t.rejects(subscribe(1_024), {
    code: -32602,
    message: /at most 1024 subscriptions \(limit maxSubscriptions\); unsubscribe/
  })
  t.strictSame(await subscribe(7), {})
  await request('resources/unsubscribe', { uri: 'test://item/7' })
  t.strictSame(await subscribe(1_024), {})
})

t.test('capabilities that would fill the store are refused, ordinary ones are not', async t => {
  const app = await gateway(t)
  await t.rejects(createClient(app, { capabilities: { experimental: { large: 'x'.repeat(70_000) } } }), {
    code: -32602,
    message: /capabilities are at most 65536/
  })
  await t.resolves(createClient(app, { capabilities: { experimental: { small: 'x'.repeat(1_000) } } }))
})

t.test('both may be less, exactly', async t => {
  const app = await gateway(t, { limits: { maxSubscriptions: 1, maxCapabilities: 30 } })
  const { request } = await createClient(app)
  await request('resources/subscribe', { uri: 'test://item/1' })
  await t.rejects(request('resources/subscribe', { uri: 'test://item/2' }), {
    code: -32602,
    message: /at most 1 subscriptions \(limit maxSubscriptions\)/
  })
  const sized = (length: number) => ({ x: { y: 'z'.repeat(length - '{"x":{"y":""}}'.length) } })
  await t.resolves(createClient(app, { capabilities: sized(30) }))
  await t.rejects(createClient(app, { capabilities: sized(31) }), { code: -32602, message: /at most 30/ })
})

t.test('the gateway keeps the name of a client, not its icons', async t => {
  const { app, url } = await listening(t)
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        clientInfo: { name: 'n'.repeat(1_000), version: '1', icons: [{ src: 'x'.repeat(100_000) }] }
      }
    })
  })
  const id = response.headers.get('mcp-session-id') ?? ''
  t.match((await response.json() as object), { result: { protocolVersion: '2025-11-25' } })
  t.strictSame((await app.mcp.store.sessions.load(id))?.record.client, { name: 'n'.repeat(256), version: '1' })
  t.ok(await openSession(url), 'others are served')
})
