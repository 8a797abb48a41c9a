import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Options } from '../../../app.js'
import type { Connection, UpstreamStatus } from '../../../upstreams/ports.js'
import { FakeCall } from '../../support/fake-upstream.js'
import { gateway } from '../../support/gateway.js'
import { modern, newestLegacy } from '../../support/specification/revisions.js'
import { inTime, until } from '../../support/wait.js'
import { openFixture } from '../fixture/open.js'

type Servers = NonNullable<Options['mcpServers']>

async function withServers (t: Test, mcpServers: Servers, options: Partial<Options> = {}): Promise<FastifyInstance> {
  return await gateway(t, { tools: false, plugins: [], ephemeral: true, mcpServers, ...options })
}

async function shared (app: FastifyInstance, alias: string): Promise<Connection> {
  return await inTime(
    app.mcp.upstreams.get(alias)?.shared() ?? Promise.reject(new Error(`there is no ${alias}`)),
    alias
  )
}

const statusOf = (app: FastifyInstance, alias: string): UpstreamStatus | undefined =>
  app.mcp.upstreams.status().find(status => status.alias === alias)

/** A stateful server on standard streams whose reaction to requests before `initialize` is given as code. */
function program (reaction: string): { command: string, args: string[] } {
  const code = `
    let ready = false
    require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
      const { id, method } = JSON.parse(line)
      const send = rest => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\\n')
      if (method === 'initialize') { ready = true; send({ result: { protocolVersion: '${newestLegacy.version}', capabilities: {}, serverInfo: { name: 'p', version: '1' } } }) }
      else if (!ready) { ${reaction} }
      else if (method === 'ping') send({ result: { pid: process.pid } })
    })`
  return { command: process.execPath, args: ['-e', code] }
}

