import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch, PROCESSES } from '../support/process.js'
import { isRunning } from '../support/processes.js'
import { until } from '../support/wait.js'

interface Finding { part: string, level: string, text: string, advice?: string, details?: string[] }
interface Report { result: string, exitCode: number, findings: Finding[], servers: Array<Record<string, unknown>> }

/** A server on standard input and output with these tools, which writes its process id into its working directory. */
const server = (tools: object[]): object => ({
  command: process.execPath,
  args: ['-e', `
    require('node:fs').writeFileSync('server.pid', String(process.pid))
    require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
      const { id, method, params } = JSON.parse(line)
      const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } : { tools: ${JSON.stringify(tools)} }
      const answer = method === 'initialize' || method === 'tools/list' ? { result } : { error: { code: -32601, message: 'no' } }
      if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
    })`],
  cwd: '.'
})

const program = (code: string, env: Record<string, string> = {}): object =>
  ({ command: process.execPath, args: ['-e', code], cwd: '.', env })

const GOOD = server([{ name: 'a', inputSchema: { type: 'object' } }])
const ODD = server([{ name: 'b', inputSchema: {} }])
const SILENT = program("require('node:fs').writeFileSync('server.pid', String(process.pid)); setInterval(() => {}, 1000)")
const SECRET = 's3cret-of-the-server'
const DIES = program('console.error("no database for " + process.env.KEY); process.exit(3)', { KEY: SECRET })

interface SetUp {
  /** The servers, in a file of a client. */
  servers?: Record<string, unknown>
  args?: string[]
  env?: Record<string, string>
  /** Makes files, and gives more arguments. */
  prepare?: (t: Test, place: string) => Promise<string[]>
}

interface Row extends SetUp {
  code: number
  part: string
  level: string
  text: RegExp
  advice?: RegExp
}

/** Prepares a config file. */
const configOf = (text: string): NonNullable<SetUp['prepare']> => async (_t, place) => {
  await writeFile(join(place, 'config.json'), text)
  return ['--config', 'config.json']
}

