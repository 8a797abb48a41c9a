import { SSEClientTransport, StreamableHTTPClientTransport, type ClientOptions, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { connectV2 } from './client-v2.js'
import { http, sse, stdio, type Door } from './doors.js'
import { play } from './script.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'

const doors = {
  stdio: async (t: Test) => await stdio(t, StdioClientTransport),
  'Streamable HTTP': async (t: Test) => await http(t, StreamableHTTPClientTransport),
  'HTTP+SSE': async (t: Test) => await sse(t, SSEClientTransport)
}

const table: Array<{ door: keyof typeof doors, mode: string, options: ClientOptions, expected: string }> = [
  ...(['stdio', 'Streamable HTTP'] as const).flatMap(door => [
    { door, mode: 'as it comes', options: {}, expected: LEGACY },
    { door, mode: 'choosing the revision itself', options: { versionNegotiation: { mode: 'auto' as const } }, expected: MODERN },
    { door, mode: 'pinned to the stateless revision', options: { versionNegotiation: { mode: { pin: MODERN } } }, expected: MODERN }
  ]),
  { door: 'HTTP+SSE', mode: 'as it comes', options: {}, expected: LEGACY }
]

for (const { door: name, mode, options, expected } of table) {
  t.test(`@modelcontextprotocol/client 2 over ${name}, ${mode}`, async t => {
    const door: Door<Transport> = await doors[name](t)
    const official = await connectV2(t, door.transport, options)
    t.equal(official.version, expected)
    await play(t, official, door)
  })
}
