import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { estimateTokens } from '../../lib/token-estimate.js'
import { folder, launch, PROCESSES, type Ended } from '../support/process.js'
import { isRunning } from '../support/processes.js'
import { until } from '../support/wait.js'

/** A server with these tools. It counts its starts in a file, and writes its process id into another one. */
const program = (name: string, tools: unknown): string => `
const { appendFileSync, writeFileSync } = require('node:fs')
appendFileSync('${name}.starts', 'x')
writeFileSync('${name}.pid', String(process.pid))
setInterval(() => {}, 1000)
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const serverInfo = { name: 'x', version: '1' }
  const result = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools: ${JSON.stringify(tools)} }
  }[method]
  const answer = result === undefined ? { error: { code: -32601, message: 'no' } } : { result }
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})`

const server = (name: string, tools: unknown): object =>
  ({ command: process.execPath, args: ['-e', program(name, tools)], cwd: '.' })

const LONG = 'look_up_everything_that_was_ever_written_about_a_thing'
const GITHUB = server('github', [
  { name: 'search', description: 'Searches', inputSchema: { type: 'object' } },
  { name: LONG, description: 'Looks up', inputSchema: { type: 'object' } }
])
const VIEWS = { release: { description: 'For those\u001b[31m who release', servers: ['github'], names: 'short' } }
const ENV = { PATCHBAY_LIMITS: 'upstreamStopTimeout=1000' }

type Json = Record<string, unknown>

interface Place { place: string, run: (...args: string[]) => Promise<Ended> }

/** A folder with a configuration, in which the command is run. */
async function configured (t: Test, config: object): Promise<Place> {
  const place = await folder(t, { 'config.json': JSON.stringify(config) })
  const options = ['--data', join(place, 'data'), '--config', 'config.json']
  const run = async (...args: string[]): Promise<Ended> =>
    await launch(t, [...args, ...options], { cwd: place, env: ENV }).exit()
  return { place, run }
}

const startsOf = async (place: string, name: string): Promise<number> =>
  (await readFile(join(place, `${name}.starts`), 'utf8').catch(() => '')).length