async function httpServer (t: Test, answer: RequestListener): Promise<string> {
  const http = createServer(answer)
  t.teardown(() => http.close())
  await once(http.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

async function diagnose (t: Test, { servers = {}, args = [], env = {}, prepare }: SetUp, more: string[] = []) {
  const place = await folder(t, { 'servers.json': JSON.stringify({ mcpServers: servers }) })
  const prepared = await prepare?.(t, place) ?? []
  const files = Object.keys(servers).length === 0 ? [] : ['--mcp-config', 'servers.json']
  const isChosen = (flag: string): boolean => [...args, ...prepared].includes(flag)
  const launched = launch(t, [
    'doctor',
    ...more,
    ...(isChosen('--data') || env['PATCHBAY_REDIS'] !== undefined ? [] : ['--data', join(place, 'data')]),
    ...(isChosen('--port') ? [] : ['--port', '0']),
    ...files,
    ...args,
    ...prepared
  ], { cwd: place, env: { PATCHBAY_LIMITS: 'upstreamStopTimeout=1000', ...env } })
  return { place, launched }
}

const onUrl = (path: string, answer: RequestListener, more = {}): NonNullable<SetUp['prepare']> => async (t, place) => {
  const url = await httpServer(t, answer)
  await writeFile(join(place, 'far.json'), JSON.stringify({ mcpServers: { far: { url: url + path, ...more } } }))
  return ['--mcp-config', 'far.json']
}

/** Set-ups, and what is found of them. */
const rows: Record<string, Row> = {
  'a server that works': {
    servers: { good: GOOD },
    code: 0,
    part: 'good',
    level: 'ok',
    text: /^1 tool; stdio, state(less|ful) \(\d{4}-\d\d-\d\d\), ready after \d+\.\d s$/
  },
  'a port that another program has': {
    prepare: async t => ['--port', new URL(await httpServer(t, (_request, reply) => reply.end('hello'))).port],
    code: 12,
    part: 'port',
    level: 'broken',
    text: /^127\.0\.0\.1:\d+ is in use by another program$/,
    advice: /^stop that program, or choose another port with --port or PATCHBAY_PORT$/
  },
  'an address of another machine': {
    args: ['--host', '192.0.2.1', '--port', '8080'],
    env: { PATCHBAY_ALLOW_ANONYMOUS: 'true', PATCHBAY_ALLOWED_HOSTS: 'example.com' },
    code: 12,
    part: 'port',
    level: 'broken',
    text: /^192\.0\.2\.1 is no address of this machine$/,
    advice: /--host/
  },
  'a data folder that is a file': {
    prepare: async (_t, place) => {
      await writeFile(join(place, 'file'), '')
      return ['--data', join(place, 'file')]
    },
    code: 12,
    part: 'data',
    level: 'broken',
    text: /^data folder .*file: .*file is not a folder$/,
    advice: /^choose another with --data, or keep nothing with --ephemeral$/
  },
  'a data folder that other users can write to': {
    prepare: async (_t, place) => {
      await mkdir(join(place, 'shared'))
      await chmod(join(place, 'shared'), 0o777)
      return ['--data', join(place, 'shared')]
    },
    code: 10,
    part: 'data',
    level: 'warning',
    text: /shared: other users can write to it \(mode 777\)$/,
    advice: /^run chmod 700 .*shared$/
  },
  'a program that is not there': {
    servers: { gone: { command: 'no-such-program-of-ours' }, good: GOOD },
    code: 11,
    part: 'gone',
    level: 'down',
    text: /^it does not work: no-such-program-of-ours is not on PATH$/,
    advice: /^write the whole path of the program as its command, or set PATH in its env/
  },
  'a server that never answers': {
    servers: { silent: SILENT },
    args: ['--timeout', '2'],
    code: 12,
    part: 'silent',
    level: 'down',
    text: /^it does not work: it was not ready within 2 s$/,
    advice: /^run its command in a terminal to see what it waits for; .* --timeout SECONDS, and startTimeout in its entry$/
  },
  'a server that dies': {
    servers: { dies: DIES },
    code: 12,
    part: 'dies',
    level: 'down',
    text: /^it does not work: it exited with code 3$/,
    advice: /^run its command in a terminal to see why; what it wrote last is below$/
  },
  'a server whose entry is wrong': {
    servers: { wrong: { command: 'sh', args: 'x' } },
    code: 12,
    part: 'wrong',
    level: 'down',
    text: /^it is left out: .*servers\.json, line 1: server "wrong": args must be a list of strings$/,
    advice: /^correct its entry; patchbay check says whether it is right$/
  },
  'a server that some clients refuse': {
    servers: { odd: { ...ODD, schemas: 'as-is' } },
    code: 10,
    part: 'odd',
    level: 'warning',
    text: /^1 tool, 1 that some clients refuse; stdio, /,
    advice: /^some clients refuse the whole list; set schemas to safe$/
  },
  'a server that is repaired': {
    servers: { odd: ODD },
    code: 0,
    part: 'odd',
    level: 'ok',
    text: /^1 tool, 1 repaired; stdio, /
  },
  'a server with a tool that is left out': {
    servers: { less: server([{ name: 'b', inputSchema: 7 }]) },
    code: 10,
    part: 'less',
    level: 'warning',
    text: /^0 tools, 1 left out or hidden; /,
    advice: /^clients do not get what is left out; report it to the author of the server$/
  },
  'a URL at which nothing answers': {
    servers: { far: { url: 'http://127.0.0.1:1/mcp?token=s3cret-of-the-server' } },
    args: ['--timeout', '20'],
    code: 12,
    part: 'far',
    level: 'down',
    text: /^it does not work: the connection was refused$/,
    advice: /^see that the server runs and that the port is right: http:\/\/127\.0\.0\.1:1\/mcp$/
  },
  'a server that wants a credential': {
    prepare: onUrl('/mcp', (_request, reply) => reply.writeHead(401).end()),
    code: 12,
    part: 'far',
    level: 'down',
    text: /^it does not work: .*401/,
    advice: /^run patchbay login far with the same options, or put a credential into headers of its entry$/
  },
  'a server that refuses its credential': {
    prepare: onUrl('/mcp', (_request, reply) => reply.writeHead(401).end(), { headers: { Authorization: `Bearer ${SECRET}` } }),
    code: 12,
    part: 'far',
    level: 'down',
    text: /^it does not work: .*401/,
    advice: /^it does not accept its credential: correct the header Authorization in its entry$/
  },
  'a clock that another does not agree with': {
    prepare: onUrl('/mcp', (_request, reply) =>
      reply.writeHead(404, { date: new Date(Date.now() + 3_600_000).toUTCString() }).end()),
    code: 12,
    part: 'clock',
    level: 'warning',
    text: /^it is 3(59\d|60\d) seconds behind that of http:\/\/127\.0\.0\.1:\d+$/,
    advice: /^set it, or let NTP set it/
  },
  'a clock that was set back': {
    prepare: async (_t, place) => {
      await mkdir(join(place, 'later'), { mode: 0o700 })
      await writeFile(join(place, 'later/x'), '')
      const { utimes } = await import('node:fs/promises')
      await utimes(join(place, 'later/x'), Date.now() / 1_000, Date.now() / 1_000 + 3_600)
      return ['--data', join(place, 'later')]
    },
    code: 10,
    part: 'clock',
    level: 'warning',
    text: /later\/x was written in the future$/,
    advice: /^the clock was set back, or is wrong: set it$/
  },
  'no other clock': {
    code: 0,
    part: 'clock',
    level: 'note',
    text: /^it cannot be compared: no server with a URL answered with a date$/
  },
  'a Redis that is away': {
    env: { PATCHBAY_REDIS: 'redis://:s3cret-of-the-server@127.0.0.1:1' },
    code: 10,
    part: 'redis',
    level: 'warning',
    text: /^Redis cannot be reached$/,
    advice: /^start it, or correct option redis; /
  },
  'a config with an unknown option': {
    prepare: configOf('{\n  "prot": 1\n}'),
    code: 12,
    part: 'config',
    level: 'broken',
    text: /^config file .*config\.json, line 2: .*prot/,
    advice: /did you mean "port"/
  },
  'a config that is no JSON': {
    prepare: configOf('{'),
    code: 12,
    part: 'config',
    level: 'broken',
    text: /^config file .*config\.json, line 1/
  },
  'a file of servers that is not there': {
    args: ['--mcp-config', 'none.json'],
    code: 12,
    part: 'config',
    level: 'broken',
    text: /none\.json: there is no such file$/,
    advice: /^correct it, and look again with patchbay check$/
  },
  'a plugin that cannot be loaded': {
    args: ['--plugin', 'none.ts'],
    code: 12,
    part: 'config',
    level: 'broken',
    text: /^plugin .*none\.ts: there is no such file$/
  }
}

if (process.platform === 'linux') {
  rows['a data folder that cannot be written, whatever its rights say'] = {
    args: ['--data', '/proc/patchbay'],
    code: 12,
    part: 'data',
    level: 'broken',
    text: /^data folder \/proc\/patchbay: .*\/proc/,
    advice: /^choose another.* with --data, or keep nothing with --ephemeral$/
  }
}

/** The pattern for a text behind others on a line. */
const within = ({ source }: RegExp): string => source.startsWith('^') ? source.slice(1) : `.*${source}`

t.test('patchbay doctor', async t => {
  t.jobs = PROCESSES

  for (const [name, row] of Object.entries(rows)) {
    t.test(`finds ${name}`, { buffered: true }, async t => {
      const { code, stdout, stderr } = await (await diagnose(t, row, ['--json'])).launched.exit()
      t.match({ code, stderr }, { code: row.code, stderr: '' })
      const { findings, exitCode } = JSON.parse(stdout) as Report
      t.equal(exitCode, row.code)
      const found = findings.filter(({ part, level }) => part === row.part && level === row.level)
      t.equal(found.length, 1, JSON.stringify(findings))
      t.match(found[0], { text: row.text, ...row.advice && { advice: row.advice } })
      for (const { level, advice, text } of findings) {
        if (level !== 'ok' && level !== 'note') t.type(advice, 'string', `there is something to do: ${text}`)
      }

      const text = await (await diagnose(t, row)).launched.exit()
      t.match({ code: text.code, stderr: text.stderr }, { code: row.code, stderr: '' })
      t.match(text.stdout, new RegExp(`^${row.level} +${row.part} +${within(row.text)}`, 'm'))
      if (row.advice !== undefined) {
        t.match(text.stdout, new RegExp(`^ +-> ${within(row.advice)}`, 'm'))
      }
      t.match(text.stdout, row.code === 0 ? /\nAll is well\.\n$/ : /\nFound: .*\.\n$/)
      for (const output of [stdout, text.stdout]) t.notOk(output.includes(SECRET), 'no secret')
    })
  }

  t.test('gives programs what it knows of each server', { buffered: true }, async t => {
    const setUp = { servers: { good: GOOD, dies: DIES, off: { ...GOOD, disabled: true } } }
    const { place, launched } = await diagnose(t, setUp, ['--json'])
    const { stdout } = await launched.exit()
    const { servers, result } = JSON.parse(stdout) as Report
    t.equal(result, 'a server is down')
    t.match(servers, [
      { alias: 'good', state: 'read', transport: 'stdio', era: /^state/, revision: String, tools: 1, milliseconds: Number },
      { alias: 'dies', state: 'failed', error: String, lastLines: ['no database for ***'] },
      { alias: 'off', state: 'disabled' }
    ])
    t.notOk(isRunning(Number(await readFile(join(place, 'server.pid'), 'utf8'))), 'the server was stopped')
    await t.rejects(readFile(join(place, 'data')), { code: 'ENOENT' }, 'no data folder is made')
  })

  t.test('says a few things of a server at length, not everything', { buffered: true }, async t => {
    const tools = Array.from({ length: 12 }, (_, index) => ({ name: `t${index}`, inputSchema: 7 }))
    const { launched } = await diagnose(t, { servers: { less: server(tools), odd: ODD } }, ['--json'])
    const { findings } = JSON.parse((await launched.exit()).stdout) as Report
    const [less, odd] = findings.slice(-2)
    t.equal(less?.details?.length, 11)
    t.equal(less?.details?.at(-1), 'and 2 more, which patchbay lint prints')
    t.strictSame(odd?.details, [], 'a repair is nothing to do')
  })

  t.test('looks at one server where one is named', { buffered: true }, async t => {
    const servers = { good: GOOD, dies: DIES }
    t.match(await (await diagnose(t, { servers }, ['good'])).launched.exit(), { code: 0, stdout: /^ok +good /m })
    t.match(await (await diagnose(t, { servers }, ['goood'])).launched.exit(), {
      code: 1,
      stdout: '',
      stderr: 'patchbay: there is no upstream server "goood"; did you mean "good"?\n'
    })
  })

  t.test('finds the Patchbay that has the port', { buffered: true }, async t => {
    const gateway = launch(t, ['--port', '0', '--ephemeral'])
    const { port } = new URL(await gateway.url())
    const { launched } = await diagnose(t, { args: ['--port', port] })
    t.match(await launched.exit(), {
      code: 0,
      stdout: new RegExp(`^ok +port +a Patchbay \\S+ answers on 127\\.0\\.0\\.1:${port}, and is healthy$`, 'm')
    })
  })

  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    t.test(`stops the servers at ${signal}`, { buffered: true }, async t => {
      const { place, launched } = await diagnose(t, { servers: { silent: SILENT } })
      const pid = async (): Promise<number> => Number(await readFile(join(place, 'server.pid'), 'utf8').catch(() => ''))
      await until(async () => await pid() > 0, 'the start', 30_000)
      launched.kill(signal)
      t.match(await launched.exit(), { code, stdout: '' })
      t.notOk(isRunning(await pid()))
    })
  }

  for (const args of [['--timeout', 'x'], ['--timeout=0'], ['--timeout', '4000']]) {
    t.test(`refuses ${args.join(' ')}`, { buffered: true }, async t => {
      t.match(await (await diagnose(t, { args })).launched.exit(), {
        code: 1,
        stdout: '',
        stderr: /^patchbay: --timeout must be a number of seconds between 0 and 3600, not "/
      })
    })
  }
})
