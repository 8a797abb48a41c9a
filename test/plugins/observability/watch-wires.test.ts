import { randomUUID } from 'node:crypto'
import { PassThrough, Writable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import t from 'tap'
import { WebSocket } from 'ws'
import { createClient, serveStdio, tool } from '../../../app.js'
import { bucketOf } from '../../../protocol/watch/statistics/log-buckets.js'
import { sessionOf } from '../../../protocol/sessions/session.js'
import { Client } from '../../matrix/client.js'
import { local } from '../../matrix/transports.js'
import { gateway, listening } from '../../support/gateway.js'
import { apiKeys, bearer, ADA } from '../../support/keys.js'
import { modernMeta } from '../../support/modern.js'
import { revisions } from '../../support/specification/revisions.js'
import { nextEvent, takeTime, until } from '../../support/wait.js'
import { Watcher } from '../../support/watcher.js'
import { post } from './watch-requests.js'

const canary = `canary-${randomUUID()}`

t.test('no batch has arguments, results or session ids of other callers', async t => {
  const place = await listening(t)
  const watcher = await Watcher.open(t, place.app)
  const secrets = new Set([canary])
  for (const transport of local) {
    for (const revision of revisions) {
      const client = await Client.open(place, transport, revision)
      await client.call('echo', { text: canary }, { _meta: { 'example.com/canary': canary } })
      await client.call('nothing', { text: canary })
      await client.request('resources/read', { uri: `test://item/${canary}` })
      await client.request(`method/${canary}`)
      for (const peer of place.app.mcp.dispatcher.lifecycle.peers) secrets.add(sessionOf(peer)?.id ?? canary)
      await client.close()
    }
  }
  await until(() => watcher.ended.filter(({ tool }) => tool === 'echo').length === local.length * revisions.length)
  await until(() => watcher.last('totals')?.['calls'] === watcher.ended.length)
  t.ok(secrets.size > 3, 'there were sessions')
  const told = JSON.stringify(watcher.batches)
  for (const secret of secrets) t.notOk(told.includes(secret), 'not a secret')
  t.strictSame([...new Set(watcher.ended.filter(({ own }) => own !== true).map(({ transport }) => transport))].sort(), [
    'http',
    'sse',
    'stdio',
    'websocket'
  ])
  t.strictSame(
    [...new Set(watcher.ended.map(({ revision }) => revision))].sort(),
    revisions.map(({ version }) => version)
  )
})

t.test('no batch has keys or headers of other callers', async t => {
  const app = await gateway(t, { apiKeys })
  const watcher = await Watcher.open(t, app)
  const headers = {
    ...bearer(ADA),
    'x-canary': canary,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo'
  }
  t.equal(
    (
      await post(
        app,
        {
          id: canary,
          method: 'tools/call',
          params: { name: 'echo', arguments: { text: canary }, _meta: modernMeta() }
        },
        headers
      )
    ).statusCode,
    200
  )
  t.equal((await post(app, { id: 1, method: 'ping' }, bearer(canary))).statusCode, 401)
  await until(() => watcher.last('totals')?.['calls'] === 2 && watcher.last('refusals')?.length === 1)
  const told = JSON.stringify(watcher.batches)
  for (const secret of [canary, ADA]) t.notOk(told.includes(secret), 'not a secret')
  t.match(told, '"principal":"key:ada"', 'but the caller')
})

t.test('watchers that do not read are cut, and the others miss nothing', async t => {
  const app = await gateway(t, { limits: { maxQueue: 20_000 } })
  const { lifecycle } = app.mcp.dispatcher
  const deaf = Array.from({ length: 9 }, () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const stdio = serveStdio(app.mcp, { input, output, maxMessage: 1_000_000, maxQueue: 20_000, writeDeadline: 200 })
    for (const message of [
      { id: 1, method: 'initialize', params: {} },
      { id: 2, method: 'patchbay/watch' }
    ]) {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    }
    return { stdio, output }
  })
  const reader = await Watcher.open(t, app)
  const other = await createClient(app)
  let calls = 1
  let most = 0
  const over = Promise.all(deaf.map(async ({ stdio }) => await stdio.closed))
  await until(async () => {
    for (let count = 0; count < 50; count++, calls++) await other.call('echo', { text: 'x' })
    most = Math.max(most, ...deaf.map(({ output }) => output.writableLength))
    return lifecycle.peers.size === 2
  })
  t.strictSame(new Set(await over), new Set(['standard output is not read']))
  t.ok(most < 20_000 + 200_000, `${most} bytes waited for one of them`)
  await until(() => reader.ended.filter(({ method }) => method !== 'patchbay/watch').length + reader.dropped >= calls)
})

