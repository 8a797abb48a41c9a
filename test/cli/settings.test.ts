import { join } from 'node:path'
import t, { type Test } from 'tap'
import { flatten, resolveOptions, type Options } from '../../options.js'
import { readArguments } from '../../cli/settings/arguments.js'
import { readSettings } from '../../cli/settings/read-settings.js'
import { folder } from '../support/process.js'

interface Launch { args?: string[], env?: Record<string, string>, file?: string }

/** The options a command line, an environment and a config file lead to. */
async function options (t: Test, { args = [], env = {}, file }: Launch): Promise<Options> {
  const cwd = await folder(t, file === undefined ? {} : { 'c.json': file })
  return resolveOptions(readSettings(file === undefined ? args : [...args, '--config', 'c.json'], env, cwd).options)
}

const MISTAKES: Array<[what: string, launch: Launch, pattern: RegExp]> = [
  ['a stray word', { args: ['stray'] }, /stray/],
  ['an option without its value', { args: ['--port'] }, /--port/],
  ['a port that is no number', { args: ['--port', 'abc'] }, /--port must be a whole number, not "abc"/],
  ['a port that is empty', { args: ['--port='] }, /--port/],
  ['a port below zero', { args: ['--port=-1'] }, /option port must be >= 0/],
  ['half a port', { args: ['--port', '80.5'] }, /--port/],
  ['a log level that does not exist', { args: ['--log-level', 'loud'] }, /option logLevel .*"info"/],
  ['a switch that is none', { env: { PATCHBAY_STDIO: 'maybe' } }, /PATCHBAY_STDIO must be true or false, not "maybe"/],
  [
    'a value in the environment that is out of range',
    { env: { PATCHBAY_PAGE_SIZE: '0' } },
    /option pageSize must be >= 1/
  ],
  ['a secret that is too short', { env: { PATCHBAY_SECRET: 'short' } }, /option secret/],
  [
    'a proxy that is no address',
    { env: { PATCHBAY_TRUST_PROXY: '10.0.0.0/8, proxy.internal' } },
    /option trustProxy\.1 must be an address, or a network such as 10\.0\.0\.0\/8, not "proxy\.internal"/
  ],
  [
    'a number of proxies in place of their addresses',
    { file: '{"trustProxy":1}' },
    /option trustProxy must be true, false or a list of the addresses and networks of your proxies/
  ],
  ['a proxy that is no text', { file: '{"trustProxy":[1]}' }, /option trustProxy must be true, false or a list/],
  ['a file that is not there', { args: ['--config', 'missing.json'] }, /config file .*missing\.json/],
  [
    'a file named in the environment that is not there',
    { env: { PATCHBAY_CONFIG: 'missing.json' } },
    /config file .*missing\.json/
  ],
  ['a port that is too high', { args: ['--port', '70000'] }, /option port must be <= 65535/],
  ['an option in the file that does not exist', { file: '{"nonsense":1}' }, /"nonsense" does not exist/],
  ['a value in the file of another type', { file: '{"port":"8080"}' }, /option port must be integer/],
  ['plugins in the file that are no list', { file: '{"plugins":"x.ts"}' }, /option plugins must be array/],
  ['a plugin in the file that is no name', { file: '{"plugins":[5]}' }, /option plugins/],
  ['a file that is a list', { file: '[]' }, /config file .*c\.json.*object/],
  ['a file that is null', { file: 'null' }, /config file .*c\.json.*object/],
  ['a file that is a number', { file: '5' }, /config file .*c\.json.*object/],
  [
    'a limit without its value',
    { args: ['--limit', 'maxDepth'] },
    /--limit must be NAME=VALUE, such as maxDepth=32, not "maxDepth"/
  ],
  [
    'a limit that is no number',
    { env: { PATCHBAY_LIMITS: 'maxDepth=many' } },
    /PATCHBAY_LIMITS maxDepth must be a whole number, not "many"/
  ],
  ['a limit of zero', { args: ['--limit', 'maxDepth=0'] }, /^--limit maxDepth: limit maxDepth must be >= 1/],
  [
    'a limit that does not exist',
    { file: '{"limits":{"maxDeepness":3}}' },
    /c\.json, line 1: limit "maxDeepness" does not exist/
  ],
  [
    'a limit with a slip',
    { args: ['--limit', 'maxDeph=3'] },
    /limit "maxDeph" does not exist; did you mean "maxDepth"\?/
  ],
  ['limits that are no object', { file: '{"limits":5}' }, /option limits must be object/],
  [
    'a limit among the options',
    { file: '{"maxDepth":3}' },
    /option "maxDepth" is a limit: put it into limits, as in \{"limits":\{"maxDepth":…\}\}/
  ],
  [
    'a variable of a limit',
    { env: { PATCHBAY_MAX_DEPTH: '3' } },
    /environment variable PATCHBAY_MAX_DEPTH does not exist; set PATCHBAY_LIMITS=maxDepth=…/
  ],
  [
    'an old name in the environment',
    { env: { PATCHBAY_WATCH: 'true' } },
    /environment variable PATCHBAY_WATCH does not exist; it is called PATCHBAY_RELOAD now/
  ],
  ['an old name of a flag', { args: ['--watch'] }, /there is no option --watch; it is called --reload now/],
  ['a flag of a limit', { args: ['--max-depth', '3'] }, /there is no option --max-depth; write --limit maxDepth=…/],
  ['a file that is text', { file: '"port"' }, /config file .*c\.json.*object/]
]

