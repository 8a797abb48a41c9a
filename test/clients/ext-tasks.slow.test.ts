import { existsSync } from 'node:fs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import t, { type Test } from 'tap'
import { taskTools } from '../conformance/task-tools.js'
import { messagesOf } from '../support/event-reader.js'
import { listening } from '../support/gateway.js'
import { inFrontOf } from '../support/upstreams.js'
import { programOf } from '../upstreams/real/everything.js'

type Json = Record<string, unknown>
type Outcome = Json & { status: string, result?: Json & { content: Array<{ text: string }> } }
interface Session {
  callTool: (name: string, args: Json) => Promise<{
    kind: string
    cancel: () => Promise<void>
    settle: () => Promise<{ outcome: Outcome }>
  }>
  close: () => Promise<void>
}

/** The part of the package that is used here, which is not installed in every checkout. */
interface ExtTasks {
  createTaskSessionFromClient: (client: Client, options: Json) => Session
  toolDeclarationFromMcpTool: (tool: unknown) => unknown
}

const PACKAGE = new URL('../../../node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js', import.meta.url)

const withPackage = { skip: !existsSync(PACKAGE) && 'not installed: @modelcontextprotocol/ext-tasks' }
const INFO = { name: 'judge', version: '1' }
const CAPABILITIES = { elicitation: { form: {} } }
const MODERN = { mode: { pin: '2026-07-28' } } as const
const LEGACY = { mode: 'legacy' } as const

/** Answers each question with what it asks for. */
const answerTo = (params: Json) => {
  const { properties } = params.requestedSchema as { properties: Json }
  const value = (name: string): unknown => name === 'confirm' ? true : name === 'interpretation' ? 'technical' : 'Alice'
  const content = Object.fromEntries(Object.keys(properties).map(name => [name, value(name)]))
  return { action: 'accept' as const, content }
}

/** Counts the questions that clients were asked. */
class Asked { count = 0 }

async function connected (
  t: Test,
  url: string,
  versionNegotiation: typeof MODERN | typeof LEGACY,
  asked?: Asked
): Promise<Client> {
  const client = new Client(INFO, { versionNegotiation, capabilities: CAPABILITIES })
  if (asked !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.count++
      return answerTo(params as unknown as Json) as never
    })
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.teardown(async () => await client.close())
  return client
}

/** A session of the official client of tasks. */
async function sessionOf (t: Test, url: string, isModern: boolean, asked = new Asked()): Promise<Session> {
  const { createTaskSessionFromClient, toolDeclarationFromMcpTool } = await import(PACKAGE.href) as ExtTasks
  const client = await connected(t, url, isModern ? MODERN : LEGACY)
  const declared = new Map((await client.listTools()).tools.map(tool => [tool.name, toolDeclarationFromMcpTool(tool)]))
  const framing = { protocolVersion: '2026-07-28', clientInfo: INFO, clientCapabilities: CAPABILITIES }
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    tools: { currentTool: (name: string) => declared.get(name) },
    onInputRequest: async ({ params }: { params: Json }) => {
      asked.count++
      return answerTo(params)
    },
    ...(isModern && { rawDispatch: dispatchTo(url), v2RequestFraming: framing })
  })
  t.teardown(async () => await session.close())
  return session
}

/** Sends what the client of tasks has framed: the codecs of the SDK know no tasks. */
const dispatchTo = (url: string) => async ({ method, params }: { method: string, params: Json }): Promise<object> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params.taskId ?? params.name)
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  })
  const text = await response.text()
  const { result, error } = (text.startsWith('{') ? JSON.parse(text) : messagesOf(text).at(-1)) as Json
  return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
}

const settle = async (session: Session, name: string, args: Json = {}): Promise<{ kind: string, outcome: Outcome }> => {
  const execution = await session.callTool(name, args)
  return { kind: execution.kind, outcome: (await execution.settle()).outcome }
}

const textOf = ({ result }: Outcome): string | undefined => result?.content[0]?.text

