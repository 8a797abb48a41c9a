import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch, PROCESSES, type Launched } from '../support/process.js'
import { until } from '../support/wait.js'

const WAIT = 30_000

interface Line { level: number, msg: string, reload?: { upstreams: Record<string, string[]> } }

const linesOf = ({ stderr }: Launched): Line[] => stderr.split('\n').slice(0, -1).flatMap(line => line.startsWith('{"level"') ? [JSON.parse(line) as Line] : [])
const reloads = (launched: Launched): Line[] => linesOf(launched).filter(({ msg }) => /^options (not )?reloaded/.test(msg))

/** The next line about a reload after `act`. */
async function reloaded (launched: Launched, act: () => unknown): Promise<Line> {
  const before = reloads(launched).length
  await act()
  await until(() => reloads(launched).length > before, undefined, WAIT)
  return reloads(launched).at(-1) as Line
}

/** A file that is saved may be seen twice, the second time with nothing new: one of the lines after `act` is this. */
async function reloadedAs (t: Test, launched: Launched, msg: RegExp, act: () => unknown): Promise<void> {
  const before = reloads(launched).length
  await act()
  await until(() => reloads(launched).slice(before).some(line => msg.test(line.msg)), `a line ${String(msg)}`, WAIT)
  t.pass(String(msg))
}

/** A server that is never started, because it is lazy. */
const lazy = (...args: string[]) => ({ command: 'never-started', args, start: 'lazy' })

const text = (servers: object): string => JSON.stringify({ mcpServers: servers }, null, 2)

async function checked (t: Test, files: Record<string, string>, args: string[]) {
  const place = await folder(t, files)
  const launched = launch(t, ['--check', '--ephemeral', ...args], { cwd: place })
  const { code, stdout, stderr } = await launched.exit()
  return { code, stdout, stderr: stderr.replaceAll(place, 'PLACE') }
}

