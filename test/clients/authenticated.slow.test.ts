import { StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t from 'tap'
import { ADA, apiKeys, bearer } from '../support/keys.js'
import { connectV2 } from './client-v2.js'
import { places } from './places.js'
import { connectV1 } from './sdk-v1.js'

const requestInit = { headers: bearer(ADA) }
const echo = { name: 'echo', arguments: { text: 'hi' } }

for (const { place, needs, serve } of places) {
  t.test(`official clients connect to ${place} with a key in their headers`, needs, async t => {
    const { apps, url } = await serve(t, { apiKeys })
    const first = await connectV1(t, new TransportV1(new URL(`${url}/mcp`), { requestInit }) as Transport)
    t.match(await first.call(echo), { structuredContent: { text: 'hi' } })
    const known = apps
      .map(app => [...app.mcp.dispatcher.lifecycle.peers].map(({ principal }) => principal))
      .filter(({ length }) => length > 0)
    t.ok(known.length > 0)
    t.strictSame(known, known.map(() => ['key:ada']), 'each node that knows the client knows it once, by its key')

    const second = await connectV2(t, new TransportV2(new URL(`${url}/mcp`), { requestInit }))
    t.match(await second.call(echo), { structuredContent: { text: 'hi' } })

    const events = await connectV1(t, new SSEClientTransport(new URL(`${url}/sse`), { requestInit }))
    t.match(await events.call(echo), { content: [{ text: 'hi' }] })
  })

  t.test(`official clients without a key get 401 of ${place}`, needs, async t => {
    const { url } = await serve(t, { apiKeys })
    await t.rejects(connectV1(t, new TransportV1(new URL(`${url}/mcp`)) as Transport), { code: 401 })
    t.match(await connectV2(t, new TransportV2(new URL(`${url}/mcp`))).catch((error: unknown) => error), {
      data: { status: 401 }
    })
  })
}
