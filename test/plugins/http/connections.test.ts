import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../../app.js'
import { host } from '../../support/host.js'
import { mirroredHead, postHead } from '../../support/http-requests.js'
import { call, callTool } from '../../support/messages.js'
import { request } from '../../support/http-client.js'
import { listening } from '../../support/gateway.js'
import { until, within } from '../../support/wait.js'

const LISTEN = call('subscriptions/listen', { notifications: { toolsListChanged: true } }, 8)('modern')
const WAIT = callTool('wait')('modern')

const modern = (body: string, path = '') =>
  request('POST', `${path}/mcp`, [...postHead(0), ...mirroredHead(body)], body)
const plain = (body: string, path = '') => request('POST', `${path}/message`, postHead(0), body)
const get = (target: string) => request('GET', target, [['Host', 'localhost'], ['Accept', 'text/event-stream']])

/** Counts how often the tool `wait` was started and aborted; it ends in no other way. */
function counting (app: FastifyInstance): { started: number, aborted: number } {
  const count = { started: 0, aborted: 0 }
  app.mcp.tools.add(tool({
    name: 'wait',
    description: 'd',
    run: async (_input, { signal }) => {
      count.started++
      await once(signal, 'abort')
      count.aborted++
    }
  }))
  return count
}

t.test('requests behind a slow reply on one connection are aborted with the connection', async t => {
  const { app, url } = await listening(t)
  const calls = counting(app)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    Buffer.concat([
      modern(WAIT),
      modern(LISTEN),
      get('/sse'),
      get('/mcp/sse'),
      plain(callTool('wait')('legacy')),
      modern(WAIT)
    ])
  )
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 6 && calls.started === 3)
  t.equal(app.mcp.sessions.size, 1)
  socket.destroy()
  await until(() => calls.aborted === 3)
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0 && app.mcp.sessions.size === 0)
})

t.test('a connection that is used again and again gathers no listeners', async t => {
  const { app, url } = await listening(t)
  let connections = 0
  let most = 0
  app.server.on('connection', () => { connections++ })
  app.server.on('request', ({ socket }) => { most = Math.max(most, socket.listenerCount('close')) })
  const body = call('tools/list')('modern')
  const headers = Object.fromEntries([...postHead(0), ...mirroredHead(body)])
  for (let count = 0; count < 20; count++) await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).text()
  t.ok(connections < 5, `${connections} connections`)
  t.ok(most < 10, `${most} listeners`)
})

const LEAVERS: Array<[what: string, bytes: Buffer]> = [
  ['a call', modern(WAIT, '/ai')],
  ['a subscription', modern(LISTEN, '/ai')],
  ['a plain message', plain(callTool('wait')('legacy'), '/ai')],
  ['an SSE stream', get('/ai/sse')],
  ['a stream of named events', get('/ai/mcp/sse')]
]

for (const [what, bytes] of LEAVERS) {
  t.test(`${what} whose client leaves while a hook of the host runs leaves nothing behind`, async t => {
    const hooks = new EventEmitter()
    const app = await host(t, app => {
      app.addHook('preHandler', async () => {
        hooks.emit('entered')
        await once(hooks, 'go')
      })
    })
    const calls = counting(app)
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    await within(60_000, async signal => {
      const [accepted, entered] = [once(app.server, 'connection', { signal }), once(hooks, 'entered', { signal })]
      const socket = connect(Number(port), '127.0.0.1')
      t.teardown(() => socket.destroy())
      socket.write(bytes)
      const [theirs] = await accepted as [EventEmitter]
      await entered
      const closed = once(theirs, 'close', { signal })
      socket.destroy()
      await closed
    })
    hooks.emit('go')
    for (let turns = 0; turns < 3; turns++) await turn()
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0 && app.mcp.sessions.size === 0)
    t.equal(calls.started, calls.aborted)
  })
}

t.test('an injected call that a gateway ends as it closes is answered', async t => {
  const { app, url } = await listening(t)
  const calls = counting(app)
  const { body, headers } = {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }),
    headers: { 'content-type': 'application/json', host: new URL(url).host }
  }
  const answer = app.inject({ method: 'POST', url: '/message', headers, payload: body }).catch((error: Error) => error)
  await until(() => calls.started === 1)
  await app.close()
  const ended = await answer
  t.notMatch(ended, { message: /is not a function/ })
  t.equal(calls.aborted, 1)
})
