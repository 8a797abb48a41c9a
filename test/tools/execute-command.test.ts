import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, type Options } from '../../app.js'
import { callTool, type Json } from '../support/modern.js'
import { gateway, listening } from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import { client, revision } from '../support/recorder.js'
import { forked, FORKS, isAlive, scripts } from '../support/environment/scripts.js'
import { openSession, post } from '../support/http-session.js'

const UNTRUSTED = 'execute_command is served only over stdio, or with authentication'

const call = (command: string, args?: string[], more: object = {}) => ({
  name: 'execute_command',
  arguments: { command, ...(args === undefined ? {} : { args }) },
  ...more
})

/** A gateway whose commands are these scripts, with any arguments. */
async function serving (t: Test, bodies: Record<string, string>, timeout = 10_000, options: Partial<Options> = {}) {
  const folder = await scripts(t, bodies)
  const commands = Object.fromEntries(
    Object.keys(bodies).map(name => [name, { program: join(folder, name), args: ['[^]*'], folder, timeout }])
  )
  const app = await gateway(t, { http: false, commands, ...options })
  return { app, folder, commands }
}

const count = (folder: string, prefix: string, most: number): number =>
  Array.from({ length: most }, (_, index) => existsSync(join(folder, `${prefix}${index}`))).filter(Boolean).length

t.test('without a list there is no such tool, and the reason is reported', async t => {
  const app = await gateway(t)
  t.equal(
    app.mcp.unavailable.get('execute_command'),
    'no programs are listed: set option commands, see docs/built-in-tools.md'
  )
  const { request } = await createClient(app)
  await t.rejects(request('tools/call', call('ls')), { message: /Unknown tool: execute_command/ })
  t.notMatch(JSON.stringify(await request('tools/list')), /execute_command/)
})

t.test('it is listed as what it is, with the names of what may be run', async t => {
  const { app } = await serving(t, { one: '', two: '' })
  t.notOk(app.mcp.unavailable.has('execute_command'))
  const { tools } = await (await createClient(app)).request('tools/list') as { tools: Json[] }
  t.match(
    tools.find(({ name }) => name === 'execute_command'),
    {
      description: 'Execute a command. Allowed are: one, two',
      annotations: { destructiveHint: true, openWorldHint: true },
      inputSchema: {
        type: 'object',
        properties: { command: { type: 'string' }, args: { type: 'array', items: { type: 'string' } } },
        required: ['command']
      },
      outputSchema: { properties: { exitCode: {}, signal: {}, stdout: {}, stderr: {}, truncated: {} } }
    }
  )
})

t.test('a command that succeeds is answered with its output', async t => {
  const { app } = await serving(t, { both: 'printf out; echo err >&2', args: 'echo "$#"' })
  const { request } = await createClient(app)
  t.strictSame(await request('tools/call', call('both')), {
    content: [{ type: 'text', text: 'out\nerr\n' }],
    structuredContent: { exitCode: 0, signal: null, stdout: 'out', stderr: 'err\n', truncated: false },
    isError: false
  })
  t.match(await request('tools/call', call('args', ['a b', '', '*'])), { content: [{ text: '3\n' }] })
  const early = await createClient(app, { protocolVersion: '2024-11-05' })
  t.strictSame(await early.request('tools/call', call('both')), { content: [{ type: 'text', text: 'out\nerr\n' }] })
})

