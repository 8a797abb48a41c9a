import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { encodeResult } from '../../../protocol/wire/jsonrpc.js'
import { dialUrl } from '../../../transports/client/dial-url.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'

t.test('calls a tool of a server of the official SDK in a session', async t => {
  const { url, seen } = await startSdk(t)
  const recorder = await connect(t, url)

  t.match(await recorder.initialize(), { message: { result: { serverInfo: { name: 'sdk' } } } })
  t.match(await recorder.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } }), {
    message: { result: { content: [{ text: 'hi' }] } }
  })
  await recorder.link.close()
  t.equal(seen.at(-1), 'DELETE', 'the session is ended')
})

t.test('hears a question that a server of the official SDK asks on the GET stream', async t => {
  const { url } = await startSdk(t)
  const recorder = await connect(t, url)
  await recorder.initialize()

  const { id } = recorder.send('tools/call', { name: 'ask', arguments: {} })
  const question = await recorder.message('elicitation/create')
  t.match(question, { on: undefined })
  if (question.what === 'message' && question.message.kind === 'request') {
    recorder.link.channel.respond(
      encodeResult(question.message.id, '{"action":"accept","content":{"name":"Ada"}}'),
      200
    )
  }
  t.match(await recorder.outcome(id), { message: { result: { content: [{ text: 'Ada' }] } } })
})

async function connect (t: Test, url: string): Promise<LinkRecorder> {
  const recorder = await new LinkRecorder().dial(dialUrl('http', { url, headers: {} }, OPTIONS))
  t.teardown(() => recorder.link.close())
  return recorder
}

async function startSdk (t: Test): Promise<{ url: string, seen: string[] }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.method ?? '')
    void read(request).then(async body => {
      const known = sessions.get(String(request.headers['mcp-session-id']))
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: id => {
            sessions.set(id, transport)
          }
        })
      if (known === undefined) await sdkServer().connect(transport as Parameters<McpServer['connect']>[0])
      await transport.handleRequest(request, response, body)
    })
  })
  return { url: await listen(t, server), seen }
}

function sdkServer (): McpServer {
  const mcp = new McpServer({ name: 'sdk', version: '1' })
  mcp.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: 'text', text }] }))
  mcp.registerTool('ask', {}, async () => {
    const answer = await mcp.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } }
    })
    return { content: [{ type: 'text', text: String(answer.content?.name) }] }
  })
  return mcp
}

async function read (request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}

async function listen (t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
