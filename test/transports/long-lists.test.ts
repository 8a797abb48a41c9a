import { once } from 'node:events'
import { connect } from 'node:http2'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { WebSocket } from 'ws'
import { createClient, patchbay, serveStdio } from '../../app.js'
import type { Json } from '../support/modern.js'
import { gateway, listening } from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import {
  Connection,
  COUNT,
  endpoints,
  entry,
  listMessage,
  listOver,
  LONG,
  MODERN,
  type Endpoint,
  type ListReply
} from '../support/long-lists.js'

// The part of a long answer that is the same for all clients is kept as bytes and written behind the rest.

const IDS = [
  1,
  0,
  -7,
  2 ** 53 - 1,
  '',
  'plain',
  'ü€😀',
  '€'.repeat(300),
  'with "quotes", \\ and \n',
  '"},"result":{}}',
  '\ud83d'
]
const NAMES = Array.from({ length: COUNT }, (_, index) => `tool_${String(index).padStart(2, '0')}`)

const namesIn = ({ message }: Pick<ListReply, 'message'>): unknown[] => message.result.tools.map(({ name }) => name)

t.test('a long list', async t => {
  const { app, url } = await listening(t, LONG)
  const ways = await endpoints(url)

  for (const [way, endpoint] of Object.entries(ways)) {
    t.test(`has its length and its text, whatever its id is (${way})`, async t => {
      for (const id of IDS) {
        const { status, headers, body, message } = await listOver(t, url, endpoint, id)
        t.equal(status, 200)
        t.match(headers.get('content-type'), /^application\/json\b/)
        t.equal(headers.get('transfer-encoding'), null)
        t.ok(body.length > 8_192 && Number(headers.get('content-length')) === body.length, `${body.length} bytes`)
        t.strictSame(Object.keys(message), ['jsonrpc', 'id', 'result'])
        t.equal(message.id, id)
        t.strictSame(namesIn({ message }), NAMES)
        t.ok(
          message.result.tools.every(
            ({ name, description }) => description === entry(String(name)).listed['description']
          ),
          'every character is there'
        )
        t.equal(JSON.stringify(message), body.toString(), 'and none beside them')
      }
    })

    t.test(`is read whole by those who ask many times on one connection (${way})`, async t => {
      const connection = new Connection(t, url)
      const ids = Array.from({ length: 60 }, (_, index) => index % 2 === 0 ? index : `€ ${index}`)
      for (let round = 0; round < 3; round++) {
        connection.ask(endpoint, ids)
        for (const id of ids) {
          const reply = await connection.next()
          if (reply.message.id !== id || namesIn(reply).length !== COUNT) {
            t.fail(`${String(reply.message.id)} instead of ${id}`)
          }
        }
      }
      t.equal(connection.rest, '')
      connection.socket.destroy()
    })
  }

  t.test('is the same over HTTP, WebSocket and stdio, and where requests are injected', async t => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    t.teardown(() => socket.terminate())
    const [input, output] = [new PassThrough(), new PassThrough()]
    serveStdio(app.mcp, { input, output, maxMessage: 100_000 })
    let written = ''
    output.on('data', (chunk: Buffer) => { written += String(chunk) })
    await within(60_000, async signal => await once(socket, 'open', { signal }))
    for (const id of ['ü€😀', 1]) {
      const text = (await listOver(t, url, MODERN, id)).body.toString()
      const received = within(60_000, async signal => await once(socket, 'message', { signal }))
      socket.send(listMessage(MODERN, id))
      t.equal(String((await received)[0]), text)
      written = ''
      input.write(`${listMessage(MODERN, id)}\n`)
      await until(() => written.endsWith('\n'))
      t.equal(written, `${text}\n`)
      const injected = await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { ...MODERN.headers, 'content-type': 'application/json' },
        payload: listMessage(MODERN, id)
      })
      t.equal(injected.body, text)
      t.equal(Number(injected.headers['content-length']), Buffer.byteLength(text))
    }
  })

  t.test('is sent with the name of its session, and other answers are what they were', async t => {
    const { headers } = await listOver(t, url, ways.session, 1)
    t.equal(headers.get('x-session-id'), ways.session.headers['x-session-id'])
    t.equal((await listOver(t, url, ways.modern, 1)).headers.get('x-session-id'), null)
    t.match(await (await fetch(`${url}/health`)).json(), { status: 'healthy' })
    t.equal((await fetch(`${url}/mcp`, { method: 'HEAD' })).status, 405)
    const wrong = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...MODERN.headers, 'content-type': 'application/json' },
      body: listMessage(MODERN, 1).replace('"params":{', '"params":{"cursor":"made up",')
    })
    t.match(await wrong.json(), { id: 1, error: { code: -32602 } })
  })

  t.test('that changes is sent anew, at every endpoint', async t => {
    const client = await createClient(app)
    for (const name of ['zzz_1', 'zzz_2']) {
      app.mcp.tools.add(entry(name))
      for (const endpoint of Object.values(ways)) t.equal(namesIn(await listOver(t, url, endpoint)).at(-1), name)
      t.equal((await client.request('tools/list') as { tools: Json[] }).tools.at(-1)?.['name'], name)
      app.mcp.tools.remove(name)
      for (const endpoint of Object.values(ways)) t.strictSame(namesIn(await listOver(t, url, endpoint)), NAMES)
    }
  })
})

