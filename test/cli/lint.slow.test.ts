import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isRunning } from '../support/processes.js'
import { folder, launch, PROCESSES, type Ended } from '../support/process.js'
import { until } from '../support/wait.js'

/**
 * A server on standard input and output with these tools. It writes its process id into the working directory, and ends
 * only when it is killed.
 */
const program = (name: string, tools: string): string => `
require('node:fs').writeFileSync('${name}.pid', String(process.pid))
setInterval(() => {}, 1000)
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } : { tools: ${tools} }
  const answer = method === 'initialize' || method === 'tools/list' ? { result } : { error: { code: -32601, message: 'no' } }
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})`

const server = (name: string, tools: unknown): object => ({
  command: process.execPath,
  args: ['-e', program(name, typeof tools === 'string' ? tools : JSON.stringify(tools))],
  cwd: '.'
})
const GOOD = server('good', [{ name: 'a', inputSchema: { type: 'object' } }])
const ODD = server('odd', [{ name: 'a', inputSchema: { type: 'object' } }, { name: 'b', inputSchema: {} }])
const LEAVES_OUT = server('less', [{ name: 'a\u001b]0;title\u0007\nb', inputSchema: 7 }])
const FAILS = { command: process.execPath, args: ['-e', 'console.error("no \\u001b[31mdatabase"); process.exit(3)'] }

async function linted (
  t: Test,
  servers: Record<string, object>,
  args: string[] = []
): Promise<Ended & { place: string }> {
  const place = await folder(t, { 'mcp.json': JSON.stringify({ mcpServers: servers }) })
  const ended = await launch(t, ['lint', ...args, '--data', join(place, 'data'), '--mcp-config', 'mcp.json'], {
    cwd: place,
    env: { PATCHBAY_LIMITS: 'upstreamStopTimeout=1000' }
  }).exit()
  return { ...ended, place }
}

t.test('patchbay lint', async t => {
  t.jobs = PROCESSES

  t.test(
    'says of each server what is repaired, left out or could not be read, and leaves no process',
    { buffered: true },
    async t => {
      const { code, stdout, stderr, place } = await linted(t, {
        good: GOOD,
        odd: ODD,
        less: LEAVES_OUT,
        fails: FAILS,
        off: { ...GOOD, disabled: true },
        wrong: { command: 'sh', args: 'x' }
      })
      t.equal(code, 1)
      t.equal(stderr, '')
      t.match(stdout, /^good: 1 tool, nothing to say$/m)
      t.match(stdout, /^odd: 2 tools, 1 repaired\n {2}tool "b" repaired: \/inputSchema\/type: "object" added$/m)
      t.match(
        stdout,
        /^less: 0 tools, 1 left out or hidden\n {2}tool "a.*b" is left out: its inputSchema is not an object$/m
      )
      t.match(stdout, /^fails: could not be read: .*\n {2}\| no .*database$/m)
      t.match(stdout, /^off: disabled, not started$/m)
      t.match(
        stdout,
        /^wrong: left out of the configuration\n {2}.*mcp\.json, line \d+: server "wrong": args must be a list of strings$/m
      )
      t.notMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}]/u, 'a terminal obeys no server')
      for (const name of ['good', 'odd', 'less']) {
        t.notOk(isRunning(Number(await readFile(join(place, `${name}.pid`), 'utf8'))), `${name} was stopped`)
      }
      await t.rejects(readFile(join(place, 'data')), { code: 'ENOENT' }, 'nothing is written')
    }
  )

  t.test(
    'of one server ends with 0 when nothing is missing, also where something was repaired',
    { buffered: true },
    async t => {
      const { code, stdout } = await linted(t, { fails: FAILS, Odd: ODD }, ['odd'])
      t.equal(code, 0)
      t.match(stdout, /^odd: 2 tools, 1 repaired\n.*\n$/)
      t.match(await linted(t, { odd: { ...ODD, schemas: 'as-is' } }), {
        code: 0,
        stdout: /^odd: 2 tools, 1 that some clients refuse\n {2}tool "b" not repaired \(schemas: as-is\): /
      })
    }
  )

  t.test('of an unknown server is a mistake', { buffered: true }, async t => {
    t.match(await linted(t, { good: GOOD }, ['goood']), {
      code: 1,
      stdout: '',
      stderr: 'patchbay: there is no upstream server "goood"; did you mean "good"?\n'
    })
  })

  t.test('stops the servers when a signal ends it', { buffered: true }, async t => {
    const silent = {
      command: process.execPath,
      args: ['-e', "require('node:fs').writeFileSync('silent.pid', String(process.pid)); setInterval(() => {}, 1000)"],
      cwd: '.'
    }
    const place = await folder(t, { 'mcp.json': JSON.stringify({ mcpServers: { silent } }) })
    const launched = launch(t, ['lint', '--mcp-config', 'mcp.json'], {
      cwd: place,
      env: { PATCHBAY_LIMITS: 'upstreamStopTimeout=1000' }
    })
    const pid = async (): Promise<number> => Number(await readFile(join(place, 'silent.pid'), 'utf8').catch(() => ''))
    await until(async () => await pid() > 0, 'the start', 30_000)
    launched.kill('SIGTERM')
    t.equal((await launched.exit()).code, 143)
    t.notOk(isRunning(await pid()))
  })
})
