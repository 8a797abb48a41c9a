import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { resource, tool, type Options } from '../../../app.js'
import { listening } from '../../support/gateway.js'
import { until, within } from '../../support/wait.js'
import { modern } from '../../support/recorder.js'

type Json = Record<string, unknown>

const SIZE = 1_500_000
const COUNT = 8

/** A client that is connected to a server with a large resource. */
async function connected (t: Test, options: Partial<Options> = {}) {
  const { app, url } = await listening(t, options)
  app.mcp.resources.add(resource({ uri: 'it://large', name: 'large', read: () => 'x'.repeat(SIZE) }))
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await within(60_000, async signal => await once(socket, 'open', { signal }))
  const send = (id: number, method: string, params: object) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...modern() } }))
  const readAll = () => { for (let id = 1; id <= COUNT; id++) send(id, 'resources/read', { uri: 'it://large' }) }
  return { app, socket, send, readAll }
}

t.test('a client that reads gets everything it asked for at once, however much that is', async t => {
  const { socket, readAll } = await connected(t)
  const got: unknown[] = []
  socket.on('message', data => { got.push((JSON.parse(String(data)) as Json).id) })
  readAll()
  await until(() => got.length === COUNT || socket.readyState !== WebSocket.OPEN)
  t.strictSame(got, Array.from({ length: COUNT }, (_, index) => index + 1))
  t.equal(socket.readyState, WebSocket.OPEN)
})

t.test('a client that never reads what it asked for is closed in time', async t => {
  const { app, socket, readAll } = await connected(t, { limits: { writeDeadline: 50 } })
  socket.pause()
  readAll()
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  const closed = within(60_000, async signal => await once(socket, 'close', { signal }))
  socket.resume()
  t.ok([1006, 1008].includes((await closed)[0] as number))
})

t.test('frames that follow a binary one are not listened to', async t => {
  const { app, socket, send } = await connected(t)
  let ran = 0
  app.mcp.tools.add(tool({ name: 'count', description: 'd', run: () => { ran++ } }))
  const closed = within(60_000, async signal => await once(socket, 'close', { signal }))
  socket.send(Buffer.from('{}'))
  for (let id = 1; id <= 3; id++) send(id, 'tools/call', { name: 'count' })
  t.equal((await closed)[0], 1003)
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  t.equal(ran, 0)
})
