import { StreamableHTTPClientTransport as StreamableV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import { connectV2 } from '../clients/client-v2.js'
import type { Official, ToolResult } from '../clients/official.js'
import { connectV1 } from '../clients/sdk-v1.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { nextEvent, until } from '../support/wait.js'
import { openFixture, type Way } from './fixture/open.js'
import type { FixtureServer } from './fixture/server.js'

interface Stdio { command: string, args: string[] }

const legacy: Partial<Record<Way, (entry: object) => object>> = {
  stdio: entry => new StdioClientTransport(entry as Stdio),
  HTTP: entry => new StreamableHTTPClientTransport(urlOf(entry)),
  'HTTP+SSE': entry => new SSEClientTransport(urlOf(entry))
}

// The servers behind the gateway in these tests are our own, so the official clients say first whether they are
// servers.
for (const [way, transport] of Object.entries(legacy)) {
  t.test(`the official client of the first generation works with the stateful fixture over ${way}`, async t => {
    const { server, entry } = await openFixture(t, way as Way, newestLegacy)
    const official = await connectV1(t, transport(entry) as Transport)
    await play(t, official, server)
    await official.subscribe('fixture://text')
    server.touch('fixture://text')
    t.match(await nextEvent(official.events, 'updated'), [{ uri: 'fixture://text' }])
    t.strictSame(server.log.faults, [])
  })
}

for (const way of ['stdio', 'HTTP'] as const) {
  t.test(`the official client of the second generation works with the stateless fixture over ${way}`, async t => {
    const { server, entry } = await openFixture(t, way, modern)
    const transport = way === 'stdio' ? new StdioV2(entry as unknown as Stdio) : new StreamableV2(urlOf(entry))
    const official = await connectV2(t, transport, { versionNegotiation: { mode: 'auto' } })
    t.equal(official.version, modern.version)
    await play(t, official, server)
    await official.subscribe('fixture://text')
    const updated = nextEvent(official.events, 'updated')
    server.touch('fixture://text')
    t.match(await updated, [{ uri: 'fixture://text' }])
    t.strictSame(server.log.faults, [])
  })
}

async function play (t: Test, { verbs, call, listenToLogs, events }: Official, server: FixtureServer): Promise<void> {
  const text = async (name: string, args: object = {}): Promise<string> =>
    textOf(await call({ name, arguments: { ...args } }))
  t.ok((await verbs.listTools()).tools.length > 3)
  t.equal(await text('echo', { text: 'é' }), 'é')
  // These clients lose progress that comes with the response in one chunk, so what was sent is counted.
  await call({ name: 'steps' }, { onprogress: () => {} })
  t.equal(server.log.sent.filter(({ method }) => method === 'notifications/progress').length, 3)
  const more = await listenToLogs('info')
  const logged = nextEvent(events, 'log')
  await call({ name: 'say', arguments: { level: 'info', text: 'well' }, ...more })
  t.match(await logged, [{ level: 'info', data: 'well' }])
  await t.rejects(call({ name: 'fail' }), { code: -31_999 })
  t.equal((await call({ name: 'refuse' })).isError, true)
  t.strictSame(JSON.parse(await text('ask_form')), [{ action: 'accept', content: { name: 'Ada' } }])
  t.match(JSON.parse(await text('ask_twice')), [{ action: 'accept' }, { content: { text: 'Paris' } }])
  t.match(JSON.parse(await text('ask_both')), [{ action: 'accept' }, { content: { text: 'Paris' } }])
  t.match(JSON.parse(await text('ask_roots')), [{ roots: [{ uri: 'file:///home/ada' }] }])
  t.match(await verbs.readResource({ uri: 'fixture://item/7' }), { contents: [{ text: 'item 7' }] })
  t.match(await verbs.getPrompt({ name: 'introduce', arguments: { who: 'Ada' } }), {
    messages: [{ content: { text: 'Introduce Ada.' } }]
  })
  t.match(
    await verbs.complete({ ref: { type: 'ref/prompt', name: 'introduce' }, argument: { name: 'who', value: 'Al' } }),
    { completion: { values: ['Alan', 'Alonzo'], hasMore: true } }
  )
  const controller = new AbortController()
  const hung = call({ name: 'hang', arguments: { key: 'one' } }, { signal: controller.signal }).catch(() => 'cancelled')
  await until(() => server.hanging.has('one'))
  controller.abort()
  t.equal(await hung, 'cancelled')
  await until(() => server.cancelled.has('one'))
}

const urlOf = (entry: object): URL => new URL((entry as { url: string }).url)

const textOf = ({ content }: ToolResult): string => (content[0] as { text: string }).text