t.test('patchbay views', async t => {
  t.jobs = PROCESSES

  t.test('lists everything, views and servers with what they cost', { buffered: true }, async t => {
    const { place, run } = await configured(t, { mcpServers: { github: GITHUB }, views: VIEWS })
    const { code, stdout, stderr } = await run('views')
    t.equal(code, 0, stderr)
    t.match(stdout, /^What a client loads of each; tokens are an estimate: characters \/ 4\.\n/)
    t.match(stdout, /^everything: 2 tools, about \d+ tokens\n {2}http:\/\/127\.0\.0\.1:8080\/mcp$/m)
    t.match(stdout, /^release: 2 tools, about \d+ tokens\n {2}http:\/\/127\.0\.0\.1:8080\/mcp\/release\n {2}For those/m)
    t.match(stdout, /^github \(server\): 2 tools, about \d+ tokens$/m)
    t.match(stdout, new RegExp(`^ {2}Cursor leaves out names of more than 51 characters: ${LONG}$`, 'm'))
    t.notMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}]/u, 'a terminal obeys no text')
    t.equal(stderr, '')
    t.notOk(existsSync(join(place, 'data')), 'nothing is written')
    t.notOk(isRunning(Number(await readFile(join(place, 'github.pid'), 'utf8'))), 'the server was stopped')
  })

  t.test('as JSON has the same figures', { buffered: true }, async t => {
    const { run } = await configured(t, { mcpServers: { github: GITHUB }, views: VIEWS })
    const { views } = JSON.parse((await run('views', '--json')).stdout) as { views: Json[] }
    t.match(views, [
      { kind: 'all', tools: 2, url: 'http://127.0.0.1:8080/mcp' },
      { name: 'release', kind: 'view', tools: 2, resources: 0, prompts: 0, url: 'http://127.0.0.1:8080/mcp/release' },
      { name: 'github', kind: 'server', tools: 2 }
    ])
    const one = JSON.parse((await run('views', 'release', '--json')).stdout) as Json & { tools: Json[] }
    t.match(one, { name: 'release', tokens: views[1]?.['tokens'], unread: [] })
    t.match(one.tools, [
      { name: LONG, server: 'github', changed: ['name'] },
      { name: 'search', canonical: 'github__search', server: 'github' }
    ])
    const listed = { name: 'search', description: 'Searches', inputSchema: { type: 'object' } }
    t.equal(one.tools[1]?.['tokens'], estimateTokens(listed))
  })

  t.test('of one view lists its tools, the costliest first, with canonical names', { buffered: true }, async t => {
    const { run } = await configured(t, { mcpServers: { github: GITHUB }, views: VIEWS })
    for (const name of ['release', '/mcp/release']) {
      const { code, stdout } = await run('views', name)
      t.equal(code, 0)
      t.match(stdout, /^release: 2 tools, /)
      const rows = `^ +\\d+ {2}${LONG} {2}is github__look_up.*\\n +\\d+ {2}search +is github__search$`
      t.match(stdout, new RegExp(rows, 'm'))
    }
    t.match((await run('views', '/mcp')).stdout, /^everything: [^]* \d+ {2}github__search$/m)
    t.match(await run('views', 'relaese'), {
      code: 1,
      stdout: '',
      stderr: 'patchbay: there is no view or upstream server "relaese"; did you mean "release"?\n'
    })
  })

  t.test('takes lists that a gateway has stored, and starts no server then', { buffered: true }, async t => {
    const { place, run } = await configured(t, { mcpServers: { github: GITHUB }, views: VIEWS })
    const gateway = launch(t, ['--port', '0', '--data', 'data', '--config', 'config.json'], { cwd: place, env: ENV })
    await until(async () => await startsOf(place, 'github') === 1, 'the start of the server', 30_000)
    await until(async () => {
      const { stdout } = await run('--check')
      return stdout.includes('/mcp/github   2 tools')
    }, 'the lists are stored', 60_000)
    const { code, stdout } = await run('views')
    t.equal(code, 0)
    t.match(stdout, /^github \(server\): 2 tools/m)
    gateway.kill('SIGTERM')
    await gateway.exit()
    t.match((await run('views')).stdout, /^github \(server\): 2 tools/m, 'also when the gateway is gone')
    t.equal(await startsOf(place, 'github'), 1, 'the gateway alone started it')
  })

  t.test('says which servers could not be read or are left out, and ends with 1', { buffered: true }, async t => {
    const fails = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const { run } = await configured(t, {
      mcpServers: { github: GITHUB, fails, off: { ...fails, disabled: true }, wrong: { command: 'sh', args: 'x' } },
      limits: { maxUpstreamFailures: 1 }
    })
    const { code, stdout } = await run('views')
    t.equal(code, 1)
    t.match(stdout, /^github \(server\): 2 tools/m)
    t.match(stdout, /^fails \(server\): 0 tools.*\n {2}http.*\n {2}could not be read: .*exited with code 3/m)
    t.match(stdout, /^wrong \(server\): is left out: .*args must be a list of strings$/m)
    t.notMatch(stdout, /^off/m)
  })

  t.test('refuses what --check refuses, with its place', { buffered: true }, async t => {
    const { run } = await configured(t, { mcpServers: { github: GITHUB }, views: { github: {} } })
    const stderr = /config\.json.*option views\.github and the upstream server "github" would both be served/
    t.match(await run('views'), { code: 1, stdout: '', stderr })
  })
})

t.test('patchbay --check', async t => {
  t.jobs = PROCESSES

  t.test('says what clients load, the largest tools, and who would not take them', { buffered: true }, async t => {
    const plugin = `import { tool } from 'mcp-patchbay'
export default tool({ name: '${'long_'.repeat(11)}', description: '${'x'.repeat(400)}', run: () => 'hi' })`
    const config = JSON.stringify({ views: { one: { tools: ['calculate'] } }, plugins: ['./long.ts'] })
    const place = await folder(t, { 'long.ts': plugin, 'config.json': config })
    const args = ['--check', '--ephemeral', '--config', 'config.json']
    const { code, stdout } = await launch(t, args, { cwd: place }).exit()
    t.equal(code, 0)
    t.match(stdout, /^ {2}What a client loads, in tokens \(an estimate: characters \/ 4\):$/m)
    t.match(stdout, /^ {4}\/mcp {6}\d+ tools, about [\d,]+ tokens$/m)
    t.match(stdout, /^ {4}\/mcp\/one {2}1 tool, about \d+ tokens$/m)
    t.match(stdout, /^ {2}largest +\S+ \d+,/m)
    t.match(stdout, /^ {2}clients +\/mcp: Claude Code fails/m)
    t.match(stdout, /long_long_/)
  })

  t.test('says of servers that were never read that they are not known', { buffered: true }, async t => {
    const { place, run } = await configured(t, { mcpServers: { github: GITHUB }, views: VIEWS })
    const { code, stdout, stderr } = await run('--check')
    t.equal(code, 0, stderr)
    t.match(stdout, /^ {4}\/mcp\/github {3}not known yet$/m)
    t.match(stdout, /^ {2}not known +github: the lists were not read yet/m)
    t.notMatch(stderr, /matches nothing/, 'nor that a pattern of a view matches nothing of it')
    t.equal(await startsOf(place, 'github'), 0)
    t.notOk(existsSync(join(place, 'data')))
  })
})
