import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, tool, type Options } from '../../../app.js'
import { turnable } from '../../support/clocks.js'
import { host } from '../../support/host.js'
import { gateway, listening } from '../../support/gateway.js'
import { client } from '../../support/recorder.js'
import { inTime } from '../../support/wait.js'
import { transports, postMessage, type Connection, type Answer } from './rate-transports.js'

const list = (id: number) => ({ id, method: 'tools/list' })
const count = (id: number) => ({ id, method: 'tools/call', params: { name: 'count', arguments: {} } })

/** A gateway with a tool that counts how often it was run. */
async function counting (t: Test, options: Partial<Options>) {
  const ran = { times: 0 }
  const plugin = async ({ mcp: { tools } }: FastifyInstance) =>
    tools.add(
      tool({
        name: 'count',
        description: 'd',
        run: () => {
          ran.times++
          return 'done'
        }
      })
    )
  return { ran, ...await listening(t, { plugins: [plugin], ...options }) }
}

const isRefused = ({ body }: Answer) => 'error' in body

/**
 * Sends until it is refused: how many were answered, and how many whole seconds it took, each of which brings new
 * tokens.
 */
async function untilRefused (send: () => Promise<Answer>) {
  const begun = performance.now()
  for (let answered = 0; ; answered++) {
    const response = await send()
    // Pipes within one process never wait, and what counts is loaded when it is first needed.
    await turn()
    if (isRefused(response)) return { answered, seconds: Math.floor((performance.now() - begun) / 1_000), response }
  }
}

async function openConnection (t: Test, name: string, app: FastifyInstance, url: string): Promise<Connection> {
  const connection = await (transports[name] as NonNullable<typeof transports[string]>)(app, url)
  t.teardown(connection.close)
  return connection
}

for (const name of Object.keys(transports)) {
  const isHttp = name.includes('POST') || name.includes('HTTP')

  t.test(`${name}: the burst is answered, and not one more; what is refused is not run`, async t => {
    const begun = performance.now()
    const { app, url, ran } = await counting(t, { rate: 1, burst: 6 })
    const { cost, send } = await openConnection(t, name, app, url)
    const { answered, response } = await untilRefused(async () => await send(count(1)))
    const seconds = Math.floor((performance.now() - begun) / 1_000)
    t.ok(answered >= 6 - cost && answered <= 6 - cost + seconds, `${answered} of ${6 - cost}, in ${seconds} s`)
    t.match(response.body, {
      error: { code: -32603, message: /^Too many calls by one caller \(option rate\); try again in 1 s$/ }
    })
    t.equal(ran.times, answered)
    if (isHttp) t.match(response, { status: 429, retryAfter: '1' })
    else t.match(response.body, { id: 1, error: { data: { retryAfter: 1 } } })
  })

  t.test(`${name}: a tool has a rate of its own`, async t => {
    const { app, url, ran } = await counting(t, { toolRates: { count: 3 } })
    const { send } = await openConnection(t, name, app, url)
    const { answered, seconds, response } = await untilRefused(async () => await send(count(1)))
    t.ok(answered >= 3 && answered <= 3 + 3 * seconds, `${answered} in ${seconds} s`)
    t.match(response.body, {
      id: 1,
      error: {
        code: -32603,
        message: /^Too many calls to count by one caller \(option toolRates\); try again in 1 s$/,
        data: { retryAfter: 1 }
      }
    })
    t.equal(ran.times, answered)
    if (isHttp && name !== 'HTTP+SSE') t.match(response, { status: 429, retryAfter: '1' })
    t.notOk(isRefused(await send(list(2))), 'others are served')
  })
}

t.test('after the time in the refusal requests are served again', async t => {
  const clock = turnable(t)
  const { url } = await listening(t, { rate: 2, burst: 2 })
  const { response } = await untilRefused(async () => await postMessage(`${url}/message`, list(1)))
  clock.later = 1_000 * Number(response.retryAfter)
  t.equal((await postMessage(`${url}/message`, list(1))).status, 200)
})

t.test('each request of a batch counts', async t => {
  for (const [name, cost] of [['POST /message', 0], ['WebSocket', 2], ['stdio', 1]] as const) {
    const { app, url, ran } = await counting(t, { rate: 1, burst: 6 })
    const { send } = await openConnection(t, name, app, url)
    const { body } = await send([{ method: 'notifications/initialized' }, ...[1, 2, 3, 4, 5, 6, 7, 8].map(count)])
    t.equal((body as object[]).filter(answer => 'result' in answer).length, 6 - cost, name)
    t.match(
      (body as object[]).filter(answer => 'error' in answer).map(answer => Object(answer)),
      Array.from({ length: 2 + cost }, () => ({ error: { message: /Too many calls/ } }))
    )
    t.equal(ran.times, 6 - cost)
  }
})

for (const [method, names] of [
  ['ping', ['POST /mcp with a session', 'POST /message', 'HTTP+SSE', 'WebSocket', 'stdio']],
  ['initialize', ['POST /message', 'HTTP+SSE', 'WebSocket', 'stdio']],
  ['server/discover', ['POST /mcp in 2026-07-28']]
] as const) {
  for (const name of names) {
    t.test(`${name}: ${method} is counted and refused like any other call`, async t => {
      const begun = performance.now()
      const { app, url } = await listening(t, { rate: 1, burst: 6 })
      const { cost, send } = await openConnection(t, name, app, url)
      const { answered, response } = await untilRefused(async () => await send({ id: 1, method, params: {} }))
      const seconds = Math.floor((performance.now() - begun) / 1_000)
      t.ok(answered >= 6 - cost && answered <= 6 - cost + seconds, `${answered} of ${6 - cost}, in ${seconds} s`)
      t.match(response.body, { error: { code: -32603, message: /^Too many calls by one caller \(option rate\)/ } })
    })
  }
}