t.test('a command that fails is an error with its output', async t => {
  const { app, folder } = await serving(
    t,
    {
      fails: 'echo why >&2; exit 2',
      mute: 'exit 1',
      dies: 'echo last; kill -KILL $$',
      slow: 'echo begun; sleep 600',
      locked: ''
    },
    1_000
  )
  await chmod(join(folder, 'locked'), 0o644)
  const FAILURES: Array<[command: string, text: string, structuredContent: object]> = [
    [
      'fails',
      'Command failed: exit code 2\nwhy\n',
      { exitCode: 2, signal: null, stdout: '', stderr: 'why\n', truncated: false, failure: 'exit code 2' }
    ],
    ['mute', 'Command failed: exit code 1', { exitCode: 1, failure: 'exit code 1' }],
    ['dies', 'Command failed: signal SIGKILL\nlast\n', { exitCode: null, signal: 'SIGKILL' }],
    ['slow', 'Command failed: timed out after 1000 ms\nbegun\n', { exitCode: null, signal: 'SIGKILL' }],
    ['locked', 'Command failed: permission denied', { exitCode: null, signal: null, stdout: '' }]
  ]
  const clients = { now: await createClient(app), early: await createClient(app, { protocolVersion: '2024-11-05' }) }
  for (const [command, text, structuredContent] of FAILURES) {
    t.match(
      await clients.now.request('tools/call', call(command)),
      { isError: true, content: [{ type: 'text', text }], structuredContent },
      command
    )
  }
  t.strictSame(await clients.early.request('tools/call', call('fails')), {
    content: [{ type: 'text', text: 'Command failed: exit code 2\nwhy\n' }],
    isError: true
  })
})

t.test('a command that is not allowed is refused with a reason', async t => {
  const { app } = await serving(t, { it: '' })
  const { request } = await createClient(app)
  t.strictSame(await request('tools/call', call('rm', ['-rf', '/'])), {
    content: [{ type: 'text', text: '"rm" is not allowed; allowed are it' }],
    isError: true
  })
  t.match(await request('tools/call', call('it', ['a', 'b\0'])), {
    isError: true,
    content: [{ text: /^argument 2 of it, .* is not allowed/ }]
  })
  t.match(await request('tools/call', { name: 'execute_command', arguments: { command: 'it', env: { A: 'b' } } }), {
    isError: true,
    content: [{ text: /additional properties/ }]
  })
  t.match(await request('tools/call', { name: 'execute_command', arguments: { command: 'it', args: 'a' } }), {
    isError: true,
    content: [{ text: /args must be array/ }]
  })
})

t.test('output beyond the limit is left out, and the result states it', async t => {
  const { app } = await serving(t, { it: 'head -c 300000 /dev/zero | tr "\\0" x' })
  const { structuredContent, content } = (await (await createClient(app)).request('tools/call', call('it'))) as {
    structuredContent: Json
    content: [{ text: string }]
  }
  t.strictSame([String(structuredContent.stdout).length, structuredContent.truncated], [262_144, true])
  t.ok(content[0].text.endsWith('x\n(output beyond 256 KiB was left out)'))
})

t.test('a caller over the network without a credential is refused', async t => {
  const { app, folder, commands } = await serving(t, { it: 'touch ran' }, 10_000, { http: true })
  const { url } = await listening(t, { commands })
  const refusal = { result: { isError: true, content: [{ text: UNTRUSTED }] } }

  const reply = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call('it') })
  })
  t.match(await reply.json(), refusal, 'POST /message')
  for (const version of ['2024-11-05', '2025-11-25']) {
    t.match(
      (await (await openSession(url, version)).post({ id: 1, method: 'tools/call', params: call('it') })).body,
      refusal,
      `POST /mcp, ${version}`
    )
  }
  t.match(await callTool(app, 'execute_command', { command: 'it' }), refusal, 'POST /mcp, 2026-07-28')
  t.match(await overWebSocket(t, url, 'it'), refusal, 'WebSocket')
  t.match(
    (await post(url, { id: 1, method: 'tools/call', params: call('rm') })).body,
    { error: {} },
    'without a session not even this'
  )
  t.notOk(existsSync(join(folder, 'ran')))
})

async function overWebSocket (t: Test, url: string, command: string): Promise<unknown> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  return await within(60_000, async signal => await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer')))
    socket.on('error', reject)
    socket.on('open', () => {
      for (const message of [
        { id: 0, method: 'initialize', params: {} },
        { id: 1, method: 'tools/call', params: call(command) }
      ]) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
      }
    })
    socket.on('message', (data: Buffer) => {
      const answer = JSON.parse(String(data)) as Json
      if (answer.id === 1) resolve(answer)
    })
  }))
}

