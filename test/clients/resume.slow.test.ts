import { once } from 'node:events'
import { StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Options, type Tool } from '../../app.js'
import fixture from '../support/gateway.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { connectV2 } from './client-v2.js'
import { until } from '../support/wait.js'
import levers from './levers.js'
import { places, serveOne, type Serve } from './places.js'
import { next, text } from './script.js'
import { connectV1 } from './sdk-v1.js'

const generations = {
  '@modelcontextprotocol/sdk 1': async (t: Test, url: URL, fetch?: typeof globalThis.fetch) =>
    await connectV1(t, new TransportV1(url, fetch && { fetch }) as Transport),
  '@modelcontextprotocol/client 2': async (t: Test, url: URL, fetch?: typeof globalThis.fetch) =>
    await connectV2(t, new TransportV2(url, fetch && { fetch }))
}

for (const [name, connect] of Object.entries(generations)) {
  for (const { place, needs, serve } of places) {
    t.test(`${name} misses nothing when its connections break (${place})`, needs, async t => {
      const { apps, url, goOn } = await prepare(t, serve)
      const { call, events } = await connect(t, url)
      const listed = next(events, 'tools')
      const seen: number[] = []
      const answer = call({ name: 'pause' }, {
        onprogress: progress => {
          seen.push((progress as { progress: number }).progress)
          if (seen.length > 1) return
          for (const { server, mcp } of apps) {
            server.closeAllConnections()
            mcp.tools.add(tool({ name: 'added', description: 'Added while no client was connected', run: () => {} }))
          }
          goOn()
        }
      })
      t.equal(text(await answer), 'done')
      t.strictSame(seen, [1, 2])
      t.ok((await listed as string[]).includes('added'), 'the standalone stream was resumed as well')
    })

    t.test(`${name} comes back for the answer when the server lets the connection go (${place})`, needs, async t => {
      const { url, goOn } = await prepare(t, serve)
      const requests: Request[] = []
      const { call } = await connect(t, url, async (input, init) => {
        requests.push(new Request(input, init))
        if (requests.at(-1)?.headers.has('last-event-id') === true) goOn()
        return await fetch(input, init)
      })
      t.equal(text(await call({ name: 'let_go' })), 'done')
      t.equal(requests.filter(({ headers }) => headers.has('last-event-id')).length, 1)
    })

    t.test(`${name} does not come back again and again after an error (${place})`, needs, async t => {
      const { url } = await prepare(t, serve)
      const resumed: number[] = []
      const { call } = await connect(t, url, async (input, init) => {
        const response = await fetch(input, init)
        if (new Headers(init?.headers).has('last-event-id')) resumed.push(response.status)
        return response
      })
      await t.rejects(call({ name: 'start_and_break' }, { onprogress: () => {} }), { code: -32603 })
      // The first generation does not take an error for an answer and asks for the rest of the stream, unless the error
      // states that there is none.
      if (name.endsWith('sdk 1')) await until(() => resumed.length > 0, 'the client comes back')
      t.strictSame(resumed.filter(status => status !== 204), [])
    })
  }

  t.test(`${name} gets an error at once when its session is ended, at this server or another one`, async t => {
    const data = await dataFolder(t)
    const [one, two] = [await prepare(t, serveOne, { data }), await prepare(t, serveOne, { data })]
    for (const { url } of [one, two]) {
      let id = ''
      const { call } = await connect(t, one.url, async (input, init) => {
        id = new Headers(init?.headers).get('mcp-session-id') ?? id
        return await fetch(input, init)
      })
      const answered = t.rejects(call({ name: 'wait' }, { timeout: 30_000 }), {
        code: -32603,
        message: /before the call was answered; whether it took effect is not known/
      })
      await until(() => one.apps[0]?.mcp.sessions.find(id)?.peer.inbound.size === 1, 'the call has begun')
      const headers = {
        'mcp-session-id': id,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream'
      }
      await fetch(two.url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'ping' })
      })
      t.equal(one.apps[0]?.mcp.sessions.find(id)?.peer.inbound.size, 1, 'a request at another one ends nothing')
      await fetch(url, { method: 'DELETE', headers })
      await answered
    }
  })
}

t.test('@modelcontextprotocol/sdk 1 gets the answer in another process, after its last event', async t => {
  const { apps: [app], url, goOn } = await prepare(t, serveOne)
  const transport = new TransportV1(url)
  const first = await connectV1(t, transport as Transport)
  const { sessionId = '' } = transport
  let lastEvent = ''
  const lost = first.client.callTool({ name: 'pause' }, CallToolResultSchema, {
    onresumptiontoken: token => { lastEvent = token },
    onprogress: () => { void first.client.close() }
  })
  await t.rejects(lost, /closed/i)
  const place = await app?.mcp.sessions.find(sessionId)?.findResumePoint(lastEvent)
  await until(() => typeof place === 'object' && !place.stream.connected, 'the server notices that the client is gone')
  goOn()
  const second = await connectV1(t, new TransportV1(url, { sessionId }) as Transport)
  const result = await second.client.callTool({ name: 'pause' }, CallToolResultSchema, {
    resumptionToken: lastEvent,
    timeout: 5_000
  })
  t.match(result, { content: [{ text: 'done' }] })
  t.match(await second.client.callTool({ name: 'echo', arguments: { text: 'still here' } }), {
    structuredContent: { text: 'still here' }
  })
})

/** Gateways with tools that wait until the test goes on. */
async function prepare (
  t: Test,
  serve: Serve,
  options: Partial<Options> = {}
): Promise<{ apps: FastifyInstance[], url: URL, goOn: () => void }> {
  const gate = new EventTarget()
  const { apps, url } = await serve(t, { plugins: [fixture, levers], ...options })
  for (const { mcp } of apps) for (const each of waitingTools(gate)) mcp.tools.add(each)
  return { apps, url: new URL('/mcp', url), goOn: () => gate.dispatchEvent(new Event('open')) }
}

const waitingTools = (gate: EventTarget): Tool[] => [
  tool({
    name: 'pause',
    description: 'Shows progress before and after a pause',
    run: async (_input, call) => {
      const opened = once(gate, 'open')
      call.progress(1)
      await opened
      call.progress(2)
      return 'done'
    }
  }),
  tool({
    name: 'wait',
    description: 'Says nothing until it is aborted',
    run: async (_input, { signal }) => {
      await once(signal, 'abort')
    }
  }),
  tool({
    name: 'let_go',
    description: 'Lets the client poll for the answer',
    run: async (_input, call) => {
      const opened = once(gate, 'open')
      call.release(20)
      await opened
      return 'done'
    }
  })
]
