import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { clientText, COMMAND, exporter, home, type Home } from './home.js'
import { LARGER } from './larger-files.js'

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** The servers that a client would start, by name. */
async function namesIn (file: string, machine: Home['machine']): Promise<string[]> {
  const env = new Proxy({}, { get: () => 'x' })
  const { entries } = await readEntries(flatten(resolveOptions({ mcpConfig: [file] })), {
    env,
    home: machine.home,
    cwd: '/'
  })
  return entries.filter(({ disabled }) => !disabled).map(({ name }) => name)
}

/** The files of the tests of reading, which are those of the clients' documentation. */
const PRINTED: Array<[client: string, source: string, place: string]> = [
  ['claude-desktop', 'claude-desktop/claude_desktop_config.json', '.config/Claude/claude_desktop_config.json'],
  ['claude-code', 'claude-code/.mcp.json', 'work/.mcp.json'],
  ['claude-code', 'claude-code/.claude.json', '.claude.json'],
  ['cursor', 'cursor/.cursor/mcp.json', '.cursor/mcp.json'],
  ['vscode', 'vscode/.vscode/mcp.json', 'work/.vscode/mcp.json'],
  ['codex', 'codex/.codex/config.toml', '.codex/config.toml'],
  ['gemini', 'gemini/.gemini/settings.json', '.gemini/settings.json'],
  ['windsurf', 'windsurf/mcp_config.json', '.codeium/windsurf/mcp_config.json'],
  ['zed', 'zed/.zed/settings.json', '.config/zed/settings.json'],
  ['cline', 'cline/cline_mcp_settings.json', '.cline/mcp.json'],
  ['kiro', 'kiro/.kiro/settings/mcp.json', '.kiro/settings/mcp.json'],
  ['continue', 'continue/.continue/mcpServers/team.yaml', 'work/.continue/mcpServers/team.yaml']
]

const FILES = [
  ...PRINTED.map(([client, source, place]) =>
    ({ client, place, text: clientText(source), what: source, servers: undefined })),
  ...LARGER.map(file => ({ ...file, what: `a larger ${basename(file.place)} of ${file.client}` }))
]

const SHAPES: Record<string, (text: string, place: string) => string> = {
  'as it is': text => text,
  'with CRLF': text => text.replaceAll('\n', '\r\n'),
  'with a byte order mark': text => `\uFEFF${text}`,
  'without a line break at its end': text => text.trimEnd(),
  'with tabs': (text, place) => {
    const isYaml = /\.ya?ml$/.test(place)
    return isYaml ? text : text.replace(/^( {2})+/gm, spaces => '\t'.repeat(spaces.length / 2))
  }
}

for (const { client, place, text, what, servers } of FILES) {
  t.test(`import, serve, export and undo give back the same bytes: ${what}`, async t => {
    for (const [shape, change] of Object.entries(SHAPES)) {
      const served = await roundTrip(t, client, place, change(text, place), shape)
      if (servers !== undefined) t.strictSame(served, servers)
    }
  })
}

/** Gives the names of the servers that Patchbay has of it. */
async function roundTrip (t: Test, client: string, place: string, before: string, shape: string): Promise<string[]> {
  const at = await home(t, { [place]: before, 'work/.env': 'A=b', '.env': 'A=b' })
  const file = at.path(place)
  const { export: run, undo } = exporter(at)
  const all = await namesIn(file, at.machine)
  await at.import({ clients: [client], write: true })
  const served = await namesIn(at.config, at.machine)
  t.strictSame(served, all, `${shape}: every server is in the config file`)
  const preview = await run(client, { file, write: false })
  t.match(preview, 'Nothing was written.')
  t.equal(at.text(place), before)
  const printed = await run(client, { file })
  t.match(printed, `Written: ${file}`)
  t.strictSame(await namesIn(file, at.machine), ['patchbay'], `${shape}: one entry is left`)
  const after = at.text(place)
  t.equal(after.startsWith('\uFEFF'), before.startsWith('\uFEFF'))
  t.equal(after.includes('\r\n'), before.includes('\r\n'))
  if (before.includes('\r\n')) t.notMatch(after.replaceAll('\r\n', ''), '\n', `${shape}: no other line breaks`)
  t.match(await run(client, { file }), 'There is nothing to change.')
  t.match(await undo(client, file), 'byte for byte')
  t.equal(at.text(place), before, `${shape}: the same bytes`)
  t.strictSame(
    readdirSync(dirname(file)).filter(name => name.includes('patchbay-')),
    [],
    'the backup is gone'
  )
  return served
}

