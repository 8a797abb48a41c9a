import { SSEClientTransport, StreamableHTTPClientTransport, type ClientOptions, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { connectV2 } from './client-v2.js'
import { http, sse, stdio, type Connection } from './connections.js'
import { play } from './script.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'

const transports = {
  stdio: async (t: Test) => await stdio(t, StdioClientTransport),
  'Streamable HTTP': async (t: Test) => await http(t, StreamableHTTPClientTransport),
  'HTTP+SSE': async (t: Test) => await sse(t, SSEClientTransport)
}

const table: Array<{ connection: keyof typeof transports, mode: string, options: ClientOptions, expected: string }> = [
  ...(['stdio', 'Streamable HTTP'] as const).flatMap(connection => [
    { connection, mode: 'as it comes', options: {}, expected: LEGACY },
    { connection, mode: 'choosing the revision itself', options: { versionNegotiation: { mode: 'auto' as const } }, expected: MODERN },
    { connection, mode: 'pinned to the stateless revision', options: { versionNegotiation: { mode: { pin: MODERN } } }, expected: MODERN }
  ]),
  { connection: 'HTTP+SSE', mode: 'as it comes', options: {}, expected: LEGACY }
]

for (const { connection: name, mode, options, expected } of table) {
  t.test(`@modelcontextprotocol/client 2 over ${name}, ${mode}`, async t => {
    const connection: Connection<Transport> = await transports[name](t)
    const official = await connectV2(t, connection.transport, options)
    t.equal(official.version, expected)
    await play(t, official, connection)
  })
}
