import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { modern } from '../../protocol/revisions/table.js'
import { listening } from '../support/gateway.js'
import { modernMeta } from '../support/modern.js'
import { inTime, until } from '../support/wait.js'
import { event, resultOf, sendJson, startEvents, startRawServer, type Got } from '../transports/client/raw-server.js'

const MEGABYTE = 1024 * 1024

t.test('an upstream that sends without an end to a client that does not read is cut off, in bounded memory', async t => {
  let sent = 0
  const upstream = await startRawServer(t, got => answer(got))
  const { app } = await listening(t, {
    tools: false,
    plugins: [],
    ephemeral: true,
    limits: { writeDeadline: 500, maxQueue: 100_000 },
    mcpServers: { up: { type: 'http', url: upstream.url } }
  })
  await until(() => app.mcp.tools.get('up__flood') !== undefined, 'the tool')

  const client = connectTcp((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => client.destroy())
  await once(client, 'connect')
  client.pause()
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'up__flood',
      arguments: {},
      _meta: { ...modernMeta(), 'io.modelcontextprotocol/logLevel': 'debug' }
    }
  })
  client.write(
    [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `MCP-Protocol-Version: ${modern.version}`,
      'Mcp-Method: tools/call',
      'Mcp-Name: up__flood',
      `Content-Length: ${body.length}`,
      '',
      body
    ].join('\r\n')
  )

  const { response } = await upstream.got.take('the call')
  const before = process.memoryUsage().rss
  let highest = before
  const message = event({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'x'.repeat(1_000) }
  }).repeat(50)
  response.on('error', () => {})
  const closed = once(response, 'close')
  const write = (): void => {
    highest = Math.max(highest, process.memoryUsage().rss)
    if (response.destroyed) return
    sent += message.length
    if (response.write(message)) setImmediate(write)
    else response.once('drain', write)
  }
  startEvents({ response } as Got)
  write()
  await inTime(closed, 'the end of the flood')
  t.ok(sent > MEGABYTE)
  t.ok(
    highest - before < 256 * MEGABYTE,
    `${Math.round((highest - before) / MEGABYTE)} MiB more for ${Math.round(sent / MEGABYTE)} MiB sent`
  )
})

function answer (got: Got): boolean {
  const common = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  if (got.message.method === 'server/discover') {
    return sendJson(
      got,
      resultOf(got, { ...common, supportedVersions: [modern.version], capabilities: { tools: {}, logging: {} } })
    )
  }
  if (got.message.method === 'tools/list') {
    return sendJson(got, resultOf(got, { ...common, tools: [{ name: 'flood', inputSchema: { type: 'object' } }] }))
  }
  if (got.message.method === 'tools/call') return false
  return sendJson(
    got,
    { jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'Method not found' } },
    404
  )
}
