import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { gateway, listening } from '../support/gateway.js'
import { ANONYMOUS_ALL_SCOPES } from '../../protocol/wire/identity.js'
import { until, within } from '../support/wait.js'
import { dataFolder, FILE } from '../support/environment/on-disk.js'

async function shakeHands (app: FastifyInstance): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    payload: {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    }
  })
  return String(response.headers['mcp-session-id'])
}

const many = async <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: count }, make))

/** How many timers there are that were made since. */
function timers (t: Test): () => number {
  const alive = new Set<number>()
  const hook = createHook({
    init: (id, type) => { if (type === 'Timeout') alive.add(id) },
    destroy: id => { alive.delete(id) }
  }).enable()
  t.teardown(() => hook.disable())
  return () => alive.size
}

/** How often something was committed to disk: each commit ends with a page that has the number of pages. */
function commits (folder: string): number {
  const log = readFileSync(join(folder, `${FILE}-wal`))
  const page = 24 + log.readUInt32BE(8)
  let count = 0
  for (let at = 32; at < log.length; at += page) if (log.readUInt32BE(at + 4) > 0) count++
  return count
}

async function openStream (t: Test, url: string, session: string): Promise<void> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(`GET /mcp HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`)
  let text = ''
  socket.on('data', data => { text += String(data) })
  await until(() => text.includes('data:'))
}

t.test('handshakes that come together are kept together', async t => {
  const data = await dataFolder(t)
  const app = await gateway(t, { data })
  const before = commits(data)
  t.equal(new Set(await many(100, async () => await shakeHands(app))).size, 100)
  t.equal(app.mcp.sessions.size, 100)
  const times = commits(data) - before
  t.ok(times > 0 && times <= 10, `${times} commits`)
})

t.test('sessions and idle streams have no timers of their own', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t) })
  await openStream(t, url, await shakeHands(app))
  const made = timers(t)
  const timer = setTimeout(() => {}, 60_000)
  t.equal(made(), 1, 'the counter counts')
  clearTimeout(timer)
  const sessions = await many(50, async () => await shakeHands(app))
  for (const session of sessions) await openStream(t, url, session)
  await until(() => made() < 5)
  t.equal(app.mcp.sessions.size, 51)
})

t.test('the capabilities of a revision are built once, and again after a change', async t => {
  const app = await gateway(t)
  const [revision] = (await shakeHands(app), [...app.mcp.dispatcher.lifecycle.peers].map(peer => peer.revision))
  if (revision === undefined) throw new Error('nobody was there')
  const declared = app.mcp.dispatcher.capabilities.of(revision, ANONYMOUS_ALL_SCOPES)
  await shakeHands(app)
  t.equal(app.mcp.dispatcher.capabilities.of(revision, ANONYMOUS_ALL_SCOPES), declared)
  app.mcp.dispatcher.capabilities.declare('experimental', () => ({ news: {} }))
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: '*/*' },
    payload: { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }
  })
  t.match(response.json(), { result: { capabilities: { ...declared, experimental: { news: {} } } } })
})

t.test('a server with many sockets closes without a warning', async t => {
  const { app, url } = await listening(t)
  const warnings: Error[] = []
  const warn = (warning: Error) => { warnings.push(warning) }
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const sockets = await many(15, async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    t.teardown(() => socket.terminate())
    await within(60_000, async signal => await once(socket, 'open', { signal }))
    return socket
  })
  const closed = sockets.map(
    async socket => await within(60_000, async signal => await once(socket, 'close', { signal }))
  )
  await app.close()
  t.strictSame((await Promise.all(closed)).map(([code]) => code as number), sockets.map(() => 1001))
  t.strictSame(warnings, [])
})