async function listen (t: Test, serve: RequestListener): Promise<string> {
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`
}

t.test('stateful servers that stay silent, exit or complain when they are asked for their era can be used', async t => {
  const app = await withServers(t, {
    silent: program(''),
    exiting: program('process.exit(1)'),
    complaining: program("send({ error: { code: -32602, message: 'initialize first' } })")
  })
  for (const alias of ['silent', 'exiting', 'complaining']) {
    const connection = await shared(app, alias)
    t.equal(connection.revision?.version, newestLegacy.version, alias)
    t.match(await connection.request({ method: 'ping', params: {} }), { pid: Number })
  }
})

t.test('the era is remembered in the store, over restarts of the gateway', async t => {
  const data = t.testdir()
  const { entry } = await openFixture(t, 'stdio', modern)
  const first = await withServers(t, { one: entry }, { ephemeral: false, data })
  t.equal((await shared(first, 'one')).revision?.version, modern.version)
  await first.close()
  const second = await withServers(t, { one: entry }, { ephemeral: false, data })
  t.match(await second.mcp.store.values.get('upstreams/eras', 'one'), { modern: true })
  t.equal((await shared(second, 'one')).revision?.version, modern.version)
})

for (const status of [401, 500]) {
  t.test(
    `an HTTP server that answers with ${status} is tried again until it does not, and nothing is remembered meanwhile`,
    async t => {
      let isBroken = true
      const url = await listen(t, (request, reply) => {
        const answer = isBroken
          ? { error: { code: -32600, message: 'no' } }
          : { result: { resultType: 'complete', supportedVersions: [modern.version], capabilities: {} } }
        request.resume().on('end', () => {
          reply
            .writeHead(isBroken ? status : 200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }))
        })
      })
      const app = await withServers(
        t,
        { one: { type: 'http', url } },
        { limits: { upstreamRestartDelay: 1, upstreamRestartDelayMax: 1, maxUpstreamFailures: 1_000_000 } }
      )
      await until(() => statusOf(app, 'one')?.lastError !== undefined)
      t.match(statusOf(app, 'one')?.lastError, new RegExp(String(status)))
      t.strictSame(await app.mcp.store.values.keys('upstreams/eras'), [])
      isBroken = false
      await until(() => statusOf(app, 'one')?.state === 'ready')
      t.equal(statusOf(app, 'one')?.revision, modern.version)
    }
  )
}

t.test('an HTTP server of the first SDK that asks on its own stream is heard', async t => {
  let ask: (() => Promise<object>) | undefined
  let transport: StreamableHTTPServerTransport | undefined
  const url = await listen(t, (request, reply) => {
    void (async () => {
      if (transport === undefined && request.method === 'POST') {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const body = JSON.parse(Buffer.concat(chunks).toString()) as { method: string }
        if (body.method !== 'initialize') return reply.writeHead(400).end()
        transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'session' })
        const server = new McpServer({ name: 'v1', version: '1' })
        ask = async () =>
          await server.server.elicitInput({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } })
        server.registerTool('ask', {}, async () => ({
          content: [{ type: 'text', text: JSON.stringify(await ask?.()) }]
        }))
        await server.connect(transport as Transport)
        return await transport.handleRequest(request, reply, body)
      }
      await transport?.handleRequest(request, reply)
    })()
  })
  const app = await withServers(t, { one: { type: 'http', url } })
  const connection = await shared(app, 'one')
  const call = new FakeCall('ada')
  const result = await inTime(
    connection.request({ method: 'tools/call', params: { name: 'ask', arguments: {} }, call }),
    'the answer'
  )
  t.match(result, { content: [{ text: '{"action":"accept","content":{}}' }] })
  t.match(call.asked, [{ method: 'elicitation/create', params: { message: 'Who?' } }])
})

t.test(
  'an HTTP server that has forgotten the session gets one initialize, and the call once more; the session is ended at close',
  async t => {
    const { server, entry } = await openFixture(t, 'HTTP', newestLegacy)
    const app = await withServers(t, { one: entry })
    const connection = await shared(app, 'one')
    let ready = 0
    app.mcp.upstreams.get('one')?.onReady(() => ready++)
    server.forget()
    const calls = Array.from(
      { length: 5 },
      async (_, index) =>
        await connection.request({ method: 'tools/call', params: { name: 'echo', arguments: { text: `t${index}` } } })
    )
    t.strictSame(
      (await inTime(Promise.all(calls), 'the answers')).map(({ content }) => (content as [{ text: string }])[0].text),
      ['t0', 't1', 't2', 't3', 't4']
    )
    t.equal(server.runs.get('echo'), 5)
    t.equal(ready, 1)
    await app.close()
    t.equal(server.ended, 1)
  }
)

t.test('a question on a shared pipe reaches neither of two principals, and the server gets an error', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { one: entry })
  const connection = await shared(app, 'one')
  const [ada, bob] = [new FakeCall('ada'), new FakeCall('bob')]
  connection
    .request({ method: 'tools/call', params: { name: 'hang', arguments: { key: 'a' } }, call: ada })
    .catch(() => {})
  const result = await inTime(
    connection.request({ method: 'tools/call', params: { name: 'ask_form', arguments: {} }, call: bob }),
    'the answer'
  )
  t.match(result, { isError: true, content: [{ text: /refused: -32603 .*calls of several clients are in flight/ }] })
  t.strictSame([ada.asked.length, bob.asked.length], [0, 0])
})

t.test(
  'a server of the second SDK that is too slow to be spared initialize is spoken to without a handshake',
  async t => {
    const path = fileURLToPath(new URL('../real/sdk-v2-server.js', import.meta.url))
    const app = await withServers(
      t,
      { one: { command: process.execPath, args: [path] } },
      { limits: { upstreamProbeWait: 1, upstreamRestartDelay: 1 } }
    )
    const connection = await shared(app, 'one')
    t.equal(connection.revision?.version, modern.version)
    t.match(await connection.request({ method: 'tools/list', params: {} }), { resultType: 'complete' })
  }
)

t.test('real servers of others are found to be stateful', async t => {
  const bin = (name: string): string =>
    fileURLToPath(new URL(`../../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url))
  const app = await withServers(t, {
    memory: {
      command: process.execPath,
      args: [bin('server-memory')],
      env: { MEMORY_FILE_PATH: `${t.testdir()}/memory.json` }
    },
    everything: { command: process.execPath, args: [bin('server-everything'), 'stdio'] }
  })
  for (const alias of ['memory', 'everything']) {
    const connection = await shared(app, alias)
    t.equal(connection.revision?.version, newestLegacy.version)
    t.match(await connection.request({ method: 'tools/list', params: {} }), { tools: Array })
  }
})
