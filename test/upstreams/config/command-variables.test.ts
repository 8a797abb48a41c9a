import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfigFile } from '../../../cli/settings/config-file.js'
import { describeForeign } from '../../../system/files/own-file.js'
import { flatten, resolveOptions, type Options } from '../../../options.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { redactor } from '../../../upstreams/secrets.js'
import { folder } from '../../support/process.js'

/** A program that prints its argument, and notes that it was run. */
const PROGRAM = `require('node:fs').appendFileSync(__dirname + '/runs', process.argv[2] + '\\n')
if (process.argv[2] === 'fail') process.exit(1)
console.log(process.argv[2])`

interface Place { path: string, run: (word: string) => string, runs: () => Promise<string[]> }

async function placeOf (t: Test): Promise<Place> {
  const path = await folder(t, { 'print.cjs': PROGRAM, runs: '' })
  return {
    path,
    run: word => `\${command:"${process.execPath}" '${path}/print.cjs' ${word}}`,
    runs: async () => (await readFile(join(path, 'runs'), 'utf8')).split('\n').filter(line => line !== '').sort()
  }
}

const read = async (options: Partial<Options>, kept?: Parameters<typeof readEntries>[2]) => {
  const around = { env: { PATH: process.env['PATH'] }, home: '/home/ada', cwd: '/', describeForeign }
  const { entries, leftOut } = await readEntries(flatten(resolveOptions(options)), around, kept)
  return { entries, mistakes: leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => text)) }
}

t.test('a program gives the value of a variable, once for its server, and it is hidden as a secret', async t => {
  const { run, runs } = await placeOf(t)
  const { entries: [remote, local], mistakes } = await read({
    mcpServers: {
      remote: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer ${run('t0k3n-a')}` } },
      local: { command: 'x', args: [run('t0k3n-b'), run('t0k3n-b')], env: { KEY: run('t0k3n-c') } }
    }
  })
  t.strictSame(mistakes, [])
  t.match(remote?.address, { headers: { Authorization: 'Bearer t0k3n-a' } })
  t.match(local?.address, { args: ['t0k3n-b', 't0k3n-b'], env: { KEY: 't0k3n-c' } })
  t.strictSame(await runs(), ['t0k3n-a', 't0k3n-b', 't0k3n-c'])
  t.strictSame(remote?.secrets, ['t0k3n-a'])
  t.equal(local === undefined ? '' : redactor(local)('with t0k3n-b'), 'with ***', 'as an argument without a telling name, too')
})

t.test('a value lives as long as the entry that it is in', async t => {
  const { run, runs } = await placeOf(t)
  const kept = new Map()
  const servers = { a: { command: 'x', args: [run('one')] }, b: { command: 'x', args: [run('two')] } }
  await read({ mcpServers: servers }, kept)
  t.match((await read({ mcpServers: servers }, kept)).entries, [{ address: { args: ['one'] } }, { address: { args: ['two'] } }])
  t.strictSame(await runs(), ['one', 'two'], 'nothing is run again')
  await read({ mcpServers: { ...servers, b: { ...servers.b, env: { X: '1' } } } }, kept)
  t.strictSame(await runs(), ['one', 'two', 'two'], 'the entry that changed')
  await read({ mcpServers: {} }, kept)
  await read({ mcpServers: { a: servers.a } }, kept)
  t.strictSame(await runs(), ['one', 'one', 'two', 'two'], 'the entry that was gone')
})

t.test('a program that fails is a mistake of its field, and is tried again at the next time', async t => {
  const { run, runs } = await placeOf(t)
  const kept = new Map()
  const servers = { a: { url: 'https://example.com/mcp', headers: { 'X-Key': run('fail') } } }
  for (const times of [1, 2]) {
    t.strictSame((await read({ mcpServers: servers }, kept)).mistakes, [
      `option mcpServers.a.headers.X-Key needs the program ${process.execPath}, which ended with exit code 1; run it in a terminal to see why`
    ])
    t.equal((await runs()).length, times)
  }
})

t.test('nothing is run for a server that is disabled or wrong, nor for a field that is not used', async t => {
  const { run, runs } = await placeOf(t)
  const mcpServers: Record<string, object> = {
    off: { command: 'x', args: [run('one')], disabled: true },
    wrong: { command: 'x', args: run('two') },
    unused: { command: 'x', autoApprove: [run('three')], includeTools: [run('four')] }
  }
  await read({ mcpServers })
  t.strictSame(await runs(), [])
})

t.test('nothing is run for files that may be of others', { skip: process.getuid === undefined && 'Windows' }, async t => {
  const { path, run, runs } = await placeOf(t)
  const text = JSON.stringify({ mcpServers: { a: { command: 'x', env: { KEY: run('one') } } } })
  const write = async (name: string, mode = 0o600): Promise<string> => {
    await writeFile(join(path, name), text)
    await chmod(join(path, name), mode)
    return join(path, name)
  }
  for (const folder of ['.vscode', 'repo/.git']) await mkdir(join(path, folder), { recursive: true })
  for (const [file, why] of [
    [await write('.mcp.json'), /\.mcp\.json is the file of a project/],
    [await write('.vscode/mcp.json'), /is in .*\.vscode, where clients keep the settings of a project/],
    [await write('repo/servers.json'), /is part of the project .*repo, which has a \.git/],
    [await write('servers.json', 0o666), /can be written by other users; run chmod go-w on it/]
  ] as Array<[string, RegExp]>) {
    const { entries, mistakes: [mistake = ''] } = await read({ mcpConfig: [file] })
    t.strictSame(entries, [])
    t.match(mistake, /: server "a": env\.KEY uses \$\{command:…\}, which is run only in files of the operator, and /)
    t.match(mistake, why)
    t.match(mistake, /; or put the server into option mcpServers of a config file of your own$/)
  }
  t.strictSame(await runs(), [])
  t.match(await read({ mcpConfig: [await write('own.json')] }), { mistakes: [], entries: [{ address: { env: { KEY: 'one' } } }] })
  const around = { env: {}, home: undefined, cwd: '/' }
  const unknown = await readEntries(flatten(resolveOptions({ mcpConfig: [join(path, 'own.json')] })), around)
  t.match(unknown.leftOut, [{ mistakes: [{ text: /and it is not known whose the file is; or put/ }] }])
  t.match(readConfigFile(await write('config.json', 0o666)).mistakes, [
    /^config file .*config\.json: it has \$\{command:…\}, which is run only in files of the operator, and .* chmod go-w on it$/
  ])
  t.strictSame(readConfigFile(await write('config.json')).mistakes, [])
})

t.test('views have no programs', async t => {
  const { run, runs } = await placeOf(t)
  const { expandViews } = await import('../../../plugins/curation/views/variables.js')
  const { missing } = expandViews({ v: { override: { x: { arguments: { y: { value: run('one') } } } } } }, 1_000)
  t.match(missing, [{ text: /^option views\.v\.override\.x\.arguments\.y\.value uses \$\{command:.*\}, which is for servers only$/ }])
  t.strictSame(await runs(), [])
})
