import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folder, launch, PROCESSES, type Json } from './process.js'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }

t.test('the command', async t => {
  t.jobs = PROCESSES

  t.test('help and version go to standard output, and nothing is served', { buffered: true }, async t => {
    const { code, stdout, stderr } = await launch(t, ['--help', '--port', '1']).exit()
    t.match({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^Usage: patchbay /)
    for (const option of ['--stdio', '--port', '--host', '--plugin', '--config', '--log-level', '--help', '--version']) t.ok(stdout.includes(option), option)
    t.match(await launch(t, ['--version', '--port', '1']).exit(), { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  t.test('the command line wins over the environment, and the environment over the config file', { buffered: true }, async t => {
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

  t.test('the banner says where everything is, and what to paste into a client', { buffered: true }, async t => {
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

  t.test('what the banner of stdio says to paste launches the same thing from anywhere', { buffered: true }, async t => {
    const cwd = await folder(t, { 'p.ts': 'export default []' })
    const launched = await launch(t, ['--stdio', '--plugin', 'p.ts'], { cwd }).up()
    launched.end()
    const { stderr } = await launched.exit()
    t.notMatch(stderr, /http:\/\//, 'and stdio alone opens no port')
    const { mcpServers } = JSON.parse(/\{\n[^]*\n\}/.exec(stderr)?.[0] ?? '{}') as { mcpServers: { patchbay: { command: string, args: string[] } } }
    t.equal(mcpServers.patchbay.command, process.execPath)
    t.match(mcpServers.patchbay.args, [/^\/.*cli\.js$/, '--stdio', '--plugin', join(cwd, 'p.ts')])
  })
})

async function json (url: string): Promise<Json> {
  return await (await fetch(url)).json() as Json
}
