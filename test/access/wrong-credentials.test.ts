import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { exchange, request } from '../support/http-client.js'
import { upgradeHead } from '../support/websocket-client.js'
import { startServer } from '../support/server.js'
import { gateway } from '../support/gateway.js'
import { startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, bearer, ping } from '../support/keys.js'

const GUESS = bearer('pb_guess')

/** Posts from an address; the status, and after how many seconds to try again. */
async function post (app: FastifyInstance, remoteAddress: string, headers: Record<string, string> = GUESS) {
  const {
    statusCode,
    headers: { 'retry-after': after },
    body
  } = await app.inject({ method: 'POST', url: '/message', remoteAddress, headers, payload: ping })
  return { status: statusCode, after: after === undefined ? undefined : Number(after), body }
}

async function statuses (times: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let count = 0; count < times; count++) seen.push((await send()).status)
  return seen
}

t.test('wrong credentials of one address are 401 until the limit, then 429', async t => {
  const app = await gateway(t, { apiKeys, limits: { maxWrongCredentials: 3 } })
  t.strictSame(await statuses(5, async () => await post(app, '192.0.2.1')), [401, 401, 401, 429, 429])
  const { after, body } = await post(app, '192.0.2.1')
  t.ok(after !== undefined && after > 0 && after <= 60, `${after} s`)
  t.match(body, /too many wrong credentials from this address \(limit maxWrongCredentials\)/)
})

t.test('no caller is locked out: neither the right key of that address nor another address', async t => {
  const issuer = await startIssuer(t)
  const app = await gateway(t, { apiKeys, oauth: issuer.options, limits: { maxWrongCredentials: 2 } })
  await statuses(4, async () => await post(app, '192.0.2.1'))
  t.equal((await post(app, '192.0.2.1')).status, 429)
  t.equal((await post(app, '192.0.2.1', bearer(ADA))).status, 200)
  t.equal(
    (await post(app, '192.0.2.1', bearer(await issuer.sign({ scope: 'mcp' })))).status,
    200,
    'a token that was never seen before'
  )
  t.equal((await post(app, '192.0.2.2')).status, 401)
  t.equal((await post(app, '192.0.2.2', bearer(ADA))).status, 200)
})

t.test('right credentials, and none at all, are not counted', async t => {
  const app = await gateway(t, { apiKeys, limits: { maxWrongCredentials: 1 } })
  t.strictSame(await statuses(3, async () => await post(app, '192.0.2.1', bearer(ADA))), [200, 200, 200])
  t.strictSame(await statuses(3, async () => await post(app, '192.0.2.1', {})), [401, 401, 401])
  t.strictSame(await statuses(2, async () => await post(app, '192.0.2.1')), [401, 429])
  t.equal((await post(app, '192.0.2.1', {})).status, 401)
})

t.test('tickets, credentials in a URL and other schemes count, too', async t => {
  for (const [url, headers] of [
    ['/sse?ticket=x', {}],
    ['/sse?access_token=x', {}],
    ['/sse', { authorization: 'Basic eDp5' }]
  ] as const) {
    const app = await gateway(t, { apiKeys, limits: { maxWrongCredentials: 1 } })
    const get = async () => ({
      status: (await app.inject({ url, headers: { accept: 'text/event-stream', ...headers } })).statusCode
    })
    t.strictSame(await statuses(2, get), [401, 429], url)
  }
  const app = await gateway(t, { apiKeys, limits: { maxWrongCredentials: 1 } })
  t.strictSame(
    await statuses(2, async () => await post(app, '192.0.2.1', { authorization: 'Bearer two words' })),
    [400, 429],
    'what is no credential at all, as well'
  )
})

t.test('the WebSocket upgrade is answered the same way', async t => {
  const { port } = await startServer(t, { apiKeys, limits: { maxWrongCredentials: 1 } })
  const upgrade = request('GET', '/mcp', [
    ['Host', 'localhost'],
    ...upgradeHead(0).slice(1),
    ['Authorization', 'Bearer guess']
  ])
  t.strictSame(await statuses(2, async () => await exchange(port, upgrade)), [401, 429])
})

t.test('a network of IPv6 is one address, and a trusted proxy names the address of its client', async t => {
  const app = await gateway(t, { apiKeys, limits: { maxWrongCredentials: 1 }, trustProxy: ['10.0.0.0/8'] })
  t.strictSame(
    [
      (await post(app, '2001:db8::1')).status,
      (await post(app, '2001:db8::2')).status,
      (await post(app, '2001:db8:0:1::1')).status
    ],
    [401, 429, 401]
  )
  const via =
    (client: string, proxy = '10.0.0.9') =>
      async () =>
        await post(app, proxy, { ...GUESS, 'x-forwarded-for': client })
  t.strictSame([...await statuses(2, via('192.0.2.7')), ...await statuses(2, via('192.0.2.8'))], [401, 429, 401, 429])
  t.strictSame(
    [...(await statuses(1, via('192.0.2.9', '172.16.0.1'))), ...(await statuses(1, via('192.0.2.10', '172.16.0.1')))],
    [401, 429],
    'others are not believed'
  )
})

t.test('beyond the limit the log has one line a minute, with the address', async t => {
  const lines: Array<{ audit?: { status: number, address: string } }> = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as object)
      done()
    }
  })
  const app = await gateway(
    t,
    { apiKeys, limits: { maxWrongCredentials: 2 } },
    { loggerInstance: pino({ level: 'info' }, out) }
  )
  await statuses(20, async () => await post(app, '192.0.2.1'))
  const audited = lines.flatMap(({ audit }) => audit === undefined ? [] : [audit])
  t.match(audited, [{ status: 401 }, { status: 401 }, { status: 429, address: '192.0.2.1' }])
  t.equal(audited.length, 3)
})
