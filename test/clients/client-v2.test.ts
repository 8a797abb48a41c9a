import { EventEmitter } from 'node:events'
import {
  Client, LOG_LEVEL_META_KEY, SSEClientTransport, StreamableHTTPClientTransport, type ClientOptions, type McpSubscription, type Transport
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { http, sse, stdio, type Door } from './doors.js'
import { ANSWERS, CAPABILITIES, INFO, toolsWatcher, type Official, type ToolResult, type Verbs } from './official.js'
import { play } from './script.js'

const doors = {
  stdio: async (t: Test) => await stdio(t, StdioClientTransport),
  'Streamable HTTP': async (t: Test) => await http(t, StreamableHTTPClientTransport),
  'HTTP+SSE': async (t: Test) => await sse(t, SSEClientTransport)
}

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'

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
    const heard = new EventEmitter()
    const client = new Client(INFO, { capabilities: CAPABILITIES, listChanged: toolsWatcher(heard), ...options })
    t.teardown(async () => await client.close())
    const official = await connectV2(client, door.transport, heard)
    t.equal(official.version, expected)
    await play(t, official, door)
  })
}

async function connectV2 (client: Client, transport: Transport, heard: EventEmitter): Promise<Official> {
  const complaints: Error[] = []
  client.onerror = error => { complaints.push(error) }
  client.setRequestHandler('elicitation/create', ANSWERS.elicitation)
  client.setRequestHandler('sampling/createMessage', ANSWERS.sampling)
  client.setRequestHandler('roots/list', ANSWERS.roots)
  client.setNotificationHandler('notifications/message', ({ params }) => { heard.emit('log', params) })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => { heard.emit('updated', params) })
  await client.connect(transport)
  return {
    verbs: client as unknown as Verbs,
    version: client.getNegotiatedProtocolVersion(),
    heard,
    complaints,
    call: async (params, options) => await client.callTool(params, options) as ToolResult,
    ...(client.getProtocolEra() === 'modern' ? statelessWays(client) : statefulWays(client))
  }
}

type Ways = Pick<Official, 'listenToLogs' | 'subscribe' | 'unsubscribe'>

function statefulWays (client: Client): Ways {
  return {
    listenToLogs: async level => { await client.setLoggingLevel(level); return {} },
    subscribe: async uri => { await client.subscribeResource({ uri }) },
    unsubscribe: async uri => { await client.unsubscribeResource({ uri }) }
  }
}

function statelessWays (client: Client): Ways {
  let subscription: McpSubscription | undefined
  return {
    listenToLogs: async level => ({ _meta: { [LOG_LEVEL_META_KEY]: level } }),
    subscribe: async uri => { subscription = await client.listen({ resourceSubscriptions: [uri] }) },
    unsubscribe: async () => { await subscription?.close() }
  }
}
