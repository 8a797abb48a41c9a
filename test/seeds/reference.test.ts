import { once } from 'node:events'
import { appendFile, chmod } from 'node:fs/promises'
import { connect as dial } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { WebSocket } from 'ws'
import { folder } from '../support/process.js'
import { within } from '../support/wait.js'
import type { Answers, Json } from './connection.js'
import { PLACEHOLDERS } from './placeholders.js'
import { call, replay, request, result, shows, text, type Example } from './printed.js'
import { connect, serve, TRANSPORTS } from './transports.js'

// The "Model Context Protocol (MCP) Specification Reference": every method, over stdio, HTTP and WebSocket, in
// 2024-11-05.

const CONF = 'user nginx;\nworker_processes auto;\n'
const CAPITAL = {
  role: 'assistant',
  content: { type: 'text', text: 'The capital of France is Paris.' },
  model: 'claude-3-5-sonnet-20241022',
  stopReason: 'endTurn'
}
const ROOTS = [{ uri: 'file:///home/user/project', name: 'Project Directory' }]

/** What the client answers when it is asked, as printed. */
const ANSWERS: Answers = { 'sampling/createMessage': () => CAPITAL, 'roots/list': () => ({ roots: ROOTS }) }

const HANDSHAKE: Example[] = [
  {
    title: 'initialize',
    send: request(1, 'initialize', {
      protocolVersion: '2024-11-05',
      capabilities: { roots: { listChanged: true }, sampling: {} },
      clientInfo: { name: 'claude-desktop', version: '1.0.0' }
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
  },
  { title: 'notifications/initialized', send: { jsonrpc: '2.0', method: 'notifications/initialized' } },
  { title: 'ping', send: { jsonrpc: '2.0', id: 2, method: 'ping' }, exactly: result(2, {}) }
]

const examples = (conf: string, log: string): Example[] => [
  {
    title: 'tools/list',
    send: { jsonrpc: '2.0', id: 3, method: 'tools/list' },
    lists: {
      tools: [{
        name: 'execute_command',
        // Printed as "Execute a shell command": there is no shell, and what may be run is listed.
        description: 'Execute a command. Allowed are: ls, locked',
        inputSchema: { type: 'object', properties: { command: { type: 'string' }, args: { type: 'array', items: { type: 'string' } } }, required: ['command'] }
      }]
    }
  },
  {
    title: 'content types',
    send: call(4, 'content_types', {}),
    exactly: result(4, {
      content: [
        { type: 'text', text: 'Hello, world!' },
        { type: 'image', data: 'base64-encoded-data', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' } }
      ]
    })
  },
  {
    title: 'resources/list',
    send: { jsonrpc: '2.0', id: 5, method: 'resources/list' },
    lists: {
      resources: [
        // Printed with a name and a description that a file does not have.
        { uri: conf, name: 'nginx.conf', mimeType: 'text/plain' },
        { uri: 'dbus://service/org.freedesktop.NetworkManager', name: 'NetworkManager Service Info', mimeType: 'application/json' }
      ]
    }
  },
  { title: 'resources/read', send: request(6, 'resources/read', { uri: conf }), exactly: result(6, { contents: [{ uri: conf, mimeType: 'text/plain', text: CONF }] }) },
  { title: 'resources/subscribe', send: request(7, 'resources/subscribe', { uri: log }), exactly: result(7, {}) },
  {
    title: 'prompts/list',
    send: { jsonrpc: '2.0', id: 8, method: 'prompts/list' },
    lists: { prompts: [{ name: 'analyze_system', description: 'Analyze current system state', arguments: [{ name: 'focus', description: 'Area to focus on', required: false }] }] }
  },
  {
    title: 'prompts/get',
    send: request(9, 'prompts/get', { name: 'analyze_system', arguments: { focus: 'network' } }),
    exactly: result(9, {
      description: 'System analysis prompt',
      messages: [{ role: 'user', content: { type: 'text', text: 'Analyze the network configuration and identify any issues.' } }]
    })
  },
  ...['debug', 'info', 'warn', 'error'].map(level => ({ title: `logging/setLevel ${level}`, send: request(10, 'logging/setLevel', { level }), exactly: result(10, {}) })),
  { title: 'an unknown method', send: { jsonrpc: '2.0', id: 11, method: 'method_name', params: {} }, back: { jsonrpc: '2.0', id: 11, error: { code: -32601, message: /^Method not found/ } } },
  { title: 'an invalid request', send: { jsonrpc: '2.0', id: 1, method: null }, back: { jsonrpc: '2.0', id: 1, error: { code: -32600, message: /^Invalid Request/ } } },
  { title: 'invalid params', send: request(12, 'prompts/get', { name: 'nope' }), back: { id: 12, error: { code: -32602 } } },
  { title: 'an internal error', send: call(13, 'crashes', {}), back: { id: 13, error: { code: -32603, message: /^Internal error/ } } },
  { title: 'a server-defined error', send: request(14, 'resources/read', { uri: 'file:///no/such/file' }), back: { id: 14, error: { code: -32002 } } },
  { title: 'a tool that fails', send: call(15, 'fails', {}), exactly: result(15, { ...text('Error message'), isError: true }) }
]

t.test('the reference of the documents', async t => {
  const files = await folder(t, { 'nginx.conf': CONF, 'system.log': 'one\n', locked: '#!/bin/sh\n' })
  const uri = (name: string) => pathToFileURL(join(files, name)).href
  await chmod(join(files, 'locked'), 0o755)
  const commands = { ls: { args: ['-la', '/tmp'] }, locked: { program: join(files, 'locked') } }
  const served = await serve(t, {
    args: ['--root', files, '--plugin', PLACEHOLDERS],
    env: { PATCHBAY_COMMANDS: JSON.stringify(commands) }
  })
  await chmod(join(files, 'locked'), 0o644)
  const { url } = served

  for (const transport of TRANSPORTS) {
    t.test(`over ${transport}`, async t => {
      const client = await connect(t, transport, served, ANSWERS)
      await replay(t, client, [...HANDSHAKE, ...examples(uri('nginx.conf'), uri('system.log'))])

      t.test('execute_command', async t => {
        const ls = (
          await client.request('tools/call', {
            name: 'execute_command',
            arguments: { command: 'ls', args: ['-la', '/tmp'] }
          })
        ).result
        const locked = (
          await client.request('tools/call', { name: 'execute_command', arguments: { command: 'locked' } })
        ).result
        if (transport !== 'stdio') {
          for (const answer of [ls, locked]) {
            t.strictSame(answer, {
              ...text('execute_command is served only over stdio, or with authentication'),
              isError: true
            })
          }
          return
        }
        shows(t, ls, text(/^total \d+\nd[rwx-]+/))
        t.strictSame(locked, { ...text('Command failed: permission denied'), isError: true })
      })

      if (transport === '/message') {
        // Nothing but the answer is sent here.
        t.test('the error for a client that cannot be asked', async t => {
          t.match(await client.request('tools/call', { name: 'list_roots', arguments: {} }), {
            error: { code: -32603, message: /cannot be asked for roots\/list/ }
          })
        })
        return
      }

      t.test('a file that changes', async t => {
        await appendFile(join(files, 'system.log'), `${transport}\n`)
        shows(t, await client.notified('notifications/resources/updated'), {
          jsonrpc: '2.0',
          method: 'notifications/resources/updated',
          params: { uri: uri('system.log') }
        })
        t.strictSame((await client.request('resources/unsubscribe', { uri: uri('system.log') })).result, {})
      })

      t.test('sampling/createMessage, as printed', async t => {
        const { result } = await client.request('tools/call', { name: 'ask_capital', arguments: {} })
        const { id, ...question } = client.questions.pop() ?? {}
        t.ok(id !== undefined)
        t.strictSame(question, {
          jsonrpc: '2.0',
          method: 'sampling/createMessage',
          params: {
            messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
            modelPreferences: {
              hints: [{ name: 'claude-3-5-sonnet-20241022' }],
              costPriority: 0.5,
              speedPriority: 0.5
            },
            maxTokens: 1000
          }
        })
        t.strictSame(result, text(JSON.stringify(CAPITAL)))
      })

      t.test('sampling/createMessage, for notes', async t => {
        await client.request('tools/call', {
          name: 'add_note',
          arguments: { content: 'Paris is the capital', tags: [transport] }
        })
        t.strictSame(
          (await client.request('tools/call', { name: 'summarize_notes', arguments: { tags: [transport] } })).result,
          text('The capital of France is Paris.')
        )
        t.match(client.questions.pop(), {
          method: 'sampling/createMessage',
          params: {
            messages: [{ role: 'user', content: { type: 'text', text: /Paris is the capital/ } }],
            systemPrompt: String,
            maxTokens: 500
          }
        })
      })

      t.test('roots/list', async t => {
        t.strictSame(
          (await client.request('tools/call', { name: 'list_roots', arguments: {} })).result,
          text('file:///home/user/project (Project Directory)')
        )
        t.match(client.questions.pop(), { jsonrpc: '2.0', id: /./, method: 'roots/list' })
      })

      t.test('notifications/message, at the level that was chosen', async t => {
        const SAID = { level: 'info', logger: 'dbus-indexer', data: 'Indexed 127 services in 2.3s' }
        const levels: Array<[level: string, heard: string[]]> = [
          ['debug', ['info', 'warning']],
          ['info', ['info', 'warning']],
          ['warn', ['warning']],
          ['error', []]
        ]
        for (const [level, heard] of levels) {
          await client.request('logging/setLevel', { level })
          await client.request('tools/call', { name: 'index_services', arguments: {} })
          const logged = client.notifications
            .splice(0)
            .filter(({ method }) => method === 'notifications/message')
            .map(({ params }) => params as Json)
          t.strictSame(logged.map(({ level }) => level), heard, level)
          if (heard[0] === 'info') t.strictSame(logged[0], SAID)
        }
      })

      t.test('notifications/progress', async t => {
        await client.request('tools/call', {
          name: 'index_services',
          arguments: {},
          _meta: { progressToken: 'index_build_123' }
        })
        t.strictSame(await client.notified('notifications/progress'), {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'index_build_123', progress: 0.65, total: 1.0 }
        })
      })

      t.test('notifications/cancelled', async t => {
        const task = (id: string, steps: number) =>
          request(id, 'tools/call', {
            name: 'long_running_task',
            arguments: { steps, delay: 0.1 },
            _meta: { progressToken: id }
          })
        await client.send(task('req_123', 3))
        await client.notified('notifications/progress')
        await client.notify('notifications/cancelled', { requestId: 'req_123', reason: 'User cancelled operation' })
        t.match(await client.sendRequest(task('req_124', 4)), { id: 'req_124', result: text('Completed 4 steps') })
        t.strictSame(client.answers, [], 'the other one would have been answered before')
        t.notOk(
          client.notifications.some(
            ({ params }) => (params as Json).progressToken === 'req_123' && (params as Json).progress === 3
          )
        )
      })
    })
  }

  t.test('POST /message, as a client writes it', async t => {
    const { hostname, port, host } = new URL(url)
    const socket = dial(Number(port), hostname)
    t.teardown(() => socket.destroy())
    const body = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    socket.end(
      `POST /message HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
    )
    let reply = ''
    socket.on('data', chunk => { reply += String(chunk) })
    await within(60_000, async signal => await once(socket, 'close', { signal }))
    t.match(reply, /^HTTP\/1\.1 200 OK\r\n/)
    t.equal(reply.split('\r\n\r\n')[1], '{"jsonrpc":"2.0","id":1,"result":{}}')
  })

  t.test('the WebSocket, as a client writes it', async t => {
    const ws = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    t.teardown(() => ws.terminate())
    ws.on('open', () => ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })))
    const [data] = await within(60_000, async signal => await once(ws, 'message', { signal })) as [Buffer]
    t.equal(String(data), '{"jsonrpc":"2.0","id":1,"result":{}}')
  })
})

t.test('lists are turned page by page', async t => {
  const served = await serve(t, { args: ['--plugin', PLACEHOLDERS], env: { PATCHBAY_PAGE_SIZE: '3' } })
  for (const transport of TRANSPORTS) {
    t.test(`over ${transport}`, async t => {
      const client = await connect(t, transport, served)
      await replay(t, client, HANDSHAKE)
      for (const [method, member, key] of [
        ['resources/list', 'resources', 'uri'],
        ['tools/list', 'tools', 'name']
      ] as const) {
        const found: unknown[] = []
        let cursor: unknown
        let pages = 0
        do {
          const { result } = (await client.request(method, cursor === undefined ? {} : { cursor })) as { result: Json }
          found.push(...(result[member] as Json[]).map(entry => entry[key]))
          cursor = result.nextCursor
          pages++
        } while (cursor !== undefined)
        t.ok(pages > 1, `${pages} pages of ${method}`)
        t.equal(pages, Math.ceil(found.length / 3))
        t.equal(new Set(found).size, found.length, 'nothing comes twice')
      }
      t.match(
        await client.request('resources/list', { cursor: 'page_2_token' }),
        { error: { code: -32602, message: /cursor/ } },
        'a cursor that was not given'
      )
    })
  }
})
