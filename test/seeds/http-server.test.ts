import t from 'tap'
import type { Json } from './connection.js'
import { includes, replay, request, result, shows, text, type Example } from './printed.js'
import { running, shell } from './programs.js'
import { connect, serve, TRANSPORTS } from './transports.js'

// The "MCP Server API Reference": HTTP with sessions and server-sent events.

const INITIALIZE: Example = {
  title: 'initialize',
  send: request(1, 'initialize', {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {}, resources: {} },
    clientInfo: { name: 'my-client', version: '1.0.0' }
  }),
  back: result(1, {
    protocolVersion: '2024-11-05',
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true }
    },
    serverInfo: { name: /./, version: /^\d+\.\d+\.\d+/ }
  })
}

const INITIALIZED: Example = { title: 'initialized', send: { jsonrpc: '2.0', method: 'initialized', params: {} } }

const EXAMPLES: Example[] = [
  { title: 'ping', send: request(2, 'ping'), exactly: result(2, {}) },
  {
    title: 'tools/list',
    send: request(3, 'tools/list'),
    lists: {
      tools: [{
        name: 'get_current_time',
        description: 'Get the current time',
        inputSchema: { type: 'object', properties: {}, required: [] }
      }, {
        name: 'calculate',
        description: 'Perform arithmetic operations',
        inputSchema: {
          type: 'object',
          properties: { operation: { type: 'string', enum: ['add', 'subtract', 'multiply', 'divide'] }, a: { type: 'number' }, b: { type: 'number' } },
          required: ['operation', 'a', 'b']
        }
      }]
    }
  },
  { title: 'tools/call', send: request(4, 'tools/call', { name: 'calculate', arguments: { operation: 'add', a: 5, b: 3 } }), exactly: result(4, text('5 + 3 = 8')) },
  {
    title: 'tools/call that fails',
    send: request(4, 'tools/call', { name: 'calculate', arguments: { operation: 'divide', a: 5, b: 0 } }),
    exactly: result(4, { ...text('Error: Division by zero'), isError: true })
  },
  {
    title: 'resources/list',
    send: request(5, 'resources/list'),
    lists: {
      resources: [
        { uri: 'server://status', name: 'Server Status', description: 'Current server status', mimeType: 'application/json' },
        { uri: 'server://counter', name: 'Counter', description: 'Current counter value', mimeType: 'text/plain' }
      ]
    }
  },
  {
    title: 'resources/read',
    send: request(6, 'resources/read', { uri: 'server://status' }),
    back: result(6, { contents: [{ uri: 'server://status', mimeType: 'application/json', text: /^{"status": ?"healthy", ?"uptime": ?\d+}$/ }] })
  },
  { title: 'resources/subscribe', send: request(7, 'resources/subscribe', { uri: 'server://counter' }), exactly: result(7, {}) },
  { title: 'resources/unsubscribe', send: request(8, 'resources/unsubscribe', { uri: 'server://counter' }), exactly: result(8, {}) },
  {
    title: 'prompts/list',
    send: request(9, 'prompts/list'),
    lists: {
      prompts: [{
        name: 'greeting',
        description: 'Generate a personalized greeting',
        arguments: [{ name: 'name', description: 'Name of the person to greet', required: true }, { name: 'style', description: 'Greeting style (formal/casual)', required: false }]
      }]
    }
  },
  {
    title: 'prompts/get',
    send: request(10, 'prompts/get', { name: 'greeting', arguments: { name: 'Alice', style: 'formal' } }),
    back: result(10, { messages: [{ role: 'user', content: { type: 'text', text: 'Please greet Alice in a formal style.' } }] })
  }
]

const ERRORS: Example[] = [
  {
    title: 'method not found',
    send: request(1, 'method/name'),
    back: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: /^Method not found/ } }
  },
  {
    title: 'invalid params',
    send: request(2, 'resources/read'),
    back: { id: 2, error: { code: -32602, message: /^Invalid params/ } }
  },
  {
    title: 'missing argument',
    send: request(3, 'tools/call', { name: 'calculate', arguments: { operation: 'add', a: 5 } }),
    back: { id: 3, error: { code: -32602, message: /^Invalid params/ } }
  },
  {
    title: 'unknown tool',
    send: request(4, 'tools/call', { name: 'nope', arguments: {} }),
    back: { id: 4, error: { code: -32602, message: /Unknown tool: nope/ } }
  },
  // Printed as -32602, which the specification has from 2026-07-28 on; this client speaks 2024-11-05.
  {
    title: 'unknown resource',
    send: request(5, 'resources/read', { uri: 'server://nope' }),
    back: { id: 5, error: { code: -32002, message: 'Resource not found: server://nope' } }
  },
  {
    title: 'invalid request',
    send: { jsonrpc: '2.0', id: 6 },
    back: { id: 6, error: { code: -32600, message: /^Invalid Request/ } }
  }
]

