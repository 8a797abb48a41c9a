import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build, type Options } from '../../app.js'
import { isAskedFor } from '../../loader/demonstration.js'
import { resolveOptions } from '../../options.js'

const SERVERS = { files: { command: 'never-started', start: 'lazy' as const } }

async function served (t: Test, options: Partial<Options>): Promise<string[]> {
  const app = await build({ http: false, ephemeral: true, ...options })
  t.teardown(async () => await app.close())
  const { tools, resources, prompts } = app.mcp
  return [...tools.names(), ...resources.uris(), ...prompts.names()]
}

t.test('built-in tools, resources and prompts are served where nothing else is configured', async t => {
  const names = await served(t, {})
  for (const name of ['calculate', 'add_note', 'web_search', 'server://counter', 'greeting']) t.ok(names.includes(name), name)
})

t.test('beside upstream servers they are not served, wherever these are configured', async t => {
  const file = join(t.testdir({ 'servers.json': JSON.stringify({ mcpServers: SERVERS }) }), 'servers.json')
  for (const options of [{ mcpServers: SERVERS }, { mcpConfig: [file] }]) {
    const app = await build({ http: false, ephemeral: true, ...options })
    t.teardown(async () => await app.close())
    t.strictSame([...app.mcp.tools.names(), ...app.mcp.resources.uris(), ...app.mcp.prompts.names()], [])
    t.strictSame([...app.mcp.unavailable], [], 'and none is said to be missing')
  }
})

t.test('beside upstream servers they are served where they are asked for', async t => {
  const names = await served(t, { mcpServers: SERVERS, tools: true })
  for (const name of ['calculate', 'add_note', 'web_search', 'server://counter', 'greeting']) {
    t.ok(names.includes(name), name)
  }
  t.strictSame(await served(t, { mcpServers: SERVERS, tools: false }), [])
})

t.test('what an option configures is asked for', async t => {
  t.strictSame(await served(t, { mcpServers: SERVERS, commands: { sh: {} } }), ['execute_command'])
  t.strictSame(await served(t, { mcpServers: SERVERS, searchUrl: 'https://search.example.com/' }), ['web_search'])
  t.strictSame(await served(t, { mcpServers: SERVERS, clipboard: { remote: true } }), [
    'get_clipboard',
    'set_clipboard'
  ])
  const root = join(t.testdir(), 'served')
  mkdirSync(root)
  writeFileSync(join(root, 'a.txt'), 'a')
  t.ok((await served(t, { mcpServers: SERVERS, roots: [root] })).some(uri => uri.startsWith('file://')))
})

t.test('a tool that was added to a checkout is served beside upstream servers', async t => {
  const options = resolveOptions({ mcpServers: SERVERS })
  t.equal(isAskedFor('/somewhere/dist/tools/hello.js', options), true)
  t.equal(isAskedFor('/somewhere/tools/calculate.ts', options), false)
  t.equal(isAskedFor('/somewhere/tools/hello.ts', { ...options, tools: false }), false)
})