t.test('a watcher without a handshake has a name, too, from its own request', async t => {
  const { url } = await listening(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await nextEvent(socket, 'open')
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'patchbay/watch', params: { _meta: modernMeta() } }))
  const [first] = await nextEvent(socket, 'message')
  t.match(JSON.parse(String(first)), {
    params: { clients: { rows: [{ client: 'test/1.0.0', own: true, inFlight: 1, lastCallAt: Number }] } }
  })
})

t.test('a watcher whose connection is gone is removed', async t => {
  const { app, url } = await listening(t)
  const { end } = app.mcp.dispatcher.observers
  const before = end.size
  const watching = async (): Promise<void> => await until(() => end.size === before + 1)
  const removed = async (): Promise<void> => await until(() => end.size === before)

  t.test('a WebSocket', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    await nextEvent(socket, 'open')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'patchbay/watch', params: { _meta: modernMeta() } }))
    await watching()
    socket.terminate()
    await removed()
  })

  t.test('a reply, with a session and without', async () => {
    const { headers } = await post(app, {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {} }
    })
    const ways = [
      [{ 'mcp-session-id': String(headers['mcp-session-id']) }, {}],
      [{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'patchbay/watch' }, { _meta: modernMeta() }]
    ] as const
    for (const [more, params] of ways) {
      const controller = new AbortController()
      const reply = await fetch(`${url}/mcp`, {
        method: 'POST',
        signal: controller.signal,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'patchbay/watch', params })
      })
      await reply.body?.getReader().read()
      await watching()
      controller.abort()
      await removed()
    }
  })
})

t.test('percentiles are within one bucket of those of the audit log', async t => {
  const logged: number[] = []
  const loggerInstance = pino(new Writable({
    write: (chunk, _encoding, done) => {
      const { audit } = JSON.parse(String(chunk)) as { audit?: { tool?: string, ms: number } }
      if (audit?.tool === 'nap') logged.push(audit.ms)
      done()
    }
  }))
  const app = await gateway(t, {}, { loggerInstance })
  app.mcp.tools.add(
    tool({
      name: 'nap',
      description: 'd',
      input: Type.Object({ ms: Type.Number() }),
      run: async ({ ms }) => {
        if (ms >= 1) await takeTime(ms)
      }
    })
  )
  const watcher = await Watcher.open(t, app)
  const other = await createClient(app)
  const CALLS = 300
  for (let count = 0; count < CALLS; count += 20) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => await other.call('nap', { ms: 1.3 ** (index - 3) }))
    )
  }
  await until(() => watcher.last('tools')?.[0]?.['calls'] === CALLS)
  t.equal(logged.length, CALLS)
  const sorted = logged.toSorted((one, two) => one - two)
  for (const [name, share] of [['p50', 0.5], ['p95', 0.95], ['p99', 0.99]] as const) {
    const [told, exact] = [Number(watcher.last('tools')?.[0]?.[name]), Number(sorted[Math.ceil(share * CALLS) - 1])]
    t.ok(Math.abs(bucketOf(told) - bucketOf(exact)) <= 1, `${name}: ${told} told, ${exact} logged`)
  }
})
