import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { tool } from '../../app.js'
import { listening } from '../support/gateway.js'
import { connectV2 } from './client-v2.js'
import { stdio } from './connections.js'
import { INFO } from './official.js'
import { places } from './places.js'
import { text } from './script.js'

const STATELESS: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } } }

for (const { place, needs, serve } of places) {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    t.test(`a client that knows nothing newer than ${version} is served in it (${place})`, needs, async t => {
      const { url } = await serve(t)
      const official = await connectV2(t, to(url), { supportedProtocolVersions: [version] })
      t.equal(official.version, version)
      await official.client.listTools()
      t.match(await official.call({ name: 'echo', arguments: { text: 'hi' } }), {
        content: [{ type: 'text', text: 'hi' }]
      })
      t.equal(text(await official.call({ name: 'ask_model' })), 'Paris')
      await t.rejects(official.call({ name: 'echo', arguments: { text: 3 } }), { code: -32602, message: /text/ })
      t.strictSame(official.complaints, [])
    })
  }

  t.test(`a client that remembers what it discovered connects without a round trip (${place})`, needs, async t => {
    const { url } = await serve(t)
    const discover = (await connectV2(t, to(url), STATELESS)).client.getDiscoverResult()
    if (discover === undefined) return t.fail('nothing was discovered')
    let requests = 0
    const client = new Client(INFO)
    t.teardown(async () => await client.close())
    const transport = to(url, async (input, init) => { requests++; return await fetch(input, init) })
    await client.connect(transport, { prior: { kind: 'modern', discover: JSON.parse(JSON.stringify(discover)) } })
    t.equal(requests, 0)
    t.match(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }), { structuredContent: { text: 'hi' } })
    t.equal(requests, 1)
  })

  t.test(`a client may look at the questions and come back with the answers itself (${place})`, needs, async t => {
    const { url } = await serve(t)
    const { client } = await connectV2(t, to(url), STATELESS)
    const asked = (await client.callTool({ name: 'ask_name' }, { allowInputRequired: true })) as object as {
      requestState: string
    }
    t.match(asked, {
      resultType: 'input_required',
      inputRequests: { user_name: { method: 'elicitation/create', params: { message: 'What is your name?' } } }
    })
    const again = {
      name: 'ask_name',
      requestState: asked.requestState,
      inputResponses: { user_name: { action: 'accept', content: { name: 'Grace' } } }
    }
    t.match(await client.callTool(again), { content: [{ text: 'Hello, Grace!' }] })
  })

  t.test(`a client without a handler for a question learns which capability is missing (${place})`, needs, async t => {
    const { url } = await serve(t)
    const client = new Client(INFO, STATELESS)
    t.teardown(async () => await client.close())
    await client.connect(to(url))
    await t.rejects(client.callTool({ name: 'ask_model' }), {
      code: -32021,
      data: { requiredCapabilities: { sampling: {} } }
    })
  })

  t.test(
    `arguments that proxies route by arrive in headers as well, whatever characters they have (${place})`,
    needs,
    async t => {
      const { apps, url } = await serve(t)
      for (const app of apps) {
        app.mcp.tools.add(
          tool({
            name: 'weather',
            description: 'The weather of a region',
            input: Type.Object({ region: Type.String({ 'x-mcp-header': 'Region' }) }),
            run: ({ region }, { peer }) => ({ region, header: peer.headers?.['mcp-param-region'] })
          })
        )
      }
      const { client } = await connectV2(t, to(url), STATELESS)
      await client.listTools()
      for (const [region, header] of [
        ['Rome', 'Rome'],
        ['Zürich', /^=\?base64\?/],
        ['', /^/]
      ] as const) {
        t.match((await client.callTool({ name: 'weather', arguments: { region } })).structuredContent, {
          region,
          header
        })
      }
    }
  )
}

t.test('a client that listens over HTTP is notified when the server closes', async t => {
  const { app, url } = await listening(t)
  const { client } = await connectV2(t, to(url), STATELESS)
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://text'] })
  t.strictSame(subscription.honoredFilter, { toolsListChanged: true, resourceSubscriptions: ['test://text'] })
  await app.close()
  t.equal(await subscription.closed, 'graceful')
})

t.test('a client that listens over stdio is notified when the server closes', async t => {
  const { transport } = await stdio(t, StdioClientTransport)
  const { client } = await connectV2(t, transport, STATELESS)
  const subscription = await client.listen({ toolsListChanged: true })
  process.kill(transport.pid as number, 'SIGTERM')
  t.equal(await subscription.closed, 'graceful')
})

function to (url: string, fetch = globalThis.fetch): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL('/mcp', url), { fetch })
}
