import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { settable, turnable } from '../support/clocks.js'
import { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { startIssuer } from '../support/environment/issuer.js'
import { openStream } from '../support/event-reader.js'
import { ADA, apiKeys, bearer, BOB, challengeOf, listed, ping } from '../support/keys.js'

interface Issued { ticket: string, expiresIn: number }

async function ticketFor (app: FastifyInstance, credential: string): Promise<string> {
  return (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(credential) })).json<Issued>().ticket
}

async function connect (t: Test, url: string, protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols)
  t.teardown(() => socket.terminate())
  await within(60_000, async signal => await once(socket, 'open', { signal }))
  return socket
}

async function refused (
  url: string,
  protocols: string[] = []
): Promise<{ status: number, challenge: Record<string, string> }> {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols)
  const [, response] = (await within(
    60_000,
    async signal => await once(socket, 'unexpected-response', { signal })
  )) as [unknown, { statusCode: number, headers: Record<string, string> }]
  socket.on('error', () => {})
  socket.terminate()
  return { status: response.statusCode, challenge: challengeOf(response.headers['www-authenticate']) }
}

t.test('a ticket needs a credential, and the reply is not cached', async t => {
  const { app } = await listening(t, { apiKeys, limits: { ticketLifetime: 7_000 } })
  const response = await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })
  t.equal(response.statusCode, 200)
  t.match(response.json(), { ticket: /^[\w-]{43}$/, expiresIn: 7_000 })
  t.equal(response.headers['cache-control'], 'no-store')
  t.equal((await app.inject({ method: 'POST', url: '/ticket' })).statusCode, 401)
  t.match(await app.inject({ url: '/ticket', headers: bearer(ADA) }), { statusCode: 405, headers: { allow: 'POST' } })
})

t.test('a ticket opens a WebSocket for the one who asked for it, once', async t => {
  const { app, url } = await listening(t, { apiKeys })
  const ticket = await ticketFor(app, BOB)
  const socket = await connect(t, `${url}/mcp?ticket=${ticket}`)
  t.equal([...app.mcp.dispatcher.lifecycle.peers][0]?.principal, 'key:bob')
  socket.send(JSON.stringify(ping))
  const [data] = await within(60_000, async signal => await once(socket, 'message', { signal }))
  t.match(JSON.parse(String(data)), { id: 1, result: {} })
  t.strictSame(await refused(`${url}/mcp?ticket=${ticket}`), {
    status: 401,
    challenge: {
      realm: 'mcp-patchbay',
      scope: 'mcp',
      error: 'invalid_token',
      error_description: 'the ticket is not known, was used or has expired'
    }
  })
})

t.test('a ticket may be offered as a subprotocol', async t => {
  const { app, url } = await listening(t, { apiKeys })
  const ticket = await ticketFor(app, ADA)
  t.equal((await connect(t, `${url}/mcp`, ['mcp', `ticket.${ticket}`])).protocol, 'mcp')
  t.equal([...app.mcp.dispatcher.lifecycle.peers][0]?.principal, 'key:ada')
  t.equal((await refused(`${url}/mcp`, ['mcp', `ticket.${ticket}`])).status, 401, 'once')
  t.equal((await refused(`${url}/mcp`, ['mcp', 'ticket.x'])).status, 401)
  t.equal(
    (await refused(`${url}/mcp?ticket=${await ticketFor(app, ADA)}`, ['mcp', `ticket.${await ticketFor(app, ADA)}`]))
      .status,
    400,
    'two are too many'
  )
  t.equal((await refused(`${url}/mcp`, ['mcp', ADA])).status, 401, 'and a key is no ticket')
})