for (const [what, launch, pattern] of MISTAKES) {
  t.test(`${what} is named`, async t => await t.rejects(options(t, launch), pattern))
}

t.test('without anything, HTTP is served to this machine only', async t => {
  t.match(await options(t, {}), {
    http: true,
    stdio: false,
    port: 8080,
    host: '127.0.0.1',
    plugins: [],
    allowedHosts: []
  })
})

t.test('limits of all three sources are put together, and of each the last counts', async t => {
  const file = '{"limits":{"maxDepth":1,"maxKeys":1,"maxId":1}}'
  const { limits } = await options(t, {
    file,
    env: { PATCHBAY_LIMITS: 'maxKeys=2, maxId=2' },
    args: ['--limit', 'maxId=3', '--limit', 'maxUri=3,maxBatch=3']
  })
  t.strictSame(limits, { maxDepth: 1, maxKeys: 2, maxId: 3, maxUri: 3, maxBatch: 3 })
  t.strictSame((await options(t, { env: { PATCHBAY_LIMITS: '{"maxKeys":7}' } })).limits, { maxKeys: 7 })
})

t.test('all wrong limits are named at once, each with where it was set', async t => {
  const wrong = options(t, {
    file: '{"limits":{\n"maxDepth":0}}',
    env: { PATCHBAY_LIMITS: 'maxKeys=0' },
    args: ['--limit', 'maxId=0']
  })
  await t.rejects(wrong, {
    message:
      /c\.json, line 2: limit maxDepth must be >= 1\nPATCHBAY_LIMITS: limit maxKeys must be >= 1\n--limit maxId: limit maxId must be >= 1/
  })
})

t.test('the limits are beside the other options for the parts of the gateway, with their defaults', async t => {
  t.match(flatten(await options(t, { args: ['--limit', 'maxDepth=3'] })), { port: 8080, maxDepth: 3, maxKeys: 10_000 })
})

t.test('proxies are a switch or a list', async t => {
  for (const [text, value] of [
    ['true', true],
    ['false', false],
    ['127.0.0.1,fd00::/8', ['127.0.0.1', 'fd00::/8']]
  ] as const) {
    t.strictSame((await options(t, { env: { PATCHBAY_TRUST_PROXY: text } })).trustProxy, value)
    t.strictSame((await options(t, { file: JSON.stringify({ trustProxy: value }) })).trustProxy, value)
  }
  t.equal((await options(t, {})).trustProxy, undefined)
})

