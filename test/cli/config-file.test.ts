import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { placesOf } from '../../cli/settings/json-places.js'
import { readSettings } from '../../cli/settings/read-settings.js'
import { SettingsError } from '../../cli/settings/source.js'
import { compile } from '../../protocol/schema/schema.js'
import { configSchema, SCHEMA_FILE } from '../support/config-schema.js'
import { folder } from '../support/process.js'
import { bestTime, cpuTime } from '../support/timing.js'

/** Mistakes of a config file, environment and command line, without the folder of the file. */
async function mistakes (
  t: Test,
  text: string,
  env: Record<string, string> = {},
  args: string[] = []
): Promise<string[]> {
  const cwd = await folder(t, { 'c.json': text })
  try {
    readSettings([...args, '--config', 'c.json'], env, cwd)
    return []
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return error.mistakes.map(mistake => mistake.replace(join(cwd, 'c.json'), 'c.json'))
  }
}

const NOT_JSON: Array<[text: string, expected: string]> = [
  ['{ port: 9000 }', 'line 1, column 3: a name in double quotes is expected: port'],
  ['{\n  "port": 1,\n}', 'line 3, column 1: there is a comma too many before this: }'],
  ['{\n  "roots": ["a",]\n}', 'line 2, column 17: there is a comma too many before this: ]'],
  ['{\n  "port": 1\n  "host": "::1"\n}', 'line 3, column 3: a comma is missing before this: "'],
  ['{\n  # my port\n  "port": 1\n}', 'line 2, column 3: a comment begins with //, or with /* and ends with */'],
  ['{\n  "port": 1 /* mine\n}', 'line 2, column 13: the */ at the end of this comment is missing'],
  ["{ 'port': 1 }", 'line 1, column 3: JSON has no other quotes than "'],
  ['{ "port" 1 }', 'line 1, column 10: a colon is missing before this: 1'],
  ['{ "port": }', 'line 1, column 11: a value is missing before this: }'],
  ['{ "port": 01 }', 'line 1, column 12: this is not JSON: 1'],
  ['{ "port": 1', 'line 1, column 12: the JSON ends too early'],
  ['', 'line 1, column 1: the JSON ends too early'],
  ['{ "host": "a\nb" }', 'line 1, column 11: the " at the end of this string is missing: "'],
  ['{ "host": "a\tb" }', 'line 1, column 11: this string has a control character, which is written as in "\\n": "'],
  ['{ "dataDir": "a\\\\C:\\Users" }', 'line 1, column 20: a \\ in a string is written \\\\, as in "C:\\\\Users"'],
  ['{ "dataDir": "C:\\users" }', 'line 1, column 17: a \\ in a string is written \\\\, as in "C:\\\\Users"'],
  ['{} {}', 'line 1, column 4: the JSON value ends before this: {']
]

t.test('a file that is not JSON is reported with line, column and what to do', async t => {
  for (const [text, expected] of NOT_JSON) {
    t.strictSame(await mistakes(t, text), [`config file c.json, ${expected}`], text)
  }
})

t.test('comments are allowed, and lines of mistakes count them', async t => {
  t.strictSame(await mistakes(t, '// all\n{\n  /* my\n     port */ "port": 1 // here\n}\n'), [])
  t.strictSame(await mistakes(t, '{\n  // one\n  "prot": 1\n}'), [
    'config file c.json, line 3: option "prot" does not exist; did you mean "port"?'
  ])
})

t.test('a name that is there twice is a mistake with both lines', async t => {
  t.strictSame(
    await mistakes(
      t,
      '{\n "apiKeys": [{ "name": "ada" }],\n "port": 1,\n "apiKeys": [],\n "oauth": {\n  "issuer": 1, "port": 2,\n  "issu\\u0065r": 1 } }'
    ).then(all => all.filter(each => each.includes('already'))),
    [
      'config file c.json, line 4: the name "apiKeys" is there already (line 2); remove one of them',
      'config file c.json, line 7: the name "issuer" is there already (line 6); remove one of them'
    ]
  )
})

