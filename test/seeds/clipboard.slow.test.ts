import t, { type Test } from 'tap'
import { display, noDisplay } from '../support/environment/display.js'
import { folder, launch, type Launched } from '../support/process.js'
import type { Json } from './connection.js'
import { PLACEHOLDERS } from './placeholders.js'
import { call, replay, request, result, shows, text, type Example } from './printed.js'
import { connect, serve, TRANSPORTS, type Served } from './transports.js'

// The "MCP Clipboard Server - API Reference": JSON-RPC over stdio, in 2024-11-05.

const LIMIT = 1_048_576

const refused = (id: number, details: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32602, message: /^Invalid params/, data: { details } }
})

const COPIED = 'Text copied to clipboard'
const set = (id: number, content: string, title = 'set_clipboard'): Example => ({
  title,
  send: call(id, 'set_clipboard', { text: content }),
  exactly: result(id, text(COPIED))
})
const get = (id: number, content: string, title = 'get_clipboard'): Example => ({
  title,
  send: call(id, 'get_clipboard', {}),
  exactly: result(id, text(content))
})
const there = (content: string, title: string): Example[] => [set(4, content, title), get(3, content, title)]

const FLOW: Example[] = [
  {
    title: 'initialize',
    send: request(1, 'initialize', {
      protocolVersion: '2024-11-05',
      clientInfo: { name: 'example-client', version: '1.0.0' },
      capabilities: {}
    }),
    back: result(1, {
      protocolVersion: '2024-11-05',
      serverInfo: { name: /./, version: /^\d+\.\d+\.\d+/ },
      capabilities: { tools: {} }
    })
  },
  {
    title: 'tools/list',
    send: request(2, 'tools/list'),
    lists: {
      tools: [
        {
          name: 'get_clipboard',
          description: 'Get the current text content from the system clipboard',
          inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false }
        },
        {
          name: 'set_clipboard',
          description: 'Set the system clipboard to the provided text content',
          inputSchema: {
            type: 'object',
            properties: {
              text: { type: 'string', description: 'The text content to copy to the clipboard', maxLength: LIMIT }
            },
            required: ['text'],
            additionalProperties: false
          }
        }
      ]
    }
  }
]

const TOOLS: Example[] = [
  ...there('Hello, World!', 'a plain text'),
  {
    title: 'get_clipboard without arguments',
    send: call(3, 'get_clipboard'),
    exactly: result(3, text('Hello, World!'))
  },
  // Once as the document meant it and once as it is printed, with its broken encoding.
  ...there('Hello, World! 🌍', 'an emoji'),
  ...there('Hello, World! \uF8FFüåç', 'the emoji, misread'),
  ...there('Hello 世界 🌍 emoji test ñ', 'unicode_text'),
  ...there('A'.repeat(1000), 'long_text'),
  ...there('', 'empty_text'),
  ...there('one\r\ntwo\nthree\rfour\n', 'line endings'),
  ...there('A'.repeat(LIMIT), 'as much as there may be'),
  set(9, 'Previous clipboard content')
]

const BATCHES: Example[] = [
  {
    title: 'a batch, in order',
    send: [call(1, 'get_clipboard', {}), call(2, 'set_clipboard', { text: 'Batch operation result' })],
    exactly: [result(1, text('Previous clipboard content')), result(2, text(COPIED))]
  },
  get(3, 'Batch operation result', 'what the batch has set'),
  {
    title: 'an empty batch',
    send: [],
    back: { jsonrpc: '2.0', id: null, error: { code: -32600, message: /^Invalid Request/ } }
  },
  {
    title: 'a failure does not end the batch',
    send: [
      call(1, 'invalid_tool', {}),
      call(2, 'get_clipboard', {}),
      request(3, 'no/such/method'),
      call(4, 'set_clipboard', {})
    ],
    back: [
      { id: 1, error: { code: -32602 } },
      result(2, text('Batch operation result')),
      { id: 3, error: { code: -32601 } },
      { id: 4, error: { code: -32602 } }
    ]
  }
]

const ERRORS: Example[] = [
  // Printed as -32601 "Method not found"; two other documents and the specification have -32602.
  { title: 'unknown tool', send: call(5, 'invalid_tool', {}), back: refused(5, 'Unknown tool: invalid_tool') },
  { title: 'no text', send: call(6, 'set_clipboard', {}), back: refused(6, "set_clipboard requires 'text' parameter") },
  {
    title: 'text that is none',
    send: call(6, 'set_clipboard', { text: 42 }),
    back: refused(6, "set_clipboard requires 'text' parameter")
  },
  {
    title: 'too much text',
    send: call(7, 'set_clipboard', { text: 'A'.repeat(LIMIT + 1) }),
    back: refused(7, 'Text content exceeds maximum size of 1048576 characters')
  },
  {
    title: 'more parameters',
    send: call(8, 'set_clipboard', { text: 'x', other: 1 }),
    back: { id: 8, error: { code: -32602, message: /other/ } }
  },
  {
    title: 'unknown method',
    send: request(9, 'no/such/method'),
    back: { id: 9, error: { code: -32601, message: /^Method not found/ } }
  },
  {
    title: 'a malformed request',
    send: { jsonrpc: '2.0', id: 10, method: 7 },
    back: { id: 10, error: { code: -32600, message: /^Invalid Request/ } }
  },
  get(11, 'Batch operation result', 'nothing of it has touched the clipboard')
]

