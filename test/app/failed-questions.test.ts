import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, McpError, tool } from '../../app.js'
import { callTool, initialize } from '../support/messages.js'
import { startServer, type Server } from '../support/server.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from '../support/connections.js'
import { gateway } from '../support/gateway.js'
import { openSession } from '../support/http-session.js'
import { modernMeta } from '../support/modern.js'

type Json = Record<string, unknown>

const CAPABILITIES = { roots: {}, sampling: {}, elicitation: {} }
const REFUSED = { code: -32601, message: 'Method not found' }
const TOOLS = { ask_name: 'elicitation/create', ask_model: 'sampling/createMessage', ask_roots: 'roots/list' }
const TRANSPORTS: Record<string, (server: Server) => Promise<Connection>> = {
  stdio: stdioConnection,
  WebSocket: socketConnection,
  'HTTP+SSE': sseConnection
}

/**
 * The answer to a tool call that failed with this text, in the form of the revision: never with a code of the client's.
 */
const failed = (version: string, text: string) =>
  version < '2025-11'
    ? { error: { code: -32603, message: text } }
    : { result: { isError: true, content: [{ type: 'text', text }] } }

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
  for (const [name, method] of Object.entries(TOOLS)) {
    if (method === 'elicitation/create' && version < '2025-06') continue
    const text = `The client could not answer ${method}: Method not found`

    t.test(`${version}: the error of a client that is asked for ${method} is reported as the client's`, async t => {
      const server = await startServer(t)
      for (const [connection, open] of Object.entries(TRANSPORTS)) {
        const { inbox, write, close } = await open(server)
        await write(initialize(version, CAPABILITIES))
        await inbox.next()
        await write(callTool(name, {}, 1)('legacy'))
        const { id } = await inbox.next() as Json
        await write(JSON.stringify({ jsonrpc: '2.0', id, error: REFUSED }))
        t.match(await inbox.next(), { id: 1, ...failed(version, text) }, connection)
        await close()
      }
    })

    if (version === '2024-11-05') continue
    t.test(`${version}: the same over HTTP, for ${method}`, async t => {
      const { port } = await startServer(t)
      const session = await openSession(`http://127.0.0.1:${port}`, version, CAPABILITIES)
      const stream = await session.stream({ id: 1, method: 'tools/call', params: { name, arguments: {} } })
      const question = await stream.message()
      t.match(question, { method })
      await session.post({ id: question['id'], error: REFUSED })
      t.match(await stream.message(), { id: 1, ...failed(version, text) })
    })
  }
}

t.test('2026-07-28: answers have no errors, so one in the place of an answer is refused', async t => {
  const app = await gateway(t)
  const { body } = await app.inject({
    method: 'POST',
    url: '/message',
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'ask_name',
        arguments: {},
        inputResponses: { user_name: { error: REFUSED } },
        _meta: modernMeta({ elicitation: { form: {} } })
      }
    }
  })
  t.match(JSON.parse(body), { id: 1, error: { code: -32602, message: /the answer to elicitation\/create/ } })
})

t.test('in one process: whatever an answer throws, the question is answered', async t => {
  const app = await gateway(t)
  const thrown: Array<[unknown, string]> = [
    [new McpError(-32001, 'busy'), 'busy'],
    [Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'no such file'],
    ['words', 'words'],
    [null, 'null']
  ]
  for (const [error, text] of thrown) {
    const client = await createClient(app, {
      protocolVersion: '2025-06-18',
      capabilities: CAPABILITIES,
      answers: { 'roots/list': async () => (await Promise.reject(error)) as object }
    })
    await t.rejects(client.request('tools/call', { name: 'ask_roots', arguments: {} }), {
      code: -32603,
      message: `The client could not answer roots/list: ${text}`
    })
    client.close()
  }
})

t.test('a tool can catch it, and read the error of the client', async t => {
  const caught: unknown[] = []
  const app = await asking(t, async call => {
    await call.roots().catch((error: unknown) => { caught.push(error) })
    return 'went on'
  })
  const client = await createClient(app, {
    capabilities: CAPABILITIES,
    answers: {
      'roots/list': () => {
        throw new McpError(-32001, 'busy')
      }
    }
  })
  t.match(await client.request('tools/call', { name: 'ask', arguments: {} }), { content: [{ text: 'went on' }] })
  t.match(caught, [
    {
      name: 'McpError',
      code: -32603,
      message: 'The client could not answer roots/list: busy',
      cause: { name: 'McpError', code: -32001, message: 'busy' }
    }
  ])
  client.close()
})

t.test('many client requests in one call and many listeners on one signal print no warning', async t => {
  const warnings: unknown[] = []
  const note = (warning: Error) => { warnings.push(warning.message) }
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const app = await asking(t, async call => {
    for (let wait = 0; wait < 30; wait++) call.signal.addEventListener('abort', () => wait)
    await Promise.all(Array.from({ length: 30 }, async (_, index) => await call.roots(`roots ${index}`)))
    return 'asked'
  })
  const { signal } = new AbortController()
  const client = await createClient(app, {
    capabilities: CAPABILITIES,
    answers: { 'roots/list': () => ({ roots: [] }) }
  })
  await Promise.all(
    Array.from({ length: 30 }, async () => await client.request('tools/call', { name: 'ask', arguments: {} }, signal))
  )
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(warnings, [])
  client.close()
})

async function asking (
  t: Test,
  run: (call: Parameters<Parameters<typeof tool>[0]['run']>[1]) => Promise<string>
): Promise<FastifyInstance> {
  return await gateway(t, {
    plugins: [
      async ({ mcp: { tools } }) => {
        tools.add(tool({ name: 'ask', description: 'd', run: async (_input, call) => await run(call) }))
      }
    ]
  })
}
