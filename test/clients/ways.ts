import {
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
  type ClientOptions,
  type Transport as TransportV2
} from '@modelcontextprotocol/client'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { connectV2 } from './client-v2.js'
import { http, sse, webSocket, type Connection, type Server } from './connections.js'
import { play } from './script.js'
import { connectV1 } from './sdk-v1.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'

/** How the second generation chooses the revision, and which it is then. */
export const modes: Record<string, { options: ClientOptions, expected: string }> = {
  'as it comes': { options: {}, expected: LEGACY },
  'choosing the revision itself': { options: { versionNegotiation: { mode: 'auto' } }, expected: MODERN },
  'pinned to the stateless revision': { options: { versionNegotiation: { mode: { pin: MODERN } } }, expected: MODERN }
}

/** Plays the whole script with the first generation. */
export async function playV1 (t: Test, connection: Connection<object>): Promise<void> {
  const official = await connectV1(t, connection.transport as TransportV1)
  t.equal(official.version, LEGACY)
  t.strictSame(await official.client.ping(), {})
  await play(t, official, connection)
}

/** Plays the whole script with the second generation. */
export async function playV2 (t: Test, connection: Connection<TransportV2>, mode: string): Promise<void> {
  const { options, expected } = modes[mode] ?? { options: {}, expected: LEGACY }
  const official = await connectV2(t, connection.transport, options)
  t.equal(official.version, expected)
  await play(t, official, connection)
}

/**
 * Every way of the official clients to a server over the network: each plays the whole script, at a server of its own
 * if none is given.
 */
export const ways: Record<string, (t: Test, server?: Server) => Promise<void>> = {
  '@modelcontextprotocol/sdk 1 over Streamable HTTP': async (t, server) =>
    await playV1(t, await http(t, HttpV1, server)),
  '@modelcontextprotocol/sdk 1 over HTTP+SSE': async (t, server) => await playV1(t, await sse(t, SseV1, server)),
  '@modelcontextprotocol/sdk 1 over WebSocket': async (t, server) => {
    provideWebSocket(t)
    await playV1(t, await webSocket(t, WebSocketClientTransport, server))
  },
  ...Object.fromEntries(
    Object.keys(modes).map(mode => [
      `@modelcontextprotocol/client 2 over Streamable HTTP, ${mode}`,
      async (t: Test, server?: Server) => await playV2(t, await http(t, HttpV2, server), mode)
    ])
  ),
  '@modelcontextprotocol/client 2 over HTTP+SSE': async (t, server) =>
    await playV2(t, await sse(t, SseV2, server), 'as it comes')
}

// Node has one of its own from 22 on.
function provideWebSocket (t: Test): void {
  const globals = globalThis as { WebSocket?: unknown }
  if (globals.WebSocket !== undefined) return
  globals.WebSocket = WebSocket
  t.teardown(() => { delete globals.WebSocket })
}