t.test('stdio turns HTTP off, unless a port or HTTP itself is asked for', async t => {
  t.match(await options(t, { args: ['--stdio'] }), { stdio: true, http: false })
  t.match(await options(t, { args: ['--stdio', '--port', '0'] }), { stdio: true, http: true, port: 0 })
  t.match(await options(t, { args: ['--stdio'], env: { PATCHBAY_PORT: '9' } }), { http: true, port: 9 })
  t.match(await options(t, { args: ['--stdio'], file: '{"http":true}' }), { http: true })
  t.match(await options(t, { args: ['--stdio', '--port', '0'], file: '{"http":false}' }), { http: false })
  t.match(await options(t, { file: '{"stdio":true}' }), { stdio: true, http: false })
})

t.test('each source wins over the next one', async t => {
  const file = '{"port":1,"host":"::1","pageSize":3}'
  t.match(await options(t, { file }), { port: 1, host: '::1', pageSize: 3 })
  t.match(await options(t, { file, env: { PATCHBAY_PORT: '2', PATCHBAY_HOST: 'localhost' } }), {
    port: 2,
    host: 'localhost',
    pageSize: 3
  })
  t.match(await options(t, { file, env: { PATCHBAY_PORT: '2', PATCHBAY_HOST: 'localhost' }, args: ['--port', '3'] }), {
    port: 3,
    host: 'localhost'
  })
  t.match(await options(t, { file, env: { PATCHBAY_PORT: '' } }), { port: 1 }, 'an empty variable is not set')
})

t.test('every option has its variable', async t => {
  const env = {
    PATCHBAY_CALL_TIMEOUT_MAX: '7',
    PATCHBAY_ALLOWED_ORIGINS: ' https://a.example ,https://b.example,',
    PATCHBAY_TOOLS: '0',
    PATCHBAY_HTTP: 'true',
    PATCHBAY_INSTRUCTIONS: '8'
  }
  t.match(await options(t, { env }), {
    callTimeoutMax: 7,
    allowedOrigins: ['https://a.example', 'https://b.example'],
    tools: false,
    http: true,
    instructions: '8'
  })
})

t.test('the document of an API begins at the folder of the config file, unless it is a URL', async t => {
  const servers = { a: './api.yaml', b: '/abs/api.yaml', c: '~/api.yaml', d: 'https://api.example.com/openapi.json', e: '${DOCUMENT}' } // eslint-disable-line no-template-curly-in-string
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, openapi]) => [name, { openapi }]))
  const cwd = await folder(t, { 'c.json': JSON.stringify({ mcpServers }) })
  const read = readSettings(['--config', join(cwd, 'c.json')], {}, '/elsewhere').options.mcpServers
  t.strictSame(Object.values(read ?? {}), [join(cwd, 'api.yaml'), ...Object.values(servers).slice(1)].map(openapi => ({ openapi })))
})

t.test('files are found from where they are named', async t => {
  const cwd = await folder(t, { 'c.json': '{"plugins":["./a.ts","/abs/b.ts"]}' })
  t.strictSame(readSettings(['--config', join(cwd, 'c.json')], {}, '/elsewhere').options.plugins, [
    join(cwd, 'a.ts'),
    '/abs/b.ts'
  ])
  t.strictSame(readSettings(['--plugin', 'a.ts', '--plugin', '/abs/b.ts'], {}, '/here').options.plugins, [
    '/here/a.ts',
    '/abs/b.ts'
  ])
  t.strictSame(readSettings([], { PATCHBAY_PLUGINS: 'a.ts, b.ts' }, '/here').options.plugins, [
    '/here/a.ts',
    '/here/b.ts'
  ])
})

t.test('help and version are asked for in both spellings', async t => {
  for (const [args, expected] of [
    [['--help'], { help: true }],
    [['-h'], { help: true }],
    [['--version'], { version: true }],
    [['-v'], { version: true }],
    [[], { help: false, version: false }]
  ] as const) {
    t.match(readArguments([...args], '/'), expected)
  }
})