t.test('a ticket opens event streams', async t => {
  const { app, url } = await listening(t, { apiKeys })
  for (const path of ['/sse', '/mcp/sse']) {
    const stream = await openStream(`${url}${path}?ticket=${await ticketFor(app, ADA)}`)
    t.equal(stream.response.status, 200, path)
    stream.drop()
  }
  const { headers } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: bearer(ADA),
    payload: { ...ping, method: 'initialize', params: {} }
  })
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) }
  const stream = await openStream(`${url}/mcp?ticket=${await ticketFor(app, ADA)}`, { headers: session })
  t.equal(stream.response.status, 200)
  stream.drop()
  const foreign = await openStream(`${url}/mcp?ticket=${await ticketFor(app, BOB)}`, { headers: session })
  t.equal(foreign.response.status, 404, 'but not those of another')
})

t.test('a ticket opens nothing else', async t => {
  const { app } = await listening(t, { apiKeys })
  const ticket = await ticketFor(app, BOB)
  for (const [method, url] of [
    ['POST', '/mcp'],
    ['DELETE', '/mcp'],
    ['POST', '/message'],
    ['POST', '/ticket'],
    ['GET', '/ticket'],
    ['PUT', '/sse'],
    ['GET', '/nowhere']
  ] as const) {
    t.equal((await app.inject({ method, url: `${url}?ticket=${ticket}` })).statusCode, 401, `${method} ${url}`)
  }
  t.equal((await app.inject({ url: '/sse', headers: { 'x-ticket': ticket } })).statusCode, 401)
  t.equal((await app.inject({ url: '/sse', headers: bearer(ticket) })).statusCode, 401, 'it is no key')
  t.equal(
    (await app.inject({ url: `/sse?ticket=${ticket}`, headers: bearer(BOB) })).statusCode,
    400,
    'and no second credential'
  )
  t.equal((await app.inject(`/sse?ticket=${ticket}&ticket=${ticket}`)).statusCode, 400)
  for (const nothing of ['', 'x', '%00', ADA]) {
    t.equal((await app.inject(`/sse?ticket=${nothing}`)).statusCode, 401, nothing)
  }
  t.equal((await app.inject({ url: `/sse?ticket=${ticket}`, headers: { host: 'evil.test' } })).statusCode, 403)
  t.equal(
    (await app.inject({ url: `/sse?ticket=${ticket}`, headers: { accept: 'text/html' } })).statusCode,
    406,
    'and all of this has not used it up'
  )
})

t.test('a ticket is good for its time only', async t => {
  const { app, url } = await listening(t, { apiKeys, limits: { ticketLifetime: 10_000 } })
  const [clock, time] = [turnable(t), settable(t)]
  const ticket = await ticketFor(app, ADA)
  clock.later = time.later = 10_001
  t.equal((await refused(`${url}/mcp?ticket=${ticket}`)).status, 401)
})

t.test('a ticket dies with the credential it was given for', async t => {
  const issuer = await startIssuer(t)
  const soon = new Date(Date.now() + 60_000).toISOString()
  const { app } = await listening(t, {
    apiKeys: [listed('brief', 'pb_brief', ['mcp'], { expires: soon })],
    oauth: issuer.options,
    limits: { ticketLifetime: 3_600_000 }
  })
  const { expiresIn } = (
    await app.inject({ method: 'POST', url: '/ticket', headers: bearer('pb_brief') })
  ).json<Issued>()
  t.ok(expiresIn > 0 && expiresIn <= 60_000, `${expiresIn} ms`)
  const { expiresIn: ofToken } = (
    await app.inject({
      method: 'POST',
      url: '/ticket',
      headers: bearer(await issuer.sign({ exp: Math.floor(Date.now() / 1_000) + 10 }))
    })
  ).json<Issued>()
  t.ok(ofToken > 0 && ofToken <= 10_000, `${ofToken} ms`)
})

t.test('there are only so many tickets at once', async t => {
  const { app } = await listening(t, { apiKeys })
  for (let count = 0; count < 100; count++) await ticketFor(app, ADA)
  t.match(await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) }), {
    statusCode: 429,
    headers: { 'retry-after': '30' }
  })
  t.ok(await ticketFor(app, BOB), 'and that is nobody else\'s trouble')
})