t.test('a caller with a credential is served over the network', async t => {
  const { app } = await serving(t, { it: 'echo hello' })
  for (const [options, text] of [
    [{ identity: { principal: 'ada', scopes: 'all' } }, 'hello\n'],
    [{}, UNTRUSTED]
  ] as const) {
    const { request } = client(app.mcp.dispatcher, { transport: 'http', revision: revision('2025-11-25'), ...options })
    t.match(await request('tools/call', call('it')), { result: { content: [{ text }] } })
  }
})

t.test('output is sent as it comes', async t => {
  const { app, folder } = await serving(t, {
    it: 'printf "gr\\303"; while [ ! -f go ]; do sleep 0.01; done; printf "\\274n"; exit 0'
  })
  const { request, notified, notifications } = await createClient(app)
  const answer = request('tools/call', call('it', [], { _meta: { progressToken: 'p' } }))
  t.strictSame(await notified('notifications/progress'), { progressToken: 'p', progress: 3, message: 'gr' })
  await writeFile(join(folder, 'go'), '')
  t.match(await answer, { content: [{ text: 'grün' }] })
  t.match(notifications.at(-1), { method: 'notifications/progress', params: { progress: 5, message: 'ün' } })
})

t.test('a command that writes nothing is not given up while it may run', async t => {
  const { app } = await serving(t, { it: 'sleep 2.2; echo done' }, 10_000, { callTimeout: 1_500 })
  t.match(await (await createClient(app)).request('tools/call', call('it')), { content: [{ text: 'done\n' }] })
})

t.test('a call that is cancelled kills the command and everything it started', async t => {
  const { app, folder } = await serving(t, { it: `${FORKS}; sleep 600` })
  const controller = new AbortController()
  const answer = (await createClient(app)).request('tools/call', call('it'), controller.signal)
  const pids = await forked(folder)
  t.ok(pids.every(isAlive))
  controller.abort()
  await t.rejects(answer, { message: 'the request was cancelled' })
  await until(() => !pids.some(isAlive))
})

t.test('a client that leaves and a gateway that closes kill the command and all it started', async t => {
  for (const [what, end] of [['client', 'close'], ['gateway', 'shut down']] as const) {
    const { app, folder } = await serving(t, { it: `${FORKS}; sleep 600` }, 60_000, { grace: 100 })
    const { request, close } = await createClient(app)
    const answer = request('tools/call', call('it')).catch((error: Error) => error.message)
    const pids = await forked(folder)
    t.ok(pids.every(isAlive))
    if (end === 'close') close()
    else await app.close()
    t.match(await answer, what === 'client' ? 'the client was closed' : 'The server is shutting down')
    await until(() => !pids.some(isAlive))
  }
})

t.test('four commands run at once; the fifth waits for its turn, and may give up waiting', async t => {
  const { app, folder } = await serving(t, {
    it: 'touch "begun$1"; while [ ! -f "go$1" ]; do sleep 0.01; done; echo "$1"'
  })
  const { request } = await createClient(app)
  const controller = new AbortController()
  const answers = ['0', '1', '2', '3'].map(async name => await request('tools/call', call('it', [name])))
  const cancelled = request('tools/call', call('it', ['4']), controller.signal)
  const fifth = request('tools/call', call('it', ['5']))
  await until(() => count(folder, 'begun', 6) === 4)
  controller.abort()
  await t.rejects(cancelled, { message: 'the request was cancelled' })
  t.equal(count(folder, 'begun', 6), 4)
  for (const name of ['go2', 'go5']) await writeFile(join(folder, name), '')
  t.match(await fifth, { content: [{ text: '5\n' }] })
  t.notOk(existsSync(join(folder, 'begun4')), 'whoever gave up never began')
  for (const name of ['go0', 'go1', 'go3']) await writeFile(join(folder, name), '')
  t.match(await Promise.all(answers), ['0', '1', '2', '3'].map(name => ({ content: [{ text: `${name}\n` }] })))
})
