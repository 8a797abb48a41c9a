import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { OptionsError } from '../../../options/mistakes.js'
import { parseYaml } from '../../../system/documents/yaml.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { folder } from '../../support/process.js'
import { bestTime, cpuTime } from '../../support/timing.js'

/** Reads one file; gives the aliases, the warnings, and the mistakes without the folder. */
async function read (t: Test, name: string, text: string | Buffer, env: Record<string, string> = {}) {
  const place = await folder(t, {})
  const file = join(place, name)
  await writeFile(file, text)
  const short = (sentence: string): string => sentence.replaceAll(`${place}/`, '')
  try {
    const { entries, leftOut, warnings } = await readEntries(flatten(resolveOptions({ mcpConfig: [file] })), {
      env,
      home: undefined,
      cwd: '/'
    })
    return {
      entries,
      aliases: entries.map(({ alias }) => alias),
      warnings: warnings.map(short),
      mistakes: leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => short(text)))
    }
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error
    return { entries: [], aliases: [], warnings: [], mistakes: error.mistakes.map(({ text }) => short(text)) }
  }
}

const deep = (open: string, close: string): string => open.repeat(100_000) + close.repeat(100_000)

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`)

const refused: Record<string, [name: string, text: string | Buffer, mistake: RegExp]> = {
  'an empty file': ['a.json', ' \n', /^a\.json: it is empty$/],
  'half a JSON object': [
    'a.json',
    '{\n"mcpServers": {',
    /^a\.json, line 2: this is not JSON \(close brace expected\)$/
  ],
  'something else than an object': ['a.json', '[1]', /^a\.json: it must hold an object with the servers$/],
  'UTF-16': [
    'a.json',
    Buffer.from('{"mcpServers":{}}', 'utf16le'),
    /^a\.json: it is not text in UTF-8; save it as UTF-8$/
  ],
  'deeply nested JSON': ['a.json', `{"mcpServers":${deep('[', ']')}}`, /^a\.json: it is nested too deeply$/],
  'deeply nested YAML': ['a.yaml', `mcpServers: ${deep('[', ']')}`, /^a\.yaml, line 1: it is nested too deeply$/],
  'a path of Windows as it is': [
    'a.json',
    '{"mcpServers":\n{"a":{"command":"C:\\Users\\me\\node.exe"}}}',
    /^a\.json, line 2: this is not JSON \(invalid escape character; write \\\\ for each \\, as in "C:\\\\Users"\)$/
  ],
  'one server without a name': [
    'a.json',
    '{"url":"https://example.com/mcp"}',
    /^a\.json is one server without a name; put it into an object/
  ],
  'deeply nested TOML': ['a.toml', `a = ${deep('[', ']')}`, /^a\.toml.*: /],
  'billions of values from a few lines of YAML': [
    'a.yaml',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`).join('\n')}\nmcpServers: *i\n`,
    /^a\.yaml: it uses anchors more than 100 times$/
  ],
  'more servers in YAML than one gateway serves': [
    'a.yaml',
    `mcpServers:\n${many(20_000)
      .map(name => `  ${name}:\n    command: x\n`)
      .join('')}`,
    /^a\.yaml: it has 20000 servers, and one gateway serves at most 1000; remove /
  ],
  'more servers in JSON than one gateway serves': [
    'a.json',
    `{"mcpServers":{${many(100_000)
      .map(name => `"${name}":{"command":3}\n`)
      .join()}}}`,
    /^a\.json: it has 100000 servers, and one gateway serves at most 1000; remove /
  ],
  'as many servers of one name': [
    'a.json',
    `{"mcpServers":{${many(100_000)
      .map(() => '"a":{"command":"x"}\n')
      .join()}}}`,
    /^a\.json: it has 100000 servers, and one gateway serves at most 1000; remove /
  ],
  'very long YAML': [
    'a.yaml',
    `mcpServers:\n${'  # \n'.repeat(400_000)}`,
    /^a\.yaml: YAML may have at most 1048576 characters, and this has 2000012; write it as JSON, or keep the servers in a file of their own$/
  ],
  'a key that is there twice in YAML': [
    'a.yaml',
    'mcpServers:\n  a: { command: x }\n  b: { command: x }\n  a: { command: y }\n',
    /^a\.yaml, line 4: "a" is there twice; rename or remove one of them$/
  ],
  'wrong YAML': ['a.yml', 'mcpServers:\n  - name: x\n   command: y\n', /^a\.yml, line \d: this is not YAML \(/],
  'a list that is a text': [
    'a.json',
    '{"mcpServers":"x"}',
    /^a\.json: mcpServers must be an object with the servers by name$/
  ],
  'a misspelt list': [
    'a.json',
    '{"mcpServer":{"a":{"command":"x"}}}',
    /^a\.json has no servers; did you mean "mcpServers" where it has "mcpServer"\?$/
  ],
  'a server without a list around it': [
    'a.json',
    '{"files":{"command":"npx"}}',
    /^a\.json has no servers; put "files", and others that are servers, into an object "mcpServers"$/
  ],
  'a name that is there twice': [
    'a.json',
    '{"mcpServers":{\n"a":{"command":"x"},\n"a":{"command":"y"}}}',
    /^a\.json, line 3: server "a" is there twice; rename or remove one of them$/
  ],
  'a list that is there twice': [
    'a.json',
    '{"mcpServers":{"a":{"command":"x"}},\n"mcpServers":{"b":{"command":"y"}}}',
    /^a\.json, line 2: "mcpServers" is there twice; put all servers into one$/
  ],
  'a server that is a text': [
    'a.json',
    '{"mcpServers":{"a":"npx x"}}',
    /^a\.json, line 1: server "a" must be an object/
  ],
  'a file of variables that is not there': [
    'a.json',
    '{"mcpServers":{"a":{"command":"x","envFile":".env"}}}',
    /^a\.json, line 1: server "a": envFile needs the file \.env, which is not there$/
  ],
  'a variable of the client': [
    'a.json',
    '{"mcpServers":{"a":{"command":"${config:pick}"}}}', // eslint-disable-line no-template-curly-in-string
    /^a\.json, line 1: server "a": command uses \$\{config:pick\}, which only the client knows/
  ]
}

for (const [what, [name, text, mistake]] of Object.entries(refused)) {
  t.test(`${what} is refused in words`, { timeout: 30_000 }, async t => {
    const { mistakes } = await read(t, name, text)
    t.equal(mistakes.length, 1, mistakes.join('\n').slice(0, 500))
    t.match(mistakes[0], mistake)
  })
}

t.test('the servers of all files and of the option together are bounded, too', async t => {
  const servers = (prefix: string) => Object.fromEntries(many(501).map(name => [prefix + name, { command: 'x' }]))
  const place = await folder(t, { 'a.json': JSON.stringify({ mcpServers: servers('a') }) })
  const around = { env: {}, home: undefined, cwd: '/' }
  const mcpConfig = [join(place, 'a.json')]
  await t.rejects(readEntries(flatten(resolveOptions({ mcpConfig, mcpServers: servers('b') })), around), {
    message: /^the configuration in all: it has 1002 servers, and one gateway serves at most 1000; remove /
  })
  t.equal((await readEntries(flatten(resolveOptions({ mcpConfig })), around)).entries.length, 501)
})

t.test('the time for YAML grows with its length, not with the square of it', async t => {
  const text = (count: number): string => `mcpServers:\n${many(count).map(name => `  ${name}:\n    x: y\n`).join('')}`
  const [short, long] = [text(4_000), text(32_000)]
  parseYaml(short)
  const ratio = await bestTime(20, async () => cpuTime(() => parseYaml(long)) / cpuTime(() => parseYaml(short)))
  t.ok(ratio < 20, `eight times as much takes ${ratio.toFixed(1)} times as long`)
})

t.test('a folder and a missing file are refused in words', async t => {
  const place = await folder(t, {})
  await mkdir(join(place, 'sub'))
  await t.rejects(
    readEntries(flatten(resolveOptions({ mcpConfig: [join(place, 'sub'), join(place, 'none')] })), {
      env: {},
      home: undefined,
      cwd: '/'
    }),
    { message: `${place}/sub: this is not a file; ${place}/none: there is no such file` }
  )
})

t.test('a file without servers is a warning', async t => {
  t.strictSame((await read(t, 'settings.json', '{"theme":"dark"}')).warnings, [
    'settings.json has no servers: none of mcpServers, servers, mcp_servers, context_servers is in it'
  ])
  t.strictSame((await read(t, 'settings.json', '{"mcpServers":{}}')).warnings, [])
})

t.test('names that reach prototypes are names like others', async t => {
  for (const [name, text] of [
    ['a.json', '{"mcpServers":{"__proto__":{"command":"x","env":{"__proto__":"1"},"__proto__":{"args":["y"]}}}}'],
    ['a.toml', '[mcp_servers.__proto__]\ncommand = "x"\n'],
    ['a.yaml', 'mcpServers:\n  __proto__:\n    command: x\n']
  ] as const) {
    const { aliases, entries } = await read(t, name, text)
    t.strictSame(aliases, ['proto'], name)
    t.match(entries, [{ address: { command: 'x', args: [] } }])
  }
  t.equal(({} as Record<string, unknown>)['command'], undefined)
})

t.test('comments, a byte order mark and commas at the end are accepted', async t => {
  t.strictSame(
    (await read(t, 'a.json', '\uFEFF// servers\n{ "mcpServers": { /* one */ "a": { "command": "x", }, }, }')).aliases,
    ['a']
  )
})

t.test('names that are there twice elsewhere in the file of a client do not matter', async t => {
  t.strictSame((await read(t, 'settings.json', '{"theme":1,"theme":2,"mcpServers":{"a":{"command":"x"}}}')).aliases, [
    'a'
  ])
})

t.test('what the user of a client approved is no warning; a choice of tools that has no meaning here is', async t => {
  const approved =
    '[mcp_servers.a]\ncommand = "x"\ndefault_tools_approval_mode = "approve"\n[mcp_servers.a.tools.open]\napproval_mode = "approve"\n'
  t.strictSame((await read(t, 'config.toml', approved)).warnings, [])
  t.match((await read(t, 'a.json', '{"mcpServers":{"a":{"command":"x","tools":["read"]}}}')).warnings, [
    /tools has no meaning for Patchbay/
  ])
})

t.test('a field that is not known is a warning, once for each file', async t => {
  const { warnings } = await read(
    t,
    'a.json',
    '{"mcpServers":{"a":{"command":"x","colour":"red","excludeTool":["y"]},"b":{"command":"y","colour":"blue"}}}'
  )
  t.strictSame(warnings, [
    'a.json, line 1: server "a": colour has no meaning for Patchbay',
    'a.json, line 1: server "a": excludeTool has no meaning for Patchbay; did you mean "excludeTools"?'
  ])
})

t.test('a value is expanded once, and nothing of a shell', async t => {
  const { entries } = await read(
    t,
    'a.json',
    JSON.stringify({
      mcpServers: {
        a: {
          command: 'sh',
          // eslint-disable-next-line no-template-curly-in-string
          args: ['-c', 'echo $HOME ${#list} ${1} ${A} ${NONE:-${A}', '${A:-b}${EMPTY:-c}${EMPTY}']
        }
      }
    }),
    { A: '${B}', EMPTY: '' } // eslint-disable-line no-template-curly-in-string
  )
  t.match(entries, [{ address: { args: ['-c', 'echo $HOME ${#list} ${1} ${B} ${NONE:-${B}', '${B}c'] } }]) // eslint-disable-line no-template-curly-in-string
})

t.test('a server with a mistake is left out, and the others of the file are served', async t => {
  const servers = {
    good: '{"command":"x"}',
    unset: '{"command":"x","env":{"KEY":"${NOT_SET}"}}', // eslint-disable-line no-template-curly-in-string
    list: '{"command":"x","args":"y"}',
    home: '{"command":"~/bin/server"}',
    sandboxed: '{"command":"x","sandboxEnabled":true}',
    boxed: '{"command":"x","sandbox":{"network":{}}}',
    free: '{"command":"x","sandboxEnabled":false,"sandbox":{}}',
    broken: '{"url":"https://example.com/mcp","headers":{"X-Key":"a\\r\\nX-Other: b"}}',
    greek: '{"url":"https://example.com/mcp","headers":{"X-Key":"λ"}}',
    odd: '{"url":"https://example.com/mcp","headers":{"X Key":"a"}}',
    fine: '{"url":"https://example.com/mcp","headers":{"X-Key":"a\\té"}}'
  }
  const { aliases, mistakes } = await read(
    t,
    'a.json',
    `{"servers":{\n${Object.entries(servers)
      .map(([name, text]) => `"${name}":${text}`)
      .join(',\n')}}}`
  )
  t.strictSame(aliases, ['good', 'free', 'fine'])
  t.match(mistakes, [
    /^a\.json, line 3: server "unset": env\.KEY needs the environment variable NOT_SET/,
    /^a\.json, line 4: server "list": args must be a list of strings$/,
    'a.json, line 5: server "home": command begins with ~, which only a shell knows; write ${userHome} for it', // eslint-disable-line no-template-curly-in-string
    /^a\.json, line 6: server "sandboxed": sandboxEnabled asks for a sandbox of its client, which Patchbay does not have; put one into command/,
    /^a\.json, line 7: server "boxed": sandbox asks for a sandbox/,
    /^a\.json, line 9: server "broken": headers\.X-Key has characters that HTTP does not allow/,
    /^a\.json, line 10: server "greek": headers\.X-Key has characters that HTTP does not allow/,
    /^a\.json, line 11: server "odd": headers has a name with characters that HTTP does not allow/
  ])
})

t.test('a server is refused without its sandbox unless it says false, whatever else it says', async t => {
  const values = ['true', '"true"', '"false"', '1', '0', '{}', 'false']
  for (const value of values) {
    const { aliases } = await read(t, 'a.json', `{"servers":{"a":{"command":"x","sandboxEnabled":${value}}}}`)
    t.strictSame(aliases, value === 'false' ? ['a'] : [], value)
    const all = await read(t, 'a.json', `{"sandboxEnabled":${value},"servers":{"a":{"command":"x"}}}`)
    t.strictSame(all.aliases, value === 'false' ? ['a'] : [], `${value} for all`)
  }
})

t.test('a sandbox for all servers of a file is refused for each, unless one needs none', async t => {
  const { aliases, mistakes } = await read(
    t,
    'a.json',
    '{"sandboxEnabled":true,"servers":{"a":{"command":"x"},"b":{"command":"x","sandboxEnabled":false}}}'
  )
  t.strictSame(aliases, ['b'])
  t.match(mistakes, [/server "a": sandboxEnabled asks for a sandbox/])
})

t.test('an argument that begins with ~ is a warning', async t => {
  const { aliases, warnings } = await read(
    t,
    'a.json',
    '{"mcpServers":{"a":{"command":"x","args":["~/Documents","~","a~/b"]}}}'
  )
  t.strictSame(aliases, ['a'])
  t.strictSame(warnings, [
    // eslint-disable-next-line no-template-curly-in-string
    'a.json, line 1: server "a": args.0 begins with ~, which only a shell knows, so the server gets it as it is; write ${userHome} for it'
  ])
})

t.test('YAML with many servers, keys and brackets is not taken for nested', async t => {
  const server = (index: number): string =>
    `  s${index}:\n    command: sh\n    args: [-c, "a: b: c - d ? e [", {}]\n    env: { A: '1', B: '2', C: '[' }\n`.replace(
      ', {}',
      ''
    )
  const { aliases, mistakes } = await read(
    t,
    'a.yaml',
    `mcpServers:\n${Array.from({ length: 50 }, (_, index) => server(index)).join('')}`
  )
  t.strictSame(mistakes, [])
  t.equal(aliases.length, 50)
})