t.test('the official client of tasks settles every tool, in both generations', withPackage, async t => {
  const { url } = await listening(t, {
    tools: false, plugins: [async ({ mcp: { tools } }) => { for (const one of taskTools) tools.add(one) }]
  })
  for (const isModern of [true, false]) {
    const session = await sessionOf(t, `${url}/mcp`, isModern)
    const greeted = await settle(session, 'greet', { name: 'Ada' })
    t.strictSame([greeted.kind, textOf(greeted.outcome)], ['immediate', 'Hello, Ada!'])
    t.equal(textOf((await settle(session, 'slow_compute', { seconds: 0.5 })).outcome), 'work took 0.5 s')
    const failed = await settle(session, 'failing_job')
    t.match(failed, isModern
      ? { kind: 'task', outcome: { status: 'completed', result: { isError: true, resultType: 'complete' } } }
      : { kind: 'task', outcome: { status: 'failed' } })
    t.match(await settle(session, 'protocol_error_job'), { kind: 'task', outcome: { status: 'failed' } })
  }
  const session = await sessionOf(t, `${url}/mcp`, true)
  for (const [name, text] of [
    ['confirm_delete', 'Deleted a file'], ['multi_input', 'Both were answered'], ['test_tool_with_task', 'Hello, Alice']
  ] as const) {
    const { kind, outcome } = await settle(session, name)
    t.strictSame([kind, textOf(outcome)], ['task', text])
  }
  const long = await session.callTool('slow_compute', { seconds: 600 })
  await long.cancel()
  t.match((await long.settle()).outcome, { status: 'cancelled' })
})

/** A call by the client of the first SDK, which has tasks of 2025-11-25; gives the states on its way. */
async function streamed (
  t: Test,
  url: string,
  name: string,
  args: Json,
  asked: Asked
): Promise<{ states: Set<string>, text: unknown }> {
  const client = new Client1(INFO, { capabilities: { ...CAPABILITIES, tasks: {} } })
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.count++
    return answerTo(params as Json) as never
  })
  await client.connect(new Transport1(new URL(url)) as never)
  t.teardown(async () => await client.close())
  await client.listTools()
  const states = new Set<string>()
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task: {} })
  for await (const message of stream) {
    if (message.type === 'taskStatus') states.add(message.task.status)
    if (message.type === 'error') throw message.error
    if (message.type === 'result') return { states, text: (message.result.content as Json[])[0]?.text }
  }
  throw new Error('the stream ended without a result')
}

t.test('the client of the first SDK settles tasks of 2025-11-25, and is asked by them', async t => {
  const { url } = await listening(t, {
    tools: false, plugins: [async ({ mcp: { tools } }) => { for (const one of taskTools) tools.add(one) }]
  })
  const asked = new Asked()
  t.equal((await streamed(t, `${url}/mcp`, 'confirm_delete', {}, asked)).text, 'Deleted a file')
  t.equal((await streamed(t, `${url}/mcp`, 'multi_input', {}, asked)).text, 'Both were answered')
  t.equal(asked.count, 3)
})

t.test('a task of the official example server is relayed to clients with and without tasks', withPackage, async t => {
  const front = await inFrontOf(t, { up: { command: process.execPath, args: [programOf('server-everything'), 'stdio'] } })
  const url = `${front.url}/mcp`
  const name = 'up__simulate-research-query'
  for (const ambiguous of [false, true]) {
    const args = { topic: 'tasks', ambiguous }
    const report = ambiguous ? /^# Research Report: tasks \(technical\)/ : /^# Research Report: tasks\n/
    const asked = new Asked()
    for (const negotiation of [LEGACY, MODERN]) {
      const client = await connected(t, url, negotiation, asked)
      t.match((await client.callTool({ name, arguments: args })).content, [{ text: report }])
    }
    const { kind, outcome } = await settle(await sessionOf(t, url, true, asked), name, args)
    t.equal(kind, 'task')
    t.match(textOf(outcome), report)
    const { states, text } = await streamed(t, url, name, args, asked)
    t.match(text, report)
    t.equal(states.has('input_required'), ambiguous)
    t.equal(asked.count, ambiguous ? 4 : 0)
  }
})
