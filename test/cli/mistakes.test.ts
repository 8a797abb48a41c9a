import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch } from './process.js'

interface Launch { args?: string[], env?: Record<string, string>, files?: Record<string, string> }

/** Every mistake ends the same way: one line on standard error that says what is wrong, nothing on standard output, exit 1. */
async function refused (t: Test, { args = [], env = {}, files = {} }: Launch, says: RegExp): Promise<void> {
  const cwd = await folder(t, files)
  const { code, stdout, stderr } = await launch(t, args, { env, cwd }).exit()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^patchbay: .*\n$/, 'one line')
  t.match(stderr, says)
}

const OPTIONS: Array<[what: string, launch: Launch, says: RegExp]> = [
  ['an option that does not exist', { args: ['--nonsense'] }, /--nonsense/],
  ['a stray word', { args: ['stray'] }, /stray/],
  ['a port that is no number', { args: ['--port', 'abc'] }, /--port must be a whole number, not "abc"/],
  ['a port that is empty', { args: ['--port='] }, /--port/],
  ['a port that is too high', { args: ['--port', '70000'] }, /option port must be <= 65535/],
  ['a log level that does not exist', { args: ['--log-level', 'loud'] }, /option logLevel .*"info"/],
  ['a number in the environment that is none', { env: { PATCHBAY_PORT: 'abc' } }, /PATCHBAY_PORT must be a whole number, not "abc"/],
  ['a switch in the environment that is none', { env: { PATCHBAY_STDIO: 'maybe' } }, /PATCHBAY_STDIO must be true or false, not "maybe"/],
  ['a value in the environment that is out of range', { env: { PATCHBAY_PAGE_SIZE: '0' } }, /option pageSize must be >= 1/],
  ['an address others can reach, without names for it', { args: ['--host', '0.0.0.0', '--port', '0'] }, /option host is 0\.0\.0\.0.*allowedHosts/],
  ['the same in IPv6', { args: ['--host', '::', '--port', '0'] }, /option host is ::.*allowedHosts/],
  ['a config file that is not there', { args: ['--config', 'missing.json'] }, /config file .*missing\.json/],
  ['a config file named in the environment that is not there', { env: { PATCHBAY_CONFIG: 'missing.json' } }, /config file .*missing\.json/],
  ['a config file that is not JSON', { args: ['--config', 'c.json'], files: { 'c.json': '{ port: 1 }' } }, /config file .*c\.json/],
  ['a config file with an option that does not exist', { args: ['--config', 'c.json'], files: { 'c.json': '{"nonsense":1}' } }, /"nonsense" does not exist/],
  ['a config file with a value of another type', { args: ['--config', 'c.json'], files: { 'c.json': '{"port":"8080"}' } }, /option port must be integer/],
  ['a config file that is a list', { args: ['--config', 'c.json'], files: { 'c.json': '[]' } }, /config file .*c\.json.*object/],
  ['a config file that is null', { args: ['--config', 'c.json'], files: { 'c.json': 'null' } }, /config file .*c\.json.*object/],
  ['a config file that is a number', { args: ['--config', 'c.json', '--port', '0'], files: { 'c.json': '5' } }, /config file .*c\.json.*object/],
  ['plugins that are no list', { args: ['--config', 'c.json'], files: { 'c.json': '{"plugins":"x.ts"}' } }, /option plugins must be array/],
  ['a plugin that is no file name', { args: ['--config', 'c.json', '--port', '0'], files: { 'c.json': '{"plugins":[5]}' } }, /option plugins/]
]

const PLUGINS: Array<[what: string, name: string, source: string, says: RegExp]> = [
  ['TypeScript that cannot be read', 'p.ts', 'export default tool({', /p\.ts: .*\w/],
  ['JavaScript that cannot be read', 'p.js', 'export default tool({', /p\.js: .*\w/],
  ['a file that throws', 'p.ts', 'throw new Error("no database")', /p\.ts: no database/],
  ['a file that throws text', 'p.ts', 'throw "no database"', /p\.ts: no database/],
  ['a file without a default export', 'p.ts', 'export const tool = 1', /p\.ts: the default export must be a tool/],
  ['a file that exports something else', 'p.ts', 'export default { name: "x" }', /p\.ts: the default export must be a tool/],
  ['a file that exports null', 'p.ts', 'export default null', /p\.ts: the default export must be a tool/],
  ['a plugin that fails when it is registered', 'p.ts', 'export default async function () { throw new Error("no database") }', /p\.ts: no database/],
  ['a tool with a mistake in it', 'p.ts', 'import { tool } from "mcp-patchbay"; export default tool({ name: "a b", description: "", run: () => "" })', /p\.ts: tool name "a b"/],
  ['a tool with a name that is taken', 'p.ts', 'import { tool } from "mcp-patchbay"; export default tool({ name: "calculate", description: "", run: () => "" })', /p\.ts: "calculate" is registered already/],
  ['a package that is not there', 'p.ts', 'import "no-such-package"', /p\.ts: .*no-such-package/],
  ['a file that is not there', 'other.ts', '', /p\.ts/]
]

t.test('a mistake is one line that names it', async t => {
  t.jobs = 2
  for (const [what, options, says] of OPTIONS) t.test(what, async t => await refused(t, options, says))
  for (const [what, name, source, says] of PLUGINS) {
    t.test(`a plugin: ${what}`, async t => await refused(t, { args: ['--port', '0', '--plugin', name === 'other.ts' ? 'p.ts' : name], files: { [name]: source } }, says))
  }
})

t.test('a port that is in use is one line that names it', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  await refused(t, { args: ['--port', String(port), '--log-level', 'error'] }, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use; choose another with --port`))
  await refused(t, { args: ['--stdio', '--port', String(port), '--log-level', 'error'] }, new RegExp(`port ${port}`))
})

t.test('a plugin is named by its whole path', async t => {
  const cwd = await folder(t, { 'p.ts': 'throw new Error("no database")' })
  const { stderr } = await launch(t, ['--port', '0', '--plugin', 'p.ts'], { cwd }).exit()
  t.ok(stderr.includes(join(cwd, 'p.ts')))
})