/** A process with or without a display, and nothing of the user's. */
async function serving (t: Test, env: Record<string, string>): Promise<Served> {
  const home = await folder(t, {})
  return await serve(t, { env: { HOME: home, XDG_CACHE_HOME: home, ...env } })
}

t.test('the clipboard of the documents', { skip: noDisplay }, async t => {
  const { name: DISPLAY } = await display(t)
  const served = await serving(t, { DISPLAY })
  const endings: Launched[] = []

  for (const transport of TRANSPORTS) {
    // The program that launches a server is its only client.
    const fresh = async () => {
      if (transport !== 'stdio') return await connect(t, transport, served)
      const own = await serving(t, { DISPLAY })
      endings.push(own.process)
      return await connect(t, transport, own)
    }

    t.test(`every example over ${transport}`, async t => {
      const client = await connect(t, transport, served)
      await replay(t, client, [
        ...FLOW,
        ...(transport === 'stdio' ? [get(3, '', 'an empty clipboard')] : []),
        ...TOOLS,
        ...BATCHES,
        ...ERRORS
      ])
      shows(
        t,
        await client.sendText('{"jsonrpc":"2.0","id":1,'),
        { jsonrpc: '2.0', id: null, error: { code: -32700, message: /^Parse error/ } },
        'invalid JSON'
      )
      t.strictSame(client.answers, [], 'nothing else is answered')
    })

    t.test(`the Python clients over ${transport}`, async t => {
      const protocolVersion = '2024-11-05'
      const [plain, asynchronous, roundtrip] = await Promise.all([fresh(), fresh(), fresh()])
      shows(
        t,
        await plain.sendRequest(
          request(1, 'initialize', {
            protocolVersion,
            capabilities: {},
            clientInfo: { name: 'my-client', version: '1.0.0' }
          })
        ),
        result(1, { protocolVersion })
      )
      shows(
        t,
        await asynchronous.sendRequest(
          request('test-id', 'initialize', { protocolVersion, clientInfo: { name: 'test', version: '1.0' } })
        ),
        result('test-id', { protocolVersion })
      )
      shows(t, await roundtrip.request('initialize', { protocolVersion }), { result: { protocolVersion } })
      await roundtrip.request('tools/call', { name: 'set_clipboard', arguments: { text: 'test content' } })
      t.match(await roundtrip.request('tools/call', { name: 'get_clipboard', arguments: {} }), {
        result: { content: [{ text: /^test content$/ }] }
      })
    })
  }

  t.test('SIGTERM, SIGINT and the end of standard input are graceful ends', async t => {
    const [terminated, interrupted, left] = endings as [Launched, Launched, Launched]
    terminated.kill('SIGTERM')
    interrupted.kill('SIGINT')
    left.end()
    for (const process of endings) t.match(await process.exit(), { code: 0, signal: null })
  })

  t.test('debug mode traces calls as JSON, without what is on the clipboard', async t => {
    const home = await folder(t, {})
    const process = launch(t, ['--stdio', '--ephemeral', '--plugin', PLACEHOLDERS], {
      env: { DISPLAY, HOME: home, XDG_CACHE_HOME: home, MCP_LOG_LEVEL: 'DEBUG', MCP_LOG_JSON: 'true' }
    })
    process.send(FLOW[0]?.send as Json)
    await process.next()
    const calls = [
      call(4, 'set_clipboard', { text: 'correct horse' }),
      call(3, 'get_clipboard', {}),
      call(5, 'set_clipboard', { text: 'battery\0' }),
      call(6, 'crashes', {})
    ]
    for (const message of calls) {
      process.send(message)
      await process.next()
    }
    process.end()
    const { stderr } = await process.exit()
    const logs = stderr.trimEnd().split('\n').map(line => JSON.parse(line) as Json)
    for (const id of [3, 4]) {
      t.match(
        logs.filter(log => log.id === id),
        [
          { msg: 'request', method: 'tools/call', of: /_clipboard$/ },
          { msg: 'response', method: 'tools/call', ms: Number }
        ],
        `call ${id} is traced`
      )
    }
    t.match(logs.filter(log => log.id === 5), [{ msg: 'request' }, { msg: 'response', err: { message: /NUL/ } }])
    t.ok(
      logs.some(
        ({ id, err }) =>
          id === 6 && /Error: connect 10\.0\.0\.1.*\n\s+at /.test(String((err as Json | undefined)?.stack))
      ),
      'errors have their stack'
    )
    t.notMatch(stderr, /correct horse|battery/)
  })
})

t.test('without a display', { skip: process.platform !== 'linux' && 'a display is what Linux needs' }, async t => {
  const served = await serving(t, {})
  for (const transport of TRANSPORTS) {
    t.test(`the clipboard error over ${transport}`, async t => {
      const back = {
        jsonrpc: '2.0',
        id: 8,
        error: {
          code: -32001,
          message: 'Clipboard error',
          data: { details: 'Failed to access system clipboard: No display environment available' }
        }
      }
      const client = await connect(t, transport, served)
      await replay(t, client, [
        ...FLOW,
        { title: 'get_clipboard', send: call(8, 'get_clipboard', {}), back },
        { title: 'set_clipboard', send: call(8, 'set_clipboard', { text: 'x' }), back }
      ])
    })
  }
})
