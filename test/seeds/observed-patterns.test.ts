import t from 'tap'
import { eventually } from '../protocol/deadline.js'
import { launch } from '../cli/process.js'
import type { Json } from './connection.js'
import { PLACEHOLDERS } from './placeholders.js'
import { call, replay, request, result, shows, text, type Example } from './printed.js'
import { connect, serve, WIRES } from './wires.js'

// The "MCP Protocol Specification Reference" of observed patterns: what servers on stdio do.

const failure = (why: string | RegExp) => ({ ...text(why), isError: true })

const initialize = (protocolVersion: string): Example => ({
  title: 'the capabilities are declared',
  send: request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'observer', version: '1.0.0' } }),
  back: result(0, { protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: /./, version: /^\d/ } })
})

const EXAMPLES: Example[] = [
  {
    title: 'tools/list',
    send: request(1, 'tools/list'),
    lists: {
      tools: [{
        name: 'tool_name',
        description: 'What the tool does',
        inputSchema: { type: 'object', properties: {}, required: [] }
      }, {
        name: 'constrained',
        inputSchema: {
          type: 'object',
          properties: {
            param_name: { type: 'string', description: 'Parameter description' },
            choice: { type: 'string', enum: ['option1', 'option2'], minLength: 1 },
            amount: { type: 'number', minimum: 1, maximum: 100 },
            list: { type: 'array', items: { type: 'string' } },
            flag: { type: 'boolean' },
            nested: { type: 'object' }
          },
          required: ['param_name']
        }
      }]
    }
  },
  { title: 'tools/call', send: call(2, 'tool_name', { param1: 'value1' }), back: result(2, { content: [{ type: 'text', text: 'Result data as JSON string' }] }) },
  {
    title: 'resources/list',
    send: request(3, 'resources/list'),
    lists: { resources: [{ uri: 'custom://resource/id', name: 'Resource Name', description: 'What this resource provides', mimeType: 'text/plain' }] }
  },
  {
    title: 'resources/read',
    send: request(4, 'resources/read', { uri: 'custom://resource/id' }),
    exactly: result(4, { contents: [{ uri: 'custom://resource/id', mimeType: 'text/plain', text: 'Resource content' }] })
  },
  // The texts of failures are for people here, so they are not wrapped in {"error": …}.
  { title: 'execution error', send: call(5, 'fails', {}), back: result(5, failure('Error message')) },
  // Printed as an isError result; a tool that does not exist cannot have one.
  { title: 'tool not found', send: call(6, 'nope', {}), back: { id: 6, error: { code: -32602, data: { details: 'Unknown tool: nope' } } } },
  // What nobody expected is not told to strangers.
  { title: 'unexpected error', send: call(7, 'crashes', {}), back: { id: 7, error: { code: -32603, message: /^Internal error \(see the server's log for [\w-]+\)$/ } } },
  { title: 'it is alive after all that', send: call(8, 'tool_name', {}), back: { id: 8, result: { content: [{ type: 'text' }] } } }
]

/** What breaks the schema of `constrained`, each with the name that the refusal has to tell. */
const OFFENCES: Array<[args: Json | undefined, names: RegExp]> = [
  [undefined, /param_name/],
  [{}, /param_name/],
  [{ param_name: 7 }, /param_name must be string/],
  [{ param_name: 'x', choice: 'option3' }, /choice.*"option1", "option2"/],
  [{ param_name: 'x', choice: '' }, /choice/],
  [{ param_name: 'x', amount: 0 }, /amount must be >= 1/],
  [{ param_name: 'x', amount: 101 }, /amount must be <= 100/],
  [{ param_name: 'x', list: ['a', 1] }, /list.*1 must be string/],
  [{ param_name: 'x', flag: 'true' }, /flag must be boolean/],
  [{ param_name: 'x', nested: [] }, /nested must be object/]
]

for (const protocolVersion of ['2024-11-05', '2025-11-25']) {
  t.test(`the observed patterns, in ${protocolVersion}`, async t => {
    const served = await serve(t, { args: ['--plugin', PLACEHOLDERS] })
    for (const wire of WIRES) {
      t.test(`over ${wire}`, async t => {
        const client = await connect(t, wire, served)
        await replay(t, client, [initialize(protocolVersion), ...EXAMPLES])

        t.test('bad and missing arguments are refused by name', async t => {
          for (const [args, names] of OFFENCES) {
            const answer = await client.say(call(9, 'constrained', args))
            if (protocolVersion === '2025-11-25') shows(t, answer, result(9, failure(names)))
            else shows(t, answer, { id: 9, error: { code: -32602, message: names } })
          }
        })

        t.test('there is a health check', async t => {
          const { result: { content: [{ text }] } } = await client.say(call(10, 'health_check', {})) as { result: { content: [{ text: string }] } }
          t.match(JSON.parse(text), { status: 'healthy', uptime: Number, versions: { server: String } }, 'its text is JSON')
        })
      })
    }
  })
}

t.test('standard output carries messages and nothing else, whatever tools do', async t => {
  const { process } = await serve(t, { args: ['--plugin', PLACEHOLDERS] })
  process.send(initialize('2024-11-05').send as Json, call(1, 'chatty', {}), call(2, 'forgetful', {}), call(3, 'tool_name', {}))
  await eventually(() => /"id":3/.test(process.stdout))
  process.end()
  const { code, stdout, stderr } = await process.exit()
  t.equal(code, 0, 'a promise nobody looked at does not end the server')
  t.match(stdout.trimEnd().split('\n').map(line => JSON.parse(line) as Json), [{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }])
  t.match(stderr, /^from console.log$/m)
  t.match(stderr, /^from process.stdout$/m)
  t.match(stderr, /mcpServers/, 'that it runs is said on standard error')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} is a graceful end`, async t => {
    const { process } = await serve(t, { env: { MCP_LOG_LEVEL: 'info' } })
    process.send(initialize('2024-11-05').send as Json)
    await process.next()
    process.send(call(1, 'long_running_task', { steps: 2, delay: 0.1 }))
    process.send(request(2, 'ping'))
    t.match(await process.next(), { id: 2 }, 'the task is under way')
    process.kill(signal)
    t.match(await process.next(), { id: 1, result: { content: [{ text: 'Completed 2 steps' }] } }, 'what is under way is answered')
    const { code, stderr } = await process.exit()
    t.equal(code, 0)
    t.match(stderr, /shutting down/)
  })
}

t.test('a fatal error is told on standard error, and ends with 1', async t => {
  const process = launch(t, ['--stdio', '--plugin', '/nowhere/at/all.js'])
  const { code, stdout, stderr } = await process.exit()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^patchbay: .*\/nowhere\/at\/all.js/)
})
