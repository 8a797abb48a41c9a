import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { folder, initialize, launch, toolCall } from '../support/process.js'
import { Inbox, until } from '../support/wait.js'
import { toolSource } from '../support/watched-folder.js'

const WATCH = ['--ephemeral', '--reload', '--plugin', 'tools.ts']
const ENV = { PATCHBAY_TOOLS: 'false' }

function save (file: string, text: string): void {
  writeFileSync(`${file}.saved`, text)
  renameSync(`${file}.saved`, file)
}

/** Changes the tool several times, and sees each through the official client. */
async function follow (t: Test, client: Client, file: string): Promise<void> {
  const changes = new Inbox<string>()
  client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => changes.push(method))
  const call = async (name: string) => (await client.callTool({ name })).content
  t.match(await call('v1'), [{ text: '1' }])
  for (const n of [2, 3]) {
    save(file, toolSource(`v${n}`, String(n)))
    await changes.next()
    t.match((await client.listTools()).tools, [{ name: `v${n}` }])
    t.match(await call(`v${n}`), [{ text: String(n) }])
  }
}

t.test('over stdio, the official client hears of changes and sees them, in the same session', async t => {
  const cwd = await folder(t, { 'tools.ts': toolSource('v1', '1') })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, '--stdio', ...WATCH],
      cwd,
      env: { PATH: process.env['PATH'] ?? '', XDG_DATA_HOME: cwd, ...ENV },
      stderr: 'ignore'
    })
  )
  t.teardown(async () => await client.close())
  await follow(t, client, join(cwd, 'tools.ts'))
})

t.test('over HTTP, the official client hears of changes and sees them, in the same session', async t => {
  const cwd = await folder(t, { 'tools.ts': toolSource('v1', '1') })
  const launched = launch(t, ['--port', '0', ...WATCH], { cwd, env: ENV })
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${await launched.url()}/mcp`))
  await client.connect(transport)
  t.teardown(async () => await client.close())
  const { sessionId } = transport
  await follow(t, client, join(cwd, 'tools.ts'))
  t.ok(sessionId)
  t.equal(transport.sessionId, sessionId)
})

t.test(
  'a broken file keeps the old code, the log names file and line, and the stack of an error has no query',
  async t => {
    const cwd = await folder(t, { 'tools.ts': toolSource('a', '1') })
    const launched = launch(t, ['--stdio', ...WATCH], { cwd, env: ENV })
    launched.send(initialize)
    await launched.next()
    save(
      join(cwd, 'tools.ts'),
      'import { tool } from "mcp-patchbay"\n\nexport default tool({ name: "a", descripton: "" })'
    )
    await until(() => /tools\.ts cannot be loaded, so its former code stays: .*\(line 3\)/.test(launched.stderr))
    launched.send(toolCall(1, 'a'))
    t.match(await launched.next(), { id: 1, result: { content: [{ text: '1' }] } })
    save(join(cwd, 'tools.ts'), `interface A { b: string }\n\n${toolSource('a', 'missing.value')}`)
    t.match(await launched.next(), { method: 'notifications/tools/list_changed' })
    launched.send(toolCall(2, 'a'))
    t.match(await launched.next(), { id: 2, error: { code: -32603 } })
    launched.end()
    const { stderr, code } = await launched.exit()
    t.equal(code, 0)
    t.match(stderr, /tools\.ts:5/)
    t.notMatch(stderr, /patchbay=/)
  }
)

t.test('in a checkout, the built-in tools are reloaded, too', async t => {
  const launched = launch(t, ['--stdio', '--ephemeral', '--reload'])
  launched.send(
    initialize,
    { id: 2, method: 'tools/list' },
    toolCall(3, 'calculate', { operation: 'add', a: 1, b: 2 }),
    toolCall(4, 'add_note', { name: 'n', content: 'c' })
  )
  await launched.next()
  const { result } = await launched.next() as { result: { tools: Array<{ name: string }> } }
  t.ok(result.tools.some(({ name }) => name === 'calculate') && result.tools.length > 8)
  t.match(
    [await launched.next(), await launched.next()].sort((a, b) => Number(a['id']) - Number(b['id'])),
    [
      { id: 3, result: { structuredContent: { result: 3 } } },
      { id: 4, result: { isError: Boolean } }
    ]
  )
  launched.end()
  t.equal((await launched.exit()).code, 0)
})
