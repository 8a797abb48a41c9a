import t from 'tap'
import { createClient } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { routesOf } from '../../support/routes.js'

const WORDS = /^(command|args|env|envFile|cwd|url|headers|mcpServers|mcpConfig|servers?|upstreams?)$/

/** What a client that wants to add a server might send. */
const ENTRY = {
  name: 'evil',
  alias: 'evil',
  command: 'sh',
  args: ['-c', 'touch owned'],
  env: {},
  url: 'http://127.0.0.1:1/mcp'
}
const BODY = { mcpServers: { evil: ENTRY }, servers: [ENTRY], upstreams: [ENTRY], ...ENTRY }

t.test('no route takes a server: whatever is sent to any of them, there is none afterwards', async t => {
  const app = await gateway(t, { tools: true, allowAnonymous: true })
  const configured: unknown[] = []
  const { configure } = app.mcp.upstreams
  app.mcp.upstreams.configure = async entries => { configured.push(entries); await configure(entries) }
  const routes = routesOf(app)
  t.ok(routes.length > 10)
  for (const [method, url] of routes) {
    // A stream would not end.
    if (method === 'GET' && /sse|mcp/.test(url)) continue
    await app.inject({
      method: method as 'POST',
      url,
      headers: { accept: 'application/json, text/event-stream' },
      ...(['GET', 'HEAD'].includes(method) ? { query: { command: 'sh', url: ENTRY.url } } : { payload: BODY })
    })
  }
  t.strictSame([configured, app.mcp.upstreams.status()], [[], []])
})

t.test('no method of the protocol takes a server', async t => {
  const app = await gateway(t, { tools: true })
  const client = await createClient(app)
  for (const method of [
    'upstreams/configure',
    'upstreams/add',
    'servers/add',
    'mcp/configure',
    'server/configure',
    'initialize',
    'completion/complete',
    'logging/setLevel',
    'resources/subscribe'
  ]) {
    await client
      .request(method, {
        ...BODY,
        protocolVersion: '2025-06-18',
        capabilities: BODY,
        clientInfo: { name: 'x', version: '1' }
      })
      .catch(() => {})
    client.notify(method, BODY)
  }
  t.strictSame(app.mcp.upstreams.status(), [])
})

t.test(
  'no built-in tool has an argument for a server, but for the program of execute_command, which the operator lists',
  async t => {
    const app = await gateway(t, { tools: true, commands: { date: {} } })
    const client = await createClient(app)
    const { tools } = (await client.request('tools/list')) as {
      tools: Array<{ name: string, inputSchema: { properties?: Record<string, unknown> } }>
    }
    t.ok(tools.length > 10)
    const taking = tools.flatMap(({ name, inputSchema: { properties = {} } }) =>
      Object.keys(properties)
        .filter(argument => WORDS.test(argument))
        .map(argument => `${name} ${argument}`)
    )
    t.strictSame(taking.sort(), ['execute_command args', 'execute_command command'])
    for (const { name } of tools) await client.request('tools/call', { name, arguments: BODY }).catch(() => {})
    t.strictSame(app.mcp.upstreams.status(), [])
  }
)
