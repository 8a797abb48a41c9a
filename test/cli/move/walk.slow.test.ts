import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { COMMAND } from '../../support/command.js'
import { browse } from '../../support/environment/authorization-server.js'
import { folder, initialize, launch, Launched, toolCall } from '../../support/process.js'
import { until } from '../../support/wait.js'
import { openPlace } from '../../upstreams/sign-in/place.js'

const SERVER = fileURLToPath(new URL('../../upstreams/programs/server.js', import.meta.url))
const TOKEN = 'ghp_0123456789abcdefghij'

const withFar = (url: string): string => `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "one": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(SERVER)}] },
    "two": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(SERVER)}], "env": { "TOKEN": "${TOKEN}" } },
    "far": { "command": "npx", "args": ["-y", "mcp-remote", "${url}"] }
  }
}`

const DESKTOP = withFar('https://mcp.example.com/mcp')

/** A home folder in which Claude Desktop has three servers. */
async function desktop (t: Parameters<typeof folder>[0], before = DESKTOP) {
  const home = await folder(t, {})
  const file = join(home, '.config/Claude/claude_desktop_config.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, before)
  // Nothing but the home folder, as a new user has it.
  const env = { HOME: home, XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' }
  const start = (...args: string[]) => launch(t, args, { env, cwd: home })
  return { home, file, start, run: async (...args: string[]) => await start(...args).exit(), text: () => readFileSync(file, 'utf8') }
}

interface Entry { command: string, args: string[], env?: Record<string, string> }
interface Exported { globalShortcut: string, mcpServers: Record<string, Entry> }

t.test('a walk: import, check, login, export, the client launches Patchbay and has all tools, undo', async t => {
  const { issuer, server } = await openPlace(t)
  const before = withFar(server.url)
  const { home, start, run, text } = await desktop(t, before)
  const began = performance.now()
  t.match(await run('import'), { code: 0, stderr: '', stdout: /Nothing was written\. To write it: .* import --write\n$/ })
  t.strictSame(readdirSync(join(home, '.config')), ['Claude'])
  const imported = await run('import', '--write', '--secrets', 'files')
  t.match(imported, { code: 0, stderr: '', stdout: /export claude-desktop {3}\(3 servers in / })
  t.notMatch(imported.stdout, TOKEN)
  t.match(await run('check', '--ephemeral'), { code: 0, stdout: /^ {2}upstreams +one, two, far$/m })

  t.match(await run('login'), { code: 0, stdout: /^far {2}needs a sign-in: patchbay login far$/m })
  const login = start('login', 'far')
  await until(() => /^http:\/\/\S+$/m.test(login.stdout), 'an address')
  await browse(/^http:\/\/\S+$/m.exec(login.stdout)?.[0] ?? '')
  t.match(await login.exit(), { code: 0, stdout: /^Signed in to far at /m })

  const exported = await run('export', 'claude-desktop', '--write')
  t.match(exported, { code: 0, stderr: '', stdout: /Written: / })
  t.notMatch(exported.stdout, TOKEN)
  const { globalShortcut, mcpServers } = JSON.parse(text()) as Exported
  t.equal(globalShortcut, 'Ctrl+Space')
  t.strictSame(Object.keys(mcpServers), ['patchbay'])

  const { command, args, env } = mcpServers['patchbay'] as Entry
  const gateway = new Launched(spawn(command, args, { cwd: '/', env: { PATH: process.env['PATH'], HOME: home, ...env } }))
  t.teardown(() => gateway.kill('SIGKILL'))
  gateway.send(initialize)
  t.match(await gateway.next(), { id: 'hello', result: {} })
  gateway.send({ method: 'notifications/initialized' })
  for (const [id, name] of ['one__echo', 'two__echo', 'far__echo'].entries()) {
    gateway.send(toolCall(id, name, { key: 'here', text: 'here' }))
    let answer = await gateway.next()
    while (answer['id'] !== id) answer = await gateway.next()
    t.match(answer, { result: { content: [{ text: /here/ }] } }, name)
  }
  t.same(issuer.granted, ['authorization_code'], 'the gateway of the client has the sign-in')
  t.comment(`the walk took ${((performance.now() - began) / 1_000).toFixed(1)} s, without the person`)
  gateway.end()
  t.match(await gateway.exit(), { code: 0 })

  t.match(await run('import'), { code: 0, stdout: /- patchbay: skipped, because it is Patchbay itself/ })
  t.match(await run('export', 'claude-desktop', '--undo'), { code: 0, stdout: /byte for byte/ })
  t.equal(text(), before)
})

t.test('a process that may write nothing more leaves every byte as it was', async t => {
  const { home, file, run, text } = await desktop(t)
  await run('import', '--write')
  const config = join(home, '.config/patchbay/patchbay.json')
  const before = readFileSync(config, 'utf8')
  writeFileSync(file, DESKTOP.replace('Ctrl', 'x'.repeat(100_000)))
  const large = text()
  const limited = (...args: string[]) =>
    spawnSync('sh', ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, COMMAND, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home },
      cwd: home
    })
  t.match(limited('export', 'claude-desktop', '--write'), { status: 1, stderr: /cannot be written, and is as it was: / })
  t.match(limited('add', 'more', '--', 'x'), { status: 1, stderr: /cannot be written, and is as it was: / })
  t.equal(text(), large)
  t.equal(readFileSync(config, 'utf8'), before)
  t.strictSame(readdirSync(dirname(file)), ['claude_desktop_config.json'])
  t.strictSame(readdirSync(dirname(config)), ['patchbay.json'])
})

t.test('an export that is killed while it writes leaves the old file or the new one, and can be run again', async t => {
  const large = DESKTOP.replace('Ctrl', 'x'.repeat(8_000_000))
  const { file, start, run, text } = await desktop(t, large)
  await run('import', '--write')
  for (let round = 0; round < 3; round++) {
    const killed = start('export', 'claude-desktop', '--write')
    const before = readdirSync(dirname(file)).length
    let hasEnded = false
    const ended = killed.exit().then(() => { hasEnded = true })
    await until(() => hasEnded || readdirSync(dirname(file)).length > before, 'a file beside it', 60_000)
    if (!hasEnded) process.kill(killed.pid ?? 0, 'SIGKILL')
    await ended
    const isOld = text() === large
    t.ok(isOld || Object.keys((JSON.parse(text()) as Exported).mcpServers).join() === 'patchbay')
    if (isOld) t.match(await run('export', 'claude-desktop', '--write'), { code: 0, stderr: '' })
    t.match(await run('export', 'claude-desktop', '--undo'), { code: 0, stdout: /byte for byte/ })
    t.ok(text() === large)
  }
})

t.test('a client that does not exist, and a value that is missing, are named', async t => {
  const { run } = await desktop(t)
  t.match(await run('import', 'claude'), { code: 1, stderr: /^patchbay: there is no client "claude"/ })
  t.match(await run('import', '--secrets', 'none'), { code: 1, stderr: /--secrets must be one of variables, files, keep/ })
  t.match(await run('export'), { code: 1, stderr: /the client is missing/ })
  t.match(await run('export', 'cursor', '--file'), { code: 1, stderr: /--file needs the path of a file/ })
  t.match(await run('export', 'cursor'), { code: 1, stderr: /has no servers yet/ })
})

t.test('on a terminal it is asked what becomes of secrets', async t => {
  const { home } = await desktop(t)
  const command = `HOME=${home} XDG_CONFIG_HOME= ${process.execPath} ${COMMAND} import --write`
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: home, env: { PATH: process.env['PATH'], TERM: 'xterm' } })
  t.teardown(() => child.kill('SIGKILL'))
  const terminal = new Launched(child)
  await until(() => terminal.stdout.includes('f, v or k? [v] '), 'the question', 60_000)
  terminal.write('f\n')
  const { stdout } = await terminal.exit()
  t.match(stdout, 'Kept in files that only you can read:')
  t.match(stdout, '\u001b[32m+', 'with colours')
  t.notMatch(stdout, TOKEN)
  t.equal(readFileSync(join(home, '.config/patchbay/secrets/TOKEN'), 'utf8'), `${TOKEN}\n`)
})
