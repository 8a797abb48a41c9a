import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { addServer, listServers, removeServer, type NewServer } from '../../../cli/move/edit-servers.js'
import { readSettings } from '../../../cli/settings/read-settings.js'
import { userConfigFile } from '../../../system/process/data-folder.js'
import { folder, launch, type Launched } from '../../support/process.js'
import { until } from '../../support/wait.js'

const SERVER = fileURLToPath(new URL('../../upstreams/programs/server.js', import.meta.url))
const WAIT = 30_000

const PLACES: Array<[what: string, platform: string, env: Record<string, string>, expected: string | undefined]> = [
  ['Linux', 'linux', { HOME: '/home/ada' }, '/home/ada/.config/patchbay/patchbay.json'],
  ['Linux with XDG_CONFIG_HOME', 'linux', { HOME: '/home/ada', XDG_CONFIG_HOME: '/c' }, '/c/patchbay/patchbay.json'],
  ['Linux with a relative XDG_CONFIG_HOME', 'linux', { HOME: '/h', XDG_CONFIG_HOME: 'c' }, '/h/.config/patchbay/patchbay.json'],
  ['macOS', 'darwin', { HOME: '/Users/ada' }, '/Users/ada/Library/Application Support/patchbay/patchbay.json'],
  ['Windows', 'win32', { APPDATA: '/Users/ada/Roaming' }, join('/Users/ada/Roaming', 'patchbay', 'patchbay.json')],
  ['Windows without APPDATA', 'win32', { USERPROFILE: '/u' }, join('/u', 'AppData', 'Roaming', 'patchbay', 'patchbay.json')],
  ['a system without a home folder', 'linux', {}, undefined]
]

for (const [what, platform, env, expected] of PLACES) {
  t.test(`the config file of the user on ${what}`, async t => t.equal(userConfigFile(platform, env), expected))
}

t.test('the config file of the user is read if it is there, and --config and PATCHBAY_CONFIG come before it', async t => {
  const place = await folder(t, { 'other.json': '{"port":9002}' })
  const env = { XDG_CONFIG_HOME: place }
  const file = join(place, 'patchbay', 'patchbay.json')
  t.match(readSettings([], env, place), { file, options: { port: undefined } }, 'none is as before')
  await mkdir(join(place, 'patchbay'))
  writeFileSync(file, '{ /* mine */ "port": 9001 }')
  t.match(readSettings([], env, place), { file, options: { port: 9001 } })
  t.match(readSettings(['--config', 'other.json'], env, place), { options: { port: 9002 } })
  t.match(readSettings([], { ...env, PATCHBAY_CONFIG: 'other.json' }, place), { options: { port: 9002 } })
  t.match(readSettings([], {}, place), { file: undefined, options: { port: undefined } })
  t.throws(() => readSettings(['--config', 'none.json'], env, place), /there is no such file/)
})

/** A config file, and the commands that change it. */
async function configured (t: Test, text?: string) {
  const cwd = await folder(t, { 'server.js': '', ...text !== undefined && { 'c.json': text } })
  const printed: string[] = []
  const place = { config: 'c.json', env: {}, cwd, print: (line: string) => { printed.push(line) } }
  const add = (name: string, words: string[], more: Partial<NewServer> = {}): void => {
    addServer({ name, words, env: [], headers: [], transport: undefined, ...more }, place)
  }
  return {
    cwd,
    printed,
    add,
    remove: (name: string) => removeServer(name, place),
    list: (json = false) => listServers(json, place),
    read: () => readFileSync(join(cwd, 'c.json'), 'utf8')
  }
}

t.test('servers are added and removed, and everything else in the file stays as it is', async t => {
  const before = '\uFEFF{\r\n\t// Of the team\r\n\t"port": 9000,\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" } // first\r\n\t}\r\n}'
  const { add, remove, read } = await configured(t, before)
  add('linear', ['https://mcp.linear.app/mcp'], { headers: ['X-Team: a:b'], transport: 'http' })
  t.equal(
    read(),
    before.replace('"a" } // first', '"a" }, // first\r\n\t\t"linear": {\r\n\t\t\t"type": "http",\r\n\t\t\t"url": "https://mcp.linear.app/mcp",\r\n\t\t\t"headers": {\r\n\t\t\t\t"X-Team": "a:b"\r\n\t\t\t}\r\n\t\t}')
  )
  remove('linear')
  t.equal(read(), before)
})

t.test('a program is added with its arguments and variables, and runs here if a word is a path', async t => {
  const { add, read, cwd } = await configured(t)
  add('files', ['npx', '-y', '@scope/files', '.'], { env: ['LEVEL=a=b', 'EMPTY='] })
  add('own', ['node', 'server.js'])
  add('plain', ['npx', '-y', 'plain'])
  t.strictSame(JSON.parse(read()), {
    mcpServers: {
      files: { command: 'npx', args: ['-y', '@scope/files', '.'], env: { LEVEL: 'a=b', EMPTY: '' }, cwd },
      own: { command: 'node', args: ['server.js'], cwd },
      plain: { command: 'npx', args: ['-y', 'plain'] }
    }
  })
})

t.test('a secret on the command line is named, not repeated', async t => {
  const { add, printed } = await configured(t)
  add('a', ['x'], { env: ['GITHUB_TOKEN=ghp_0123456789abcdefghij'] })
  t.match(printed.join(''), 'The value of GITHUB_TOKEN is in the file as it is.')
  t.notMatch(printed.join(''), 'ghp_')
})

