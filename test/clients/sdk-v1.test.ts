import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { http, sse, stdio, webSocket, type Connection } from './connections.js'
import { play } from './script.js'
import { connectV1 } from './sdk-v1.js'

const transports: Record<string, (t: Test) => Promise<Connection<object>>> = {
  stdio: async t => await stdio(t, StdioClientTransport),
  'Streamable HTTP': async t => await http(t, StreamableHTTPClientTransport),
  'HTTP+SSE': async t => await sse(t, SSEClientTransport),
  WebSocket: async t => { provideWebSocket(t); return await webSocket(t, WebSocketClientTransport) }
}

for (const [name, open] of Object.entries(transports)) {
  t.test(`@modelcontextprotocol/sdk 1 over ${name}`, async t => {
    const connection = await open(t)
    const official = await connectV1(t, connection.transport as Transport)
    t.equal(official.version, '2025-11-25')
    t.strictSame(await official.client.ping(), {})
    await play(t, official, connection)
  })
}

// Node has one of its own from 22 on.
function provideWebSocket (t: Test): void {
  const globals = globalThis as { WebSocket?: unknown }
  if (globals.WebSocket !== undefined) return
  globals.WebSocket = WebSocket
  t.teardown(() => { delete globals.WebSocket })
}