t.test('a file that is nested too deeply is named', async t => {
  for (const text of [`{"roots":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, '['.repeat(50_000)]) {
    t.strictSame(await mistakes(t, text), ['config file c.json: it is nested too deeply'])
  }
})

t.test(
  'a file that is too large is refused, and the time for places grows with the length of a file alone',
  async t => {
    t.strictSame(await mistakes(t, `{}${' '.repeat(16 * 1024 * 1024)}`), [
      'config file c.json: it has more than 16777216 bytes; remove what is not needed'
    ])
    const text = (count: number): string =>
      JSON.stringify(
        {
          mcpServers: Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { command: 'x' }]))
        },
        null,
        1
      )
    const [short, long] = [text(4_000), text(32_000)]
    placesOf(short)
    const ratio = await bestTime(20, async () => cpuTime(() => placesOf(long)) / cpuTime(() => placesOf(short)), 3)
    t.ok(ratio < 20, `eight times as much takes ${ratio.toFixed(1)} times as long`)
  }
)

t.test('a variable that must be JSON gets an example of its own', async t => {
  t.strictSame(await mistakes(t, '{}', { PATCHBAY_TLS: 'key.pem' }), [
    'PATCHBAY_TLS must be JSON, for example \'{"key":"key.pem","cert":"cert.pem"}\', not "key.pem"'
  ])
})

t.test('what JSON.parse takes, the reader of places takes, and the other way round', async t => {
  const texts = [
    '{}',
    '[]',
    '"a\\u00e9\\n"',
    '-1.5e+3',
    'true',
    ' {"a":[1,{"b":null}],"c":"}"} ',
    '{"a":1,"a":2}',
    '[1,]',
    '{"a"}',
    'tru',
    '1.',
    '"\n"',
    '"\\x"',
    '[',
    '{"a":1}}',
    '\u00a01'
  ]
  for (const text of texts) {
    const fails = (read: (text: string) => unknown): boolean => {
      try {
        read(text)
        return false
      } catch {
        return true
      }
    }
    t.equal(fails(placesOf), fails(JSON.parse), text)
  }
})

t.test('a file that is not there, or is a folder, is reported as such', async t => {
  const cwd = await folder(t, {})
  t.throws(() => readSettings(['--config', 'nope.json'], {}, cwd), {
    message: `config file ${join(cwd, 'nope.json')}: there is no such file`
  })
  t.throws(() => readSettings(['--config', '.'], {}, cwd), {
    message: `config file ${cwd}: this is a folder, not a JSON file`
  })
})

t.test('a wrong value is reported with the line it is on, all of them at once', async t => {
  const text = JSON.stringify(
    {
      $schema: 'x',
      prot: 1,
      port: '80',
      apiKeys: [{ name: 'ada', hash: 'abc', scopes: [] }],
      oauth: { issuer: 'https://a.example', resource: 'https://b.example/', isuer: 1 }
    },
    null,
    1
  )
  t.strictSame(await mistakes(t, text), [
    'config file c.json, line 3: option "prot" does not exist; did you mean "port"?',
    'config file c.json, line 4: option port must be integer',
    'config file c.json, line 8: option apiKeys.0.hash must be sha256: and 64 hexadecimal digits, as "patchbay key NAME" prints it',
    'config file c.json, line 15: option oauth has no "isuer"; did you mean "issuer"?'
  ])
  t.strictSame(await mistakes(t, '{"oauth":{"issuer":"https://a.example","resource":"https://b.example/"}}'), [
    'config file c.json, line 1: option oauth.resource must be the https URL that clients use, without # and without a slash at the end, for example https://mcp.example.com/mcp'
  ])
})

t.test('a mistake names the source that set the value', async t => {
  const found = await mistakes(t, '{"port":1}', { PATCHBAY_PAGE_SIZE: '0' }, ['--port', '70000'])
  t.strictSame(found.sort(), [
    '--port: option port must be <= 65535',
    'PATCHBAY_PAGE_SIZE: option pageSize must be >= 1'
  ])
})

t.test('a variable that is misspelt or no JSON gets a hint for that variable', async t => {
  t.strictSame(await mistakes(t, '{}', { PATCHBAY_PROT: '1' }), [
    'environment variable PATCHBAY_PROT does not exist; did you mean "PATCHBAY_PORT"?'
  ])
  t.match(await mistakes(t, '{}', { PATCHBAY_API_KEYS: '{' }), [
    /^PATCHBAY_API_KEYS must be JSON, for example '\[\{"name":"ada","hash":"sha256:\.\.\.","scopes":\["mcp"\]\}\]', not "\{"$/
  ])
  t.match(await mistakes(t, '{}', { PATCHBAY_COMMANDS: 'ls' }), [
    /^PATCHBAY_COMMANDS must be JSON, for example '\{"date":\{\},"ls":/
  ])
})

t.test('docs/config.schema.json is what the options make; a config file may name it', async t => {
  t.equal(readFileSync(SCHEMA_FILE, 'utf8'), configSchema(), 'run `npm run options-page` and commit what it changed')
  const check = compile(JSON.parse(configSchema()) as Record<string, unknown>)
  const good = {
    $schema: 'node_modules/mcp-patchbay/docs/config.schema.json',
    port: 9000,
    plugins: ['./weather.ts'],
    trustProxy: ['10.0.0.0/8']
  }
  t.equal(check(good), undefined)
  t.strictSame(await mistakes(t, JSON.stringify(good)), [])
  t.match(check({ prot: 1 }), /prot/)
})