t.test('a handshake that has to wait to be counted still comes before what follows it', async t => {
  const app = await gateway(t, { rate: 100, burst: 100 })
  const { channel, send, peer } = client(app.mcp.dispatcher, { transport: 'stdio' })
  peer.revision = undefined
  send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18' } })
  send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  t.match(
    [await channel.next(), await channel.next()],
    [
      { id: 0, result: { protocolVersion: '2025-06-18' } },
      { id: 1, result: {} }
    ]
  )
})

t.test('a call that is cancelled while it waits is not run', async t => {
  const { app, url, ran } = await counting(t, { toolRates: { count: 10 } })
  const { send } = await openConnection(t, 'WebSocket', app, url)
  const asked = (
    await send([count(1), { method: 'notifications/cancelled', params: { requestId: 1 } }, { id: 2, method: 'ping' }])
  ).body
  t.match(asked, [{ id: 2 }])
  await send(count(3))
  t.equal(ran.times, 1)
})

t.test('callers do not touch each other', async t => {
  t.test('by address, and one network of IPv6 is one', async t => {
    const app = await gateway(t, { rate: 1, burst: 3 })
    const from = async (remoteAddress: string) =>
      (await app.inject({ method: 'GET', url: '/health', remoteAddress })).statusCode
    const all = async (...addresses: string[]) => await Promise.all(addresses.map(from))
    t.strictSame(await all('10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.1'), [200, 200, 200, 429])
    t.strictSame(await all('10.0.0.2', '::ffff:10.0.0.2', '10.0.0.2', '10.0.0.2'), [200, 200, 200, 429])
    t.strictSame(
      await all('2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8:1::1'),
      [200, 200, 200, 429, 200]
    )
  })

  t.test('by name, whatever the address; a name is not taken for an address', async t => {
    const app = await host(t, app => {
      app.decorateRequest('identity')
      app.addHook('onRequest', async request => {
        const principal = request.headers['x-caller']
        if (typeof principal === 'string') request.identity = { principal, scopes: 'all' }
      })
    }, { rate: 1, burst: 2 })
    const as = async (name: string | undefined, remoteAddress: string) =>
      (await app.inject({ url: '/ai/health', remoteAddress, headers: name === undefined ? {} : { 'x-caller': name } }))
        .statusCode
    t.strictSame(
      await Promise.all([as('ada', '10.0.0.1'), as('ada', '10.0.0.2'), as('ada', '10.0.0.3'), as('bob', '10.0.0.1')]),
      [200, 200, 429, 200]
    )
    t.strictSame(
      await Promise.all([
        as('10.0.0.9', '10.0.0.1'),
        as('10.0.0.9', '10.0.0.1'),
        as('10.0.0.9', '10.0.0.1'),
        as(undefined, '10.0.0.9')
      ]),
      [200, 200, 429, 200]
    )
    t.equal(
      (await app.inject({ url: '/own', remoteAddress: '10.0.0.9' })).statusCode,
      200,
      'what is not ours is not counted'
    )
  })
})

t.test('the rate is checked before everything else but the Host', async t => {
  const app = await gateway(t, { rate: 1, burst: 2, maxMessage: 1_000 })
  const ask = (more: object) =>
    app.inject({ method: 'POST', url: '/mcp', headers: { 'content-type': 'application/json' }, payload: '{}', ...more })
  const [, , method, type, size, route, host] = await Promise.all([
    ask({}), ask({}),
    ask({ method: 'PUT' }),
    ask({ headers: { 'content-type': 'text/plain' } }),
    ask({ payload: JSON.stringify('x'.repeat(2_000)) }),
    ask({ url: '/nowhere' }),
    ask({ headers: { host: 'evil.example' } })
  ])
  t.strictSame([method, type, size, route, host].map(reply => reply?.statusCode), [429, 429, 429, 429, 403])
  t.match(method?.json(), { jsonrpc: '2.0', id: null, error: { code: -32603 } })
  t.match(size?.headers, { 'retry-after': '1' })
})

t.test('an upgrade counts, and is refused with a status', async t => {
  const { app, url } = await listening(t, { rate: 1, burst: 2 })
  await openConnection(t, 'WebSocket', app, url)
  await t.rejects(openConnection(t, 'WebSocket', app, url), { message: /429/ })
})

t.test('clients in the same process are not limited', async t => {
  const { app } = await counting(t, { rate: 1, burst: 1, toolRates: { count: 1 } })
  const client = await createClient(app)
  for (let call = 0; call < 10; call++) {
    t.match(await client.request('tools/call', { name: 'count' }), { content: [{ text: 'done' }] })
  }
})

t.test('a caller within its rate does not wait', async t => {
  const { app } = await counting(t, {})
  const { ask, channel } = client(app.mcp.dispatcher, { transport: 'websocket' })
  for (let call = 1; call <= 300; call++) {
    ask('tools/list')
    t.equal(channel.sent.length, call, 'answered at once')
    await turn()
  }
})

t.test('a request whose rate cannot be counted is answered with an error, and does not wait for ever', async t => {
  const app = await gateway(t)
  Object.assign(app.mcp.rateLimiter, { take: async () => { throw new Error('away') } })
  const response = await inTime(
    app.inject({ method: 'POST', url: '/message', payload: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
    'the reply'
  )
  t.equal(response.statusCode, 500)
  t.notMatch(response.body, /away/)
})