t.test('upstreams on the command line', async t => {
  t.jobs = PROCESSES

  t.test('--check lists the servers of options and files, and starts none', { buffered: true }, async t => {
    const files = { 'patchbay.json': text({ a: { command: 'sh', args: ['-c', 'touch started'] } }), 'mcp.json': text({ 'Other One': { url: 'https://example.com/mcp', colour: 'red' }, off: { command: 'x', disabled: true } }) }
    const { code, stdout, stderr } = await checked(t, files, ['--config', 'patchbay.json', '--mcp-config', 'mcp.json'])
    t.equal(code, 0, stderr)
    t.match(stdout, /^ {2}upstreams +a, other-one, off \(disabled\)$/m)
    t.equal(stderr, 'patchbay: warning: PLACE/mcp.json, line 5: server "Other One": colour has no meaning for Patchbay\n')
  })

  t.test('--check says which programs cannot be started, and what to do', { buffered: true }, async t => {
    const files = { 'mcp.json': text({ typo: { command: 'nmpx' }, words: { command: 'sh -c true' }, lost: { command: 'sh', cwd: 'nowhere' }, off: { command: 'nmpx', disabled: true }, good: { command: 'sh' } }) }
    const { code, stdout } = await checked(t, files, ['--mcp-config', 'mcp.json'])
    t.equal(code, 0)
    const words = stdout.replaceAll(/\s+/g, ' ')
    t.match(words, 'not served upstream typo: nmpx is not on PATH; write the whole path of the program as its command, or set PATH in its env')
    t.match(words, 'not served upstream words: sh -c true is not on PATH; command is the program alone: put its arguments into args')
    t.match(words, /not served upstream lost: its folder \S+\/nowhere is not there, or may not be entered; correct cwd/)
    t.notMatch(words, /upstream (off|good):/)
  })

  t.test('--check reports everything that is wrong with them, with file, line and field, and never a value', { buffered: true }, async t => {
    const files = {
      'patchbay.json': text({ a: { command: 'x', env: { KEY: 'hunter2${NOT_SET}' } }, b: { comand: 'x' } }), // eslint-disable-line no-template-curly-in-string
      'mcp.json': text({ c: { url: 'https://hunter2@example.com/${ALSO_NOT_SET}', headers: [] }, d: { command: 'x', timeout: 'soon', isolate: 'sesion' } }), // eslint-disable-line no-template-curly-in-string
      'broken.toml': '[mcp_servers.x]\ncommand = \n'
    }
    const { code, stderr } = await checked(t, files, ['--config', 'patchbay.json', '--mcp-config', 'mcp.json', '--mcp-config', 'broken.toml', '--mcp-config', 'missing.json', '--plugin', 'missing.ts'])
    t.equal(code, 1)
    const lines = stderr.split('\n')
    for (const line of [
      'patchbay: config file PLACE/patchbay.json, line 6: option mcpServers.a.env.KEY needs the environment variable NOT_SET, which is not set',
      'patchbay: config file PLACE/patchbay.json, line 9: option mcpServers.b needs a command or a url; did you mean "command" where it has "comand"?',
      'patchbay: PLACE/mcp.json, line 5: server "c": headers must be an object with a string for each name',
      'patchbay: PLACE/mcp.json, line 9: server "d": timeout must be a number of milliseconds',
      'patchbay: PLACE/mcp.json, line 10: server "d": isolate must be one of none, principal, session',
      'patchbay: PLACE/missing.json: there is no such file'
    ]) t.ok(lines.includes(line), `${line}\n${stderr}`)
    t.match(stderr, /^patchbay: PLACE\/broken\.toml, line 2: this is not TOML \(/m)
    t.match(stderr, /missing\.ts/, 'and what is wrong with other options')
    t.notMatch(stderr, /hunter2/)
  })

  t.test('the same stops a start, and nothing is served', { buffered: true }, async t => {
    const place = await folder(t, { 'mcp.json': text({ a: { command: 'x', args: ['${NOT_SET}'] }, sse: { command: 'y' } }) }) // eslint-disable-line no-template-curly-in-string
    const { code, stderr } = await launch(t, ['--ephemeral', '--port', '0', '--mcp-config', join(place, 'mcp.json')]).exit()
    t.equal(code, 1)
    t.strictSame(stderr.replaceAll(place, 'PLACE').split('\n'), [
      'patchbay: PLACE/mcp.json, line 6: server "a": args.0 needs the environment variable NOT_SET, which is not set',
      'patchbay: PLACE/mcp.json, line 9: server "sse" cannot have this name, because /mcp/sse is a URL of the gateway itself; give it another name',
      ''
    ])
  })

  t.test('the banner lists them', { buffered: true }, async t => {
    const place = await folder(t, { 'mcp.json': text({ files: lazy(), 'Old One': { ...lazy(), disabled: true } }) })
    const launched = await launch(t, ['--ephemeral', '--port', '0'], { env: { PATCHBAY_MCP_CONFIG: join(place, 'mcp.json') } }).up()
    t.match(launched.stderr, /^ {2}upstreams +files, old-one \(disabled\)$/m)
  })

  t.test('SIGHUP takes over changed files and options; a wrong file changes nothing', { buffered: true }, async t => {
    const place = await folder(t, { 'patchbay.json': text({ own: lazy() }), 'mcp.json': text({ a: lazy('1'), b: lazy('1'), c: lazy('1') }) })
    const [config, client] = [join(place, 'patchbay.json'), join(place, 'mcp.json')]
    const launched = await launch(t, ['--ephemeral', '--port', '0', '--config', config, '--mcp-config', client]).up()
    const hangUp = (): void => { launched.kill('SIGHUP') }
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: nothing changed')
    await writeFile(client, text({ a: lazy('1'), b: lazy('2'), d: lazy('1') }))
    const changed = await reloaded(launched, hangUp)
    t.equal(changed.msg, 'options reloaded: upstreams added: d; upstreams removed: c; upstreams changed: b')
    t.strictSame(changed.reload?.upstreams, { added: ['d'], removed: ['c'], changed: ['b'] })
    await writeFile(config, text({ own: lazy('2') }))
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: changed mcpServers; upstreams changed: own')
    await writeFile(client, '{ "mcpServers": { "a": ')
    t.match(await reloaded(launched, hangUp), { level: 50, msg: /^options not reloaded, the previous ones stay: .*mcp\.json, line 1: this is not JSON/ })
    await writeFile(config, text({ own: { command: '${NOT_SET}' } })) // eslint-disable-line no-template-curly-in-string
    await writeFile(client, text({ d: lazy('1') }))
    t.match(await reloaded(launched, hangUp), { level: 50, msg: /: config file .*patchbay\.json, line 4: option mcpServers\.own\.command needs the environment variable NOT_SET, which is not set$/ })
    await writeFile(config, text({ own: lazy('2') }))
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: upstreams removed: a, b')
  })

  t.test('--watch does the same when a file is saved, in place or by renaming, also one that a file refers to', { buffered: true }, async t => {
    const place = await folder(t, { 'patchbay.json': text({ own: lazy() }), 'mcp.json': text({ a: { ...lazy(), envFile: 'a.env' } }), 'a.env': 'A=1\n' })
    const [config, client, env] = ['patchbay.json', 'mcp.json', 'a.env'].map(name => join(place, name)) as [string, string, string]
    const launched = await launch(t, ['--ephemeral', '--port', '0', '--watch', '--config', config, '--mcp-config', client]).up()
    await reloadedAs(t, launched, /^options reloaded: upstreams changed: a$/, async () => await writeFile(env, 'A=2\n'))
    await reloadedAs(t, launched, /^options reloaded: upstreams added: b; upstreams removed: a$/, async () => {
      await writeFile(`${client}.tmp`, text({ b: lazy() }))
      await rename(`${client}.tmp`, client)
    })
    await reloadedAs(t, launched, /^options not reloaded/, async () => await writeFile(client, '{'))
    await reloadedAs(t, launched, /^options reloaded: upstreams added: c; upstreams removed: b$/, async () => await writeFile(client, text({ c: lazy() })))
    await reloadedAs(t, launched, /^options reloaded: changed mcpServers; upstreams removed: own$/, async () => await writeFile(config, text({})))
  })
})
