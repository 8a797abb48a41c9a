import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folder, initialize, launch, type Json } from './process.js'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }

async function json (url: string): Promise<Json> {
  return await (await fetch(url)).json() as Json
}

t.test('help and version go to standard output, and nothing is served', async t => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout, stderr } = await launch(t, [flag]).exit()
    t.equal(code, 0)
    t.equal(stderr, '')
    t.match(stdout, /^Usage: patchbay /)
    for (const option of ['--stdio', '--port', '--host', '--plugin', '--config', '--log-level', '--help', '--version']) t.ok(stdout.includes(option), option)
  }
  t.match(await launch(t, ['--version', '--port', '1']).exit(), { code: 0, stdout: `${version}\n`, stderr: '' })
})

t.test('the command line wins over the environment, and the environment over the config file', async t => {
  const cwd = await folder(t, { 'c.json': JSON.stringify({ port: 1, name: 'from the file', instructions: 'from the file', prefix: '/file', pageSize: 1 }) })
  const env = { PATCHBAY_PORT: '2', PATCHBAY_NAME: 'from the environment', PATCHBAY_PREFIX: '/environment', PATCHBAY_PAGE_SIZE: '' }
  const url = await launch(t, ['--config', 'c.json', '--port', '0'], { cwd, env }).url()
  t.match(url, /\/environment$/)
  t.match(await json(`${url}/health`), { name: 'from the environment' })
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  })
  t.match(await response.json(), { result: { tools: [{}], nextCursor: String } }, 'what is empty in the environment is not set there')
})

t.test('switches and lists come from the environment, too', async t => {
  const launched = launch(t, [], { env: { PATCHBAY_STDIO: '1', PATCHBAY_HTTP: 'true', PATCHBAY_PORT: '0', PATCHBAY_TOOLS: 'false', PATCHBAY_ALLOWED_HOSTS: 'a.example, b.example' } })
  const url = await launched.url()
  launched.send(initialize, { id: 2, method: 'tools/list' })
  await launched.next()
  t.match(await launched.next(), { id: 2, result: { tools: [] } })
  t.equal((await fetch(`${url}/health`)).status, 200)
})

t.test('a config file in another folder names its plugins from there', async t => {
  const cwd = await folder(t, {
    'c.json': JSON.stringify({ plugins: ['./p.ts'], stdio: true }),
    'p.ts': 'import { tool } from "mcp-patchbay"; export default tool({ name: "beside", description: "", run: () => "the config file" })'
  })
  const launched = launch(t, ['--config', `${cwd}/c.json`])
  launched.send(initialize, { id: 2, method: 'tools/call', params: { name: 'beside' } })
  await launched.next()
  t.match(await launched.next(), { result: { content: [{ text: 'the config file' }] } })
})

t.test('the banner says where everything is, and what to paste into a client', async t => {
  const launched = launch(t, ['--port', '0'])
  const url = await launched.url()
  await launched.up()
  for (const place of [`${url}/mcp`, `${url.replace('http', 'ws')}/mcp`, `${url}/message`, `${url}/sse`, `${url}/health`]) t.ok(launched.stderr.includes(place), place)
  launched.kill('SIGTERM')
  const { code, stdout, stderr } = await launched.exit()
  t.match({ code, stdout }, { code: 0, stdout: '' })
  const snippet = /\{\n[^]*?\n\}/.exec(stderr)?.[0] ?? '{}'
  t.strictSame(JSON.parse(snippet), { mcpServers: { patchbay: { url: `${url}/mcp` } } })
})

t.test('what the banner of stdio says to paste launches the same thing from anywhere', async t => {
  const cwd = await folder(t, { 'p.ts': 'export default []' })
  const launched = await launch(t, ['--stdio', '--plugin', 'p.ts'], { cwd }).up()
  launched.end()
  const { stderr } = await launched.exit()
  const { mcpServers } = JSON.parse(/\{\n[^]*\n\}/.exec(stderr)?.[0] ?? '{}') as { mcpServers: { patchbay: { command: string, args: string[] } } }
  t.equal(mcpServers.patchbay.command, process.execPath)
  t.match(mcpServers.patchbay.args, [/^\/.*cli\.js$/, '--stdio', '--plugin', join(cwd, 'p.ts')])
})
