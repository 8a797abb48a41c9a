// The program that client scenarios of the suite run: a gateway with the scenario's server behind it, and a client that
// does in front what the scenario is about.
import { build, createClient, type Client } from '../../app.js'

type Json = Record<string, unknown>
type Scenario = (client: Client, tools: Json[]) => Promise<void>

const PREFIX = 'server__'

const scenarios: Record<string, Scenario> = {
  'json-schema-ref-no-deref': async () => {},
  'json-schema-2020-12-preservation': async (client, tools) => {
    const schema = tools.find(({ name }) => name === `${PREFIX}json_schema_2020_12_tool`)?.inputSchema
    await call(client, 'json_schema_echo', { schema })
  },
  'sep-2322-client-request-state': async client => {
    await Promise.all([call(client, 'test_mrtr_echo_state'), call(client, 'test_mrtr_unrelated')])
    await call(client, 'test_mrtr_no_state')
    await call(client, 'test_mrtr_no_result_type')
  },
  'http-standard-headers': async (client, tools) => {
    await callAll(client, tools)
    for (const { uri } of await listAll(client, 'resources')) await client.read(String(uri))
    for (const { name } of await listAll(client, 'prompts')) await client.prompt(String(name))
  },
  'http-custom-headers': async client => {
    const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
      toolCalls: Array<{ name: string, arguments: Json }>
    }
    for (const { name, arguments: args } of toolCalls) await call(client, name, args)
  }
}

const app = await build(
  {
    tools: false,
    limits: { maxEventLoopDelay: 60_000 },
    mcpServers: { server: { url: String(process.argv.at(-1)), schemas: 'as-is' } }
  },
  { logger: { level: 'warn', stream: process.stderr } }
)
await app.ready()
try {
  await started()
  const client = await createClient(app, { answers: { 'elicitation/create': fill }, capabilities: { elicitation: {} } })
  const scenario = scenarios[process.env.MCP_CONFORMANCE_SCENARIO ?? ''] ?? callAll
  await scenario(client, await listAll(client, 'tools'))
} finally {
  await app.close()
}

async function started (): Promise<void> {
  while (
    app.mcp.upstreams.status().length === 0 ||
    app.mcp.upstreams.status().some(({ state, stale }) => state !== 'ready' || stale)
  ) { await new Promise(resolve => setTimeout(resolve, 10)) }
}

async function callAll (client: Client, tools: Json[]): Promise<void> {
  for (const { name } of tools) await client.request('tools/call', { name, arguments: { a: 2, b: 3 } })
}

async function call (client: Client, name: string, args: Json = {}): Promise<void> {
  await client.request('tools/call', { name: `${PREFIX}${name}`, arguments: args })
}

async function listAll (client: Client, kind: string): Promise<Json[]> {
  return (await client.request(`${kind}/list`))[kind] as Json[]
}

// Accepts with the defaults of the form; a checkbox without one is checked.
function fill ({ requestedSchema }: Json): object {
  const properties = Object.entries((requestedSchema as { properties: Record<string, Json> }).properties)
  return {
    action: 'accept',
    content: Object.fromEntries(properties.map(([name, { default: value = true }]) => [name, value]))
  }
}