t.test('a page that may ask reads a long list, too', async t => {
  const { url } = await listening(t, { ...LONG, allowedOrigins: ['https://app.example.com'] })
  for (const endpoint of Object.values(await endpoints(url))) {
    const { status, headers } = await listOver(t, url, endpoint, 1, { origin: 'https://app.example.com' })
    t.equal(status, 200)
    t.equal(headers.get('access-control-allow-origin'), 'https://app.example.com')
    t.match(headers.get('access-control-expose-headers'), /Mcp-Session-Id/i)
    t.match(headers.get('vary'), /Origin/i)
  }
})

t.test('the pages of a long list are each their own', async t => {
  const { url } = await listening(t, { ...LONG, pageSize: 25 })
  for (const endpoint of Object.values(await endpoints(url))) {
    for (let round = 0; round < 2; round++) {
      const first = await listOver(t, url, endpoint)
      t.strictSame(namesIn(first), NAMES.slice(0, 25))
      const response = await fetch(`${url}${endpoint.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...endpoint.headers },
        body: listMessage(endpoint, 2).replace(
          '"params":{',
          `"params":{"cursor":${JSON.stringify(first.message.result['nextCursor'])},`
        )
      })
      t.strictSame(namesIn({ message: await response.json() as ListReply['message'] }), NAMES.slice(25))
    }
  }
})

t.test('each revision has its own form of the list, whichever is asked for first', async t => {
  const { url } = await listening(t, LONG)
  const { modern, session, message } = await endpoints(url)
  for (const endpoint of [session, modern, message, modern, session]) {
    const { result } = (await listOver(t, url, endpoint)).message
    t.equal(result['resultType'], endpoint === modern ? 'complete' : undefined)
    t.equal('ttlMs' in result, endpoint === modern)
  }
})

/** Asks for much and leaves before all of it is there. */
async function leaveEarly (app: FastifyInstance, connection: Connection, endpoint: Endpoint): Promise<void> {
  connection.ask(endpoint, Array.from({ length: 50 }, (_, index) => index))
  await within(60_000, async signal => await once(connection.socket, 'data', { signal }))
  connection.socket.resetAndDestroy()
  await until(() => app.mcp.connections.replies.size === 0)
}

t.test('a client that leaves in the middle of a long list harms no other', async t => {
  const { app, url } = await listening(t, LONG)
  const stays = new Connection(t, url)
  for (const endpoint of Object.values(await endpoints(url))) {
    for (let times = 0; times < 5; times++) {
      stays.ask(endpoint, [times])
      await leaveEarly(app, new Connection(t, url), endpoint)
      t.strictSame(namesIn(await stays.next()), NAMES)
    }
  }
  stays.socket.destroy()
})

t.test('over HTTP/2 the list is the same', async t => {
  const app = Fastify({ http2: true })
  t.teardown(async () => await app.close())
  await app.register(patchbay, LONG)
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.teardown(() => session.destroy())
  for (const id of ['ü€😀', 1]) {
    const stream = session.request({
      ':method': 'POST',
      ':path': MODERN.path,
      ...MODERN.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream'
    })
    stream.end(listMessage(MODERN, id))
    const message = JSON.parse(await within(60_000, async () => await text(stream))) as ListReply['message']
    t.equal(message.id, id)
    t.strictSame(namesIn({ message }), NAMES)
  }
})

t.test('a short list is what it always was', async t => {
  const { url } = await listening(t, { tools: false, plugins: [async app => { app.mcp.tools.add(entry('only')) }] })
  for (const endpoint of Object.values(await endpoints(url))) {
    const { headers, body, message } = await listOver(t, url, endpoint, 'ü€😀')
    t.equal(Number(headers.get('content-length')), body.length)
    t.equal(message.id, 'ü€😀')
    t.strictSame(namesIn({ message }), ['only'])
  }
})

t.test('in one process the list is that of the wire', async t => {
  const { tools } = await (await createClient(await gateway(t, LONG))).request('tools/list') as { tools: Json[] }
  t.strictSame(tools.map(({ name }) => name), NAMES)
})
