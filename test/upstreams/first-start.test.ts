import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import { listening } from '../support/gateway.js'
import { folder } from '../support/process.js'
import { until } from '../support/wait.js'

const PROGRAM = fileURLToPath(new URL('./programs/server.js', import.meta.url))

/** A gateway in front of a server that was never seen before, and that starts when the test says so. */
async function open (t: Test, fields: object = {}, options: Partial<Options> = {}) {
  const hold = join(await folder(t, {}), 'go')
  const slow = { command: process.execPath, args: [PROGRAM], env: { HOLD: hold }, ...fields }
  const { app, url } = await listening(t, {
    plugins: [],
    tools: false,
    limits: { upstreamStopTimeout: 50 },
    ...options,
    mcpServers: { slow }
  })
  return { app, url, go: async () => await writeFile(hold, '') }
}

const names = ({ tools }: Record<string, unknown>): unknown[] =>
  (tools as Array<{ name: string }>).map(({ name }) => name)

t.test(
  'a client that does not handle list_changed can call a tool during the first start, and lists it later',
  async t => {
    const { url, go } = await open(t, {}, { limits: { upstreamListWait: 1 } })
    const client = new SdkClient({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
    t.teardown(async () => await client.close())
    const call = client.callTool({ name: 'slow__echo', arguments: { key: 'first' } })
    t.strictSame(names(await client.listTools()), [], 'the list has waited long enough')
    await go()
    t.match(await call, { content: [{ text: 'first' }] })
    t.ok(names(await client.listTools()).includes('slow__echo'))
  }
)

t.test('requests that name the server wait for its first lists; others do not', async t => {
  const { app, go } = await open(t, {}, { limits: { upstreamListWait: 1 } })
  const [client, view] = [await createClient(app), await createClient(app, { view: 'slow' })]
  const answered: string[] = []
  const send = async (what: string, request: Promise<unknown>): Promise<unknown> =>
    await request.catch((error: Error) => error.message).then(answer => { answered.push(what); return answer })
  const waiting = [
    send('tool', client.request('tools/call', { name: 'slow__echo', arguments: { key: 'x' } })),
    send('no such tool', client.request('tools/call', { name: 'slow__none' })),
    send('prompt', client.request('prompts/get', { name: 'slow__none' })),
    send(
      'completion',
      client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'slow__none' },
        argument: { name: 'a', value: '' }
      })
    ),
    send('resource', client.request('resources/read', { uri: 'slow+test://none' })),
    send('tool of the view', view.request('tools/call', { name: 'echo', arguments: { key: 'y' } })),
    send('resource of the view', view.request('resources/read', { uri: 'test://none' }))
  ]
  t.match(await send('other tool', client.request('tools/call', { name: 'other__echo' })), /Unknown tool: other__echo/)
  t.match(await send('other resource', client.request('resources/read', { uri: 'test://none' })), /not found/i)
  t.strictSame(answered, ['other tool', 'other resource'])
  await go()
  t.match(await Promise.all(waiting), [
    { content: [{ text: 'x' }] },
    /Unknown tool: slow__none/,
    /Unknown prompt/i,
    /prompt/,
    /not found/i,
    { content: [{ text: 'y' }] },
    /not found/i
  ])
  t.match(
    await client.request('tools/call', { name: 'slow__none' }).catch((error: Error) => error.message),
    /Unknown tool/
  )
})

t.test('a prefix of its own is known, too, and a hidden tool stays hidden', async t => {
  const { app, go } = await open(t, { prefix: 's_', excludeTools: ['pid'] }, { limits: { upstreamListWait: 1 } })
  const client = await createClient(app)
  const calls = ['s_echo', 's_pid', 'slow__echo'].map(
    async name =>
      await client.request('tools/call', { name, arguments: { key: 'x' } }).catch((error: Error) => error.message)
  )
  t.match(await calls[2], /Unknown tool: slow__echo/)
  await go()
  t.match(await Promise.all(calls), [{ content: [{ text: 'x' }] }, /Unknown tool: s_pid/, /Unknown tool/])
})

t.test('the scopes of what is found after the start hold, under each of its names', async t => {
  const { app, go } = await open(t, {}, { scopes: { 'tools/slow__echo': ['secret'] }, limits: { upstreamListWait: 1 } })
  const client = await createClient(app, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  const call = client
    .request('tools/call', { name: 'slow__echo', arguments: { key: 'x' } })
    .catch((error: Error) => error.message)
  const pid = client.request('tools/call', { name: 'slow__pid' })
  await go()
  t.match(await pid, { content: [{ text: /^\d+$/ }] })
  t.match(await call, /Unknown tool: slow__echo/)
})

t.test('a caller who may not use the server does not learn that it is starting', async t => {
  const { app } = await open(t, { scopes: ['secret'] })
  const client = await createClient(app, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  await t.rejects(client.request('tools/call', { name: 'slow__echo' }), { message: /Unknown tool: slow__echo/ })
})

t.test('a server that cannot be started is named in the error, at the first call and at later ones', async t => {
  const { app } = await open(
    t,
    { command: process.execPath, args: ['-e', 'process.exit(3)'] },
    { limits: { maxUpstreamFailures: 2, upstreamRestartDelay: 5 } }
  )
  const client = await createClient(app)
  for (let call = 0; call < 3; call++) {
    await t.rejects(client.request('tools/call', { name: 'slow__echo' }), {
      message: /The upstream server slow is not available/
    })
  }
  await until(() => app.mcp.upstreams.status()[0]?.state === 'crash loop')
  await t.rejects(client.request('tools/call', { name: 'slow__echo' }), {
    message: /The upstream server slow is not available/
  })
})

t.test('the wait ends with the deadline of the call, and when the server is removed', async t => {
  const { app } = await open(t, {}, { callTimeout: 100 })
  const client = await createClient(app)
  await t.rejects(client.request('tools/call', { name: 'slow__echo' }), { message: /given up after \d+ ms/ })
  const removed = client.request('tools/call', { name: 'slow__echo' }).catch((error: Error) => error.message)
  await app.mcp.upstreams.configure([])
  t.match(await removed, /The upstream server slow is not available|given up/)
})