/** The tables of the built-in tools: parameter, type, whether it is required. */
const PARAMETERS: Record<string, Array<[name: string, type: string, required: boolean]>> = {
  get_current_time: [],
  calculate: [['operation', 'string', true], ['a', 'number', true], ['b', 'number', true]],
  increment_counter: [['amount', 'integer', false]],
  add_note: [['content', 'string', true], ['tags', 'array', false]],
  get_notes: [['tags', 'array', false], ['limit', 'integer', false]],
  long_running_task: [['steps', 'integer', false], ['delay', 'number', false]]
}

t.test('the HTTP server of the documents', async t => {
  const served = await serve(t)
  const { url } = served

  for (const transport of TRANSPORTS) {
    t.test(`over ${transport}`, async t => {
      const client = await connect(t, transport, served)
      const call = async (name: string, args: Json = {}, more: Json = {}) =>
        (await client.request('tools/call', { name, arguments: args, ...more })).result as Json

      t.test('every example', async t => {
        await replay(t, client, [INITIALIZE, INITIALIZED, ...EXAMPLES, ...ERRORS])
        t.match(
          await client.sendText('{"jsonrpc":'),
          { jsonrpc: '2.0', id: null, error: { code: -32700, message: /^Parse error/ } },
          'parse error'
        )
        t.strictSame(client.answers, [], 'nothing else is answered')
      })

      t.test('every built-in tool takes the parameters of its table', async t => {
        const { result: { tools } } = await client.request('tools/list') as { result: { tools: Json[] } }
        for (const [name, parameters] of Object.entries(PARAMETERS)) {
          includes(
            t,
            tools,
            [
              {
                name,
                inputSchema: {
                  properties: Object.fromEntries(parameters.map(([parameter, type]) => [parameter, { type }]))
                }
              }
            ],
            'parameters'
          )
          const { required = [] } = (tools.find(tool => tool.name === name)?.inputSchema ?? {}) as {
            required?: string[]
          }
          t.strictSame(
            required,
            parameters.filter(([, , required]) => required).map(([parameter]) => parameter),
            `${name} requires what is said`
          )
        }
      })

      t.test('every built-in tool works', async t => {
        shows(t, await call('get_current_time'), {
          content: [{ type: 'text', text: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/ }]
        })
        const before = Number(/\d+$/.exec(textOf(await call('increment_counter')))?.[0])
        t.strictSame(await call('increment_counter'), text(`Counter: ${before + 1}`), 'one by default')
        t.strictSame(await call('increment_counter', { amount: 5 }), text(`Counter: ${before + 6}`))
        shows(t, await client.request('resources/read', { uri: 'server://counter' }), {
          result: { contents: [{ uri: 'server://counter', mimeType: 'text/plain', text: String(before + 6) }] }
        })
        await call('add_note', { content: `by ${transport}`, tags: [transport, 'all'] })
        await call('add_note', { content: 'untagged' })
        t.match(textOf(await call('get_notes', { tags: [transport] })), `by ${transport}`)
        t.notMatch(textOf(await call('get_notes', { tags: [transport] })), 'untagged')
        t.notMatch(textOf(await call('get_notes', { limit: 1 })), `by ${transport}`)
        t.strictSame(await call('long_running_task', { delay: 0.01 }), text('Completed 5 steps'), 'five by default')
      })

      // Nothing but the answer is sent there.
      if (transport === '/message') return

      t.test('changes and progress', async t => {
        await client.request('resources/subscribe', { uri: 'server://counter' })
        await call('increment_counter')
        t.strictSame(await client.notified('notifications/resources/updated'), {
          jsonrpc: '2.0',
          method: 'notifications/resources/updated',
          params: { uri: 'server://counter' }
        })
        await call('long_running_task', { steps: 100, delay: 0 }, { _meta: { progressToken: 'task-1' } })
        const halfway = client.notifications.find(({ params }) => (params as Json | undefined)?.progress === 50)
        t.strictSame(halfway, {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'task-1', progress: 50, total: 100 }
        })
      })
    })
  }

  t.test('the cURL examples', async t => {
    const health = await shell(`curl ${url}/health`)
    t.equal(health.code, 0)
    shows(t, JSON.parse(health.stdout), { status: 'healthy' })

    const opened = await shell(`curl -X POST ${url}/mcp \\
      -H "Content-Type: application/json" \\
      -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"curl","version":"1.0"}}}' -i`)
    const [headers = '', body = ''] = opened.stdout.split('\r\n\r\n')
    t.match(headers, /^HTTP\/1.1 200 OK\r\n/)
    t.match(headers, /^content-type: application\/json/mi)
    shows(t, JSON.parse(body), { jsonrpc: '2.0', id: 1, result: { protocolVersion: '2024-11-05' } })
    const session = /^x-session-id: (\S+)$/mi.exec(headers)?.[1] ?? ''
    t.not(session, '', 'the reply has an X-Session-ID')

    const post = async (message: string) => JSON.parse((await shell(`curl -X POST ${url}/mcp \\
      -H "Content-Type: application/json" \\
      -H "X-Session-ID: ${session}" \\
      -d '${message}'`)).stdout) as Json
    const listed = (await post('{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}')) as {
      id: number
      result: { tools: Json[] }
    }
    t.equal(listed.id, 2)
    t.ok(listed.result.tools.length > 5)
    shows(
      t,
      await post('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_current_time","arguments":{}}}'),
      result(3, { content: [{ type: 'text', text: /^\d{4}-/ }] })
    )
  })

  t.test('the events of curl -N', async t => {
    const events = running(t, `curl -N -H "Accept: text/event-stream" ${url}/mcp/sse`)
    const [, session = ''] = await events.prints(
      /^event: connection\ndata: {"type": ?"connected", ?"session_id": ?"([^"]+)"}\n\n/m
    )
    const post = async (id: number, method: string, params: string) =>
      JSON.parse(
        (
          await shell(
            `curl -X POST ${url}/mcp -H "Content-Type: application/json" -H "X-Session-ID: ${session}" -d '{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}'`
          )
        ).stdout
      ) as Json
    t.strictSame(await post(7, 'resources/subscribe', '{"uri":"server://counter"}'), result(7, {}))
    shows(t, await post(8, 'tools/call', '{"name":"increment_counter","arguments":{}}'), { id: 8, result: {} })
    const [, updated = ''] = await events.prints(/^event: notification\n(?:id: .+\n)?data: (.+)\n\n/m)
    t.strictSame(JSON.parse(updated), {
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'server://counter' }
    })
    t.strictSame(
      await post(
        9,
        'tools/call',
        '{"name":"long_running_task","arguments":{"steps":100,"delay":0},"_meta":{"progressToken":"task-1"}}'
      ),
      result(9, text('Completed 100 steps'))
    )
    const [, progress = ''] = await events.prints(/^event: progress\n(?:id: .+\n)?data: (.+"progress": ?50,.+)\n\n/m)
    t.strictSame(JSON.parse(progress), {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'task-1', progress: 50, total: 100 }
    })
  })

  t.test('the events of a session that was initialized before', async t => {
    const opened = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(INITIALIZE.send)
    })
    const session = opened.headers.get('x-session-id') ?? ''
    const events = running(t, `curl -N -H "Accept: text/event-stream" -H "X-Session-ID: ${session}" ${url}/mcp/sse`)
    const [, named] = await events.prints(/^event: connection\ndata: .+"session_id": ?"([^"]+)"}\n\n/m)
    t.equal(named, session)
    for (const [method, params] of [
      ['resources/subscribe', { uri: 'server://counter' }],
      ['tools/call', { name: 'increment_counter' }]
    ] as const) {
      await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Session-ID': session },
        body: JSON.stringify(request(2, method, params))
      })
    }
    await events.prints(/^event: notification\n(?:id: .+\n)?data: .+notifications\/resources\/updated.+\n\n/m)
  })

  t.test('the Python client', async t => {
    const client = await connect(t, '/mcp', served)
    await replay(t, client, [INITIALIZE, INITIALIZED])
    const { result: { tools } } = await client.request('tools/list') as { result: { tools: Json[] } }
    t.ok(tools.every(({ name }) => typeof name === 'string'))
    shows(
      t,
      await client.request('tools/call', { name: 'calculate', arguments: { operation: 'multiply', a: 6, b: 7 } }),
      { result: text('6 * 7 = 42') }
    )
    shows(t, await client.request('resources/read', { uri: 'server://status' }), {
      result: { contents: [{ uri: 'server://status' }] }
    })
  })

  t.test('Content-Type must be application/json', async t => {
    const { status } = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify(INITIALIZE.send)
    })
    t.equal(status, 415)
  })
})

function textOf ({ content }: Json): string {
  return (content as Array<{ text: string }>)[0]?.text ?? ''
}