t.test('mistakes are refused in words, and change nothing', async t => {
  const { add, remove, read } = await configured(t, '{"mcpServers":{"My Server":{"command":"a"}}}')
  const before = read()
  t.throws(() => add('my-server', ['x']), /there is a server "My Server" in .* already; remove it first/)
  t.throws(() => add('sse', ['x']), /cannot be called "sse", because \/mcp\/sse is a URL of the gateway itself/)
  t.throws(() => add('a', ['https://a.example/mcp', 'more']), /after a URL there is nothing to add/)
  t.throws(() => add('a', ['https://a.example/mcp'], { env: ['A=b'] }), /--env is for a server that is started/)
  t.throws(() => add('a', ['x'], { headers: ['A: b'] }), /--header is for a URL/)
  t.throws(() => add('a', ['x'], { env: ['secret'] }), { message: '--env is written --env NAME=VALUE' })
  t.throws(() => add('a', ['https://a.example/mcp'], { headers: ['secret'] }), { message: '--header is written --header "NAME: VALUE"' })
  t.throws(() => add('a', ['https://a.example/mcp'], { transport: 'htp' }), /--transport must be stdio, http, sse or websocket; did you mean "http"\?/)
  t.throws(() => add('a', ['https://[/mcp']), /the URL must be a URL/)
  t.throws(() => add('a', ['x'], { transport: 'http' }), /needs a url/)
  t.throws(() => remove('my server'), /there is no server "my server" in .*; did you mean "My Server"\?/)
  t.equal(read(), before)
})

t.test('the list has programs and URLs, without what may be secret', async t => {
  const { list, printed } = await configured(t, JSON.stringify({
    mcpConfig: ['other.json'],
    mcpServers: { c: { command: 'c', args: ['--api-key', 's3cret', 'c'] }, a: { command: 'npx', args: ['-y', 'a-server', '--token', 'x'] }, bb: { url: 'https://u:p@b.example/mcp?key=1', disabled: true } }
  }))
  list()
  t.match(printed.join(''), '\n  c   c ***\n  a   npx a-server\n  bb  https://b.example/mcp (disabled)\nand the servers of ')
  list(true)
  t.match(JSON.parse(printed.at(-1) ?? ''), { servers: [{ name: 'c' }, { name: 'a', address: 'npx a-server', disabled: false }, { name: 'bb' }] })
  const empty = await configured(t)
  empty.list()
  t.match(empty.printed.join(''), /^No servers in .*c\.json\. To add one: patchbay add NAME -- COMMAND\n$/)
})

async function toolsOf (gateway: Launched): Promise<string[]> {
  const response = await fetch(`${await gateway.url()}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  })
  const { result: { tools } } = await response.json() as { result: { tools: Array<{ name: string }> } }
  return tools.map(({ name }) => name)
}

t.test('a gateway that runs takes over what the commands change, also where there was no file at its start', async t => {
  const home = await folder(t, {})
  const env = { HOME: home }
  const gateway = await launch(t, ['--port', '0', '--ephemeral', '--log-format', 'json'], { env }).up()
  const run = async (...args: string[]) => await launch(t, args, { env, cwd: home }).exit()
  t.match(await run('add', 'first', '-e', 'LEVEL=1', '--', process.execPath, SERVER), { code: 0, stderr: '' })
  await until(async () => (await toolsOf(gateway)).includes('first__echo'), 'the first server', WAIT)
  t.match(await run('add', 'second', '--', process.execPath, SERVER), { code: 0 })
  await until(async () => (await toolsOf(gateway)).includes('second__echo'), 'the second server', WAIT)
  t.match(await run('list'), { code: 0, stdout: new RegExp(`^${home}/.config/patchbay/patchbay.json\n  first   .*\n  second  `) })
  t.match(await run('remove', 'first'), { code: 0 })
  await until(async () => !(await toolsOf(gateway)).some(name => name.startsWith('first')), 'the first to go', WAIT)
  t.ok((await toolsOf(gateway)).includes('second__echo'))
  t.match(gateway.stderr, /options reloaded: changed mcpServers; upstreams added: first"/)
  t.match(await run('remove', 'first'), { code: 1, stderr: /^patchbay: there is no server "first"/ })
  t.match(await run('add', 'third'), { code: 1, stderr: /^patchbay: a server has a name, and a URL or a command: / })
  t.match(await run('remove'), { code: 1, stderr: /patchbay remove NAME/ })
})

t.test('other options of the file wait for SIGHUP, and a file that cannot be parsed changes nothing', async t => {
  const place = await folder(t, { 'c.json': '{}' })
  const file = join(place, 'c.json')
  const gateway = await launch(t, ['--port', '0', '--ephemeral', '--config', file, '--log-format', 'json']).up()
  const told = async (what: RegExp) => await until(() => what.test(gateway.stderr), String(what), WAIT)
  writeFileSync(file, '{ "mcpServers": ')
  await told(/options not reloaded, the previous ones stay: config file/)
  const server = { command: process.execPath, args: [SERVER] }
  writeFileSync(file, JSON.stringify({ views: { one: {} }, mcpServers: { server } }))
  await told(/options reloaded: changed mcpServers; upstreams added: server"/)
  gateway.kill('SIGHUP')
  await told(/options reloaded: changed views"/)
})