t.test('comments, other settings and servers that Patchbay does not have stay where they are', async t => {
  for (const { client, place, text } of LARGER.filter(each => !each.text.startsWith('{"'))) {
    const at = await home(t, { [place]: text })
    await at.import({ clients: [client], write: true })
    await exporter(at).export(client)
    const lines = text.split('\n')
    const kept = at.text(place).split('\n').filter(line => lines.includes(line))
    let from = 0
    for (const line of kept) from = lines.indexOf(line, from) + 1
    t.ok(from > 0, `${client}: lines that stay are in their order`)
    const comments = lines.filter(line => /^\s*(\/\/|# |\/\*)/.test(line) && line !== '# arguments')
    for (const comment of comments) t.ok(kept.includes(comment), `${client}: ${comment}`)
  }
})

/** Lists in TOML, JSON and YAML. */
const words = (config: string): string =>
  [COMMAND[1], '--stdio', '--config', config].map(word => JSON.stringify(word)).join(', ')
const items = (config: string): string => words(config).split(', ').map(word => `      - ${word}\n`).join('')

t.test('the entry launches this Patchbay with this config file, in the form of the client', async t => {
  const toml = (config: string): string =>
    `[mcp_servers.patchbay]\ncommand = "/usr/bin/node"\nargs = [${words(config)}]\n`
  const yaml = (config: string): string =>
    `name: a\nmcpServers:\n  - name: patchbay\n    command: "/usr/bin/node"\n    args:\n${items(config)}`
  const compact = (config: string): string =>
    `{"a":1,"servers":{"patchbay":{"type":"stdio","command":"/usr/bin/node","args":[${words(config).replaceAll(', ', ',')}]}}}`
  const forms: Array<[client: string, place: string, text: string, expected: (config: string) => string]> = [
    ['vscode', '.config/Code/User/mcp.json', '{"a":1}', compact],
    ['codex', '.codex/config.toml', '', toml],
    ['continue', '.continue/config.yaml', 'name: a\n', yaml]
  ]
  for (const [client, place, text, expected] of forms) {
    const servers = '{"mcpServers":{"a":{"command":"a"}}}'
    const at = await home(t, { [place]: text, '.config/patchbay/patchbay.json': servers })
    await exporter(at).export(client)
    t.equal(at.text(place), expected(at.config), client)
  }
})

t.test('a file that was not there is made, and undo removes it', async t => {
  const at = await home(t, { '.config/patchbay/patchbay.json': '{"mcpServers":{"a":{"command":"a"}}}' })
  const { export: run, undo } = exporter(at)
  await run('cursor')
  t.match(JSON.parse(at.text('.cursor/mcp.json')), { mcpServers: { patchbay: { command: '/usr/bin/node' } } })
  t.match(await undo('cursor'), 'which the export had made')
  t.strictSame(readdirSync(at.path('.cursor')), [])
})

t.test('after another change, undo restores nothing and shows what differs, without secrets', async t => {
  const text = `{
  "mcpServers": {
    "one": { "command": "one", "env": { "API_KEY": "very-secret-1" } },
    "off": { "command": "off", "args": ["--token", "very-secret-2"], "disabled": true }
  }
}
`
  const at = await home(t, { '.cursor/mcp.json': text })
  const { export: run, undo } = exporter(at)
  await at.import({ write: true })
  const exported = await run('cursor')
  t.match(exported, '"--token"', 'lines around the change')
  t.notMatch(exported, /very-secret/)
  const changed = at.text('.cursor/mcp.json').replace('{', '{ "mine": true,')
  writeFileSync(at.path('.cursor/mcp.json'), changed)
  const printed: string[] = []
  await t.rejects(undo('cursor', undefined, printed), /was changed since the export, and going back would lose that; take what you need from .*mcp\.json\.patchbay-[0-9a-f]{16}$/)
  t.match(printed.join(''), '+{ "mine": true,')
  t.notMatch(printed.join(''), /very-secret/)
  t.equal(at.text('.cursor/mcp.json'), changed)
  const other = await home(t, { '.cursor/mcp.json': '{}' })
  await t.rejects(exporter(other).undo('cursor'), /there is nothing to undo/)
  await t.rejects(exporter(other).undo('zed'), /is not there/)
})

t.test('a symbolic link stays a link, and a read-only file is refused', async t => {
  const text = json({ mcpServers: { one: { command: 'one' } } })
  const at = await home(t, { '.cursor/mcp.json': text })
  renameSync(at.path('.cursor/mcp.json'), at.path('dotfiles.json'))
  symlinkSync('../dotfiles.json', at.path('.cursor/mcp.json'))
  const { export: run, undo } = exporter(at)
  await at.import({ write: true })
  await run('cursor')
  t.ok(lstatSync(at.path('.cursor/mcp.json')).isSymbolicLink())
  t.match(at.text('dotfiles.json'), '"patchbay"')
  await undo('cursor')
  t.ok(lstatSync(at.path('.cursor/mcp.json')).isSymbolicLink())
  t.equal(at.text('dotfiles.json'), text)
  chmodSync(at.path('dotfiles.json'), 0o444)
  await t.rejects(run('cursor'), /dotfiles\.json is read-only/)
  t.equal(at.text('dotfiles.json'), text)
})

t.test('files that cannot be changed safely are left alone, in words', async t => {
  const config = { '.config/patchbay/patchbay.json': '{"mcpServers":{"a":{"command":"a"}}}' }
  for (const [client, place, text] of [
    ['continue', '.continue/config.yaml', 'mcpServers: [{ name: a, command: a }]\n'],
    ['continue', '.continue/config.json', '{"experimental":{"modelContextProtocolServers":[{"transport":{"type":"stdio","command":"a"}}]}}'],
    ['codex', '.codex/config.toml', 'mcp_servers = { a = { command = "a" } }\n'],
    ['cursor', '.cursor/mcp.json', '{"mcpServers":[{"name":"a","command":"a"}]}']
  ] as const) {
    const at = await home(t, { ...config, [place]: text })
    await t.rejects(exporter(at).export(client), /cannot be changed safely, and is as it was: .*; edit it by hand: /, text)
    t.equal(at.text(place), text)
    t.strictSame(readdirSync(dirname(at.path(place))), [basename(place)])
  }
})

t.test('without servers in the config file, or where it reads that very file, nothing is exported', async t => {
  const text = json({ mcpServers: { one: { command: 'one' } } })
  const at = await home(t, { '.cursor/mcp.json': text })
  await t.rejects(exporter(at).export('cursor'), /has no servers yet: take over those of the clients with .* import --write/)
  const other = await home(t, { '.cursor/mcp.json': text })
  writeFileSync(other.path('c.json'), json({ mcpConfig: [other.path('.cursor/mcp.json')] }))
  await t.rejects(exporter(other).export('cursor', { config: other.path('c.json') }), /import them first, and remove it there/)
  t.equal(readFileSync(join(other.place, '.cursor/mcp.json'), 'utf8'), text)
})
