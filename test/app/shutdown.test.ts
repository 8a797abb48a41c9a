import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, tool } from '../../app.js'
import { inTime, until } from '../support/wait.js'
import { mirroredHead, postHead } from '../support/http-requests.js'
import { call } from '../support/messages.js'
import { lastExchange, request, type Reply } from '../support/http-client.js'
import { listening } from '../support/gateway.js'
import { host, modernPost } from '../support/host.js'
import { messagesOf } from '../support/event-reader.js'
import { modernMeta, type Json } from '../support/modern.js'

const SIZE = 5_000_000

/** A tool whose answer fits into no socket buffer; it logs before, so a client that wants logs gets a stream. */
function big (app: FastifyInstance): EventEmitter {
  const calls = new EventEmitter()
  app.mcp.tools.add(tool({
    name: 'big',
    description: 'd',
    run: async (_input, call) => {
      call.log('error', 'soon')
      calls.emit('started')
      await once(calls, 'go')
      return 'x'.repeat(SIZE)
    }
  }))
  return calls
}

const textOf = (answer: Json | undefined): string =>
  (answer?.result as { content: [{ text: string }] } | undefined)?.content[0].text ?? ''

const REPLIES: Array<[kind: string, meta: Json, read: (reply: Reply) => Json | undefined]> = [
  ['as JSON', {}, ({ body }) => JSON.parse(body) as Json],
  ['on an event stream', { 'io.modelcontextprotocol/logLevel': 'debug' }, ({ body }) => messagesOf(body).at(-1)]
]

for (const [kind, meta, read] of REPLIES) {
  t.test(`a large answer ${kind} arrives whole when the server closes`, async t => {
    const { app, url } = await listening(t)
    const calls = big(app)
    const body = call('tools/call', { name: 'big', _meta: { ...modernMeta(), ...meta } })('modern')
    const started = once(calls, 'started')
    const reply = lastExchange(
      Number(new URL(url).port),
      request('POST', '/mcp', [...postHead(0), ...mirroredHead(body)], body)
    )
    await inTime(started, 'the call')
    const closed = app.close()
    for (let turns = 0; turns < 3; turns++) await turn()
    calls.emit('go')
    t.equal(textOf(read(await reply)).length, SIZE)
    await inTime(closed, 'the end')
  })
}

t.test('a host that gives up what takes too long when it closes still closes in order', async t => {
  const app = await host(t, undefined, { grace: 60_000 }, { pluginTimeout: 1_000 })
  app.mcp.tools.add(tool({ name: 'stubborn', description: 'd', run: async () => await new Promise<never>(() => {}) }))
  const answer = app.inject(modernPost('stubborn', {}))
  while (app.mcp.dispatcher.lifecycle.peers.size === 0) await turn()
  await inTime(app.close(), 'the end')
  t.match((await answer).json(), { id: 1, error: { code: -32603, message: 'The server is shutting down' } })
})

t.test('closing a standalone gateway waits longer than its calls may take', async t => {
  for (const grace of [100, 10_000, 60_000]) {
    const app = await build({ grace, http: false })
    t.teardown(async () => await app.close())
    t.ok(Number(app.initialConfig.pluginTimeout) * 0.8 > grace, `${grace} ms`)
  }
})

t.test('a call that ends after the server began to close is answered', async t => {
  const { app } = await listening(t)
  const { port } = app.server.address() as AddressInfo
  let release = (): void => {}
  const released = new Promise<void>(resolve => { release = resolve })
  app.mcp.tools.add(tool({ name: 'held', description: '', run: async () => await released.then(() => 'let go') }))
  const held = { name: 'held' }
  const [plain, stateless] = [call('tools/call', held)('legacy'), call('tools/call', held)('modern')]
  const asked = [
    request('POST', '/message', postHead(port), plain),
    request('POST', '/mcp', postHead(port, mirroredHead(stateless)), stateless)
  ].map(async bytes => await lastExchange(port, bytes))
  await until(
    () => [...app.mcp.dispatcher.lifecycle.peers].reduce((sum, { inbound }) => sum + inbound.size, 0) === 2,
    'both calls are in flight'
  )
  const closed = app.close()
  setImmediate(release)
  await Promise.all([closed, ...asked])
  for (const reply of asked) t.match([(await reply).status, (await reply).body], [200, /let go/])
})
