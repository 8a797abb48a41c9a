import t from 'tap'
import { launch } from '../support/process.js'
import type { Json } from './connection.js'
import { PLACEHOLDERS } from './placeholders.js'
import { call, replay, request, result, shows, text, type Example } from './printed.js'
import { connect, serve, TRANSPORTS } from './transports.js'

// The "MCP Protocol Specification Reference" of observed patterns: what servers on stdio do.

const failure = (why: string | RegExp) => ({ ...text(why), isError: true })

const initialize = (protocolVersion: string): Example => ({
  title: 'the capabilities are declared',
  send: request(0, 'initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'observer', version: '1.0.0' }
  }),
  back: result(0, {
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: /./, version: /^\d/ }
  })
})

const EXAMPLES: Example[] = [
  {
    title: 'tools/list',
    send: request(1, 'tools/list'),
    lists: {
      tools: [
        {
          name: 'tool_name',
          description: 'What the tool does',
          inputSchema: { type: 'object', properties: {}, required: [] }
        },
        {
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
        }
      ]
    }
  },
  {
    title: 'tools/call',
    send: call(2, 'tool_name', { param1: 'value1' }),
    back: result(2, { content: [{ type: 'text', text: 'Result data as JSON string' }] })
  },
  {
    title: 'resources/list',
    send: request(3, 'resources/list'),
    lists: {
      resources: [
        {
          uri: 'custom://resource/id',
          name: 'Resource Name',
          description: 'What this resource provides',
          mimeType: 'text/plain'
        }
      ]
    }
  },
  {
    title: 'resources/read',
    send: request(4, 'resources/read', { uri: 'custom://resource/id' }),
    exactly: result(4, {
      contents: [{ uri: 'custom://resource/id', mimeType: 'text/plain', text: 'Resource content' }]
    })
  },
  {
    title: 'an unknown method',
    send: request(1, 'method_name'),
    back: { jsonrpc: '2.0', id: 1, error: { code: -32601 } }
  },
  // The texts of failures are for people here, so they are not wrapped in {"error": …}.
  { title: 'execution error', send: call(5, 'fails', {}), back: result(5, failure('Error message')) },
  // Printed as an isError result; a tool that does not exist cannot have one.
  {
    title: 'tool not found',
    send: call(6, 'nope', {}),
    back: { id: 6, error: { code: -32602, data: { details: 'Unknown tool: nope' } } }
  },
  // The text of an unexpected error is not sent to clients.
  {
    title: 'unexpected error',
    send: call(7, 'crashes', {}),
    back: { id: 7, error: { code: -32603, message: /^Internal error \(see the server's log for [\w-]+\)$/ } }
  },
  { title: 'a tool that prints', send: call(8, 'chatty', {}), back: result(8, { content: [] }) },
  // Printed as the end of the process; here no other call is affected.
  { title: 'an unhandled rejection', send: call(8, 'forgetful', {}), back: result(8, { content: [] }) },
  {
    title: 'it is alive after all that',
    send: call(8, 'tool_name', {}),
    back: { id: 8, result: { content: [{ type: 'text' }] } }
  }
]

/** Arguments that break the schema of `constrained`, each with the name that the error has to contain. */
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

const LIVES = [['2024-11-05', 'SIGINT'], ['2025-11-25', 'SIGTERM']] as const

for (const [protocolVersion, signal] of LIVES) {
  t.test(`the observed patterns, in ${protocolVersion}`, async t => {
    const served = await serve(t, { args: ['--plugin', PLACEHOLDERS], env: { MCP_LOG_LEVEL: 'info' } })
    for (const transport of TRANSPORTS) {
      t.test(`over ${transport}`, async t => {
        const client = await connect(t, transport, served)
        await replay(t, client, [initialize(protocolVersion), ...EXAMPLES])

        t.test('bad and missing arguments are refused by name', async t => {
          for (const [args, names] of OFFENCES) {
            const answer = await client.sendRequest(call(9, 'constrained', args))
            if (protocolVersion === '2025-11-25') shows(t, answer, result(9, failure(names)))
            else shows(t, answer, { id: 9, error: { code: -32602, message: names } })
          }
        })

        t.test('there is a health check', async t => {
          const {
            result: {
              content: [{ text }]
            }
          } = (await client.sendRequest(call(10, 'health_check', {}))) as { result: { content: [{ text: string }] } }
          t.match(
            JSON.parse(text),
            { status: 'healthy', uptime: Number, versions: { server: String } },
            'its text is JSON'
          )
        })
      })
    }

    t.test(`${signal} is a graceful end, and standard output was never anything but messages`, async t => {
      const { process } = served
      process.send(call(11, 'long_running_task', { steps: 2, delay: 0.1 }), request(12, 'ping'))
      t.match(await process.next(), { id: 12 }, 'the task is under way')
      process.kill(signal)
      t.match(
        await process.next(),
        { id: 11, result: { content: [{ text: 'Completed 2 steps' }] } },
        'what is under way is answered'
      )
      const { code, stdout, stderr } = await process.exit()
      t.equal(code, 0)
      for (const line of stdout.trimEnd().split('\n')) t.match(JSON.parse(line), { jsonrpc: '2.0' })
      t.match(stderr, /patchbay \S+ is up: stdio/, 'that it runs is said on standard error')
      t.match(stderr, /shutting down/, 'and so is that it ends')
      t.equal(
        stderr.match(/^from (console.log|process.stdout)$/mg)?.length,
        2 * TRANSPORTS.length,
        'what tools print comes there, too'
      )
    })
  })
}

t.test('a fatal error is written to standard error, with exit code 1', async t => {
  const process = launch(t, ['--stdio', '--ephemeral', '--plugin', '/nowhere/at/all.js'])
  const { code, stdout, stderr } = await process.exit()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^patchbay: .*\/nowhere\/at\/all.js/)
})
