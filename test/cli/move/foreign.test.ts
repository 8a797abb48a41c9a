import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { quoted } from '../../../cli/places.js'
import { readSettings } from '../../../cli/settings/read-settings.js'
import { exporter, home } from './home.js'

/* eslint-disable no-template-curly-in-string */
const text = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

t.test('neither the default of an input nor the name of a folder makes a program run', async t => {
  const at = await home(t, {
    'work/.vscode/mcp.json': text({
      inputs: [{ id: 'x', type: 'promptString', default: '${command:touch pwned}' }],
      servers: { sly: { command: 'a', args: ['${input:x}'] }, fine: { command: 'b' } }
    })
  })
  t.match(await at.import({ write: true }), '  - sly: skipped, because the default of its input x would be read as a variable\n')
  t.notMatch(readFileSync(at.config, 'utf8'), '${command:')
  const cwd = at.path('${command:touch pwned}')
  mkdirSync(cwd)
  writeFileSync(`${cwd}/.mcp.json`, text({ mcpServers: { odd: { command: 'c' } } }))
  const printed = await at.import({ write: true, machine: { ...at.machine, cwd } })
  t.match(printed, /- odd: skipped, because the name of its folder, .*, would be read as a variable\n/)
  mkdirSync(at.path('command:touch pwned'))
  writeFileSync(at.path('command:touch pwned/.mcp.json'), text({ mcpServers: { built: { command: 'c', args: ['${${workspaceFolderBasename}}'] } } }))
  const built = await at.import({ write: true, machine: { ...at.machine, cwd: at.path('command:touch pwned') } })
  t.match(built, /- built: skipped, because it runs a program for a value, and /)
  t.notMatch(readFileSync(at.config, 'utf8'), '${command:')
})

t.test('an export leaves a server of another account, and takes the one whose secret Patchbay has', async t => {
  const github = (token: string): object => ({ command: 'npx', args: ['github'], env: { GITHUB_TOKEN: token } })
  const at = await home(t, {
    '.cursor/mcp.json': text({ mcpServers: { 'github-home': github('ghp_home-home-home-2'), 'github-work': github('ghp_work-work-work-1'), mine: github('ghp_mine-mine-mine-3') } }),
    '.config/patchbay/patchbay.json': text({ mcpServers: { 'github-work': github('${GITHUB_TOKEN}'), mine: github('ghp_other-other-other-4') } })
  }, { GITHUB_TOKEN: 'ghp_work-work-work-1' })
  const printed = await exporter(at).export('cursor')
  t.match(printed, '    github-home: stays, because Patchbay serves one like it, but with other secrets')
  t.match(printed, '    mine: stays, because Patchbay serves one like it, but with other secrets')
  t.match(printed, '  - github-work: Patchbay serves it\n')
  t.strictSame(Object.keys((JSON.parse(at.text('.cursor/mcp.json')) as { mcpServers: object }).mcpServers).sort(), ['github-home', 'mine', 'patchbay'])
  const unknown = await home(t, {
    '.cursor/mcp.json': text({ mcpServers: { 'github-home': github('ghp_home-home-home-2'), 'github-work': github('ghp_work-work-work-1') } }),
    '.config/patchbay/patchbay.json': text({ mcpServers: { 'github-work': github('${GITHUB_TOKEN}') } })
  })
  await exporter(unknown).export('cursor')
  t.strictSame(Object.keys((JSON.parse(unknown.text('.cursor/mcp.json')) as { mcpServers: object }).mcpServers).sort(), ['github-home', 'patchbay'])
})

t.test('a config file in the place of the user that others can write is refused, unless it is named', async t => {
  const at = await home(t, {
    '.cursor/mcp.json': text({ mcpServers: { one: { command: 'a' } } }),
    '.config/patchbay/patchbay.json': '{"port":9001}'
  })
  t.match(readSettings([], at.machine.env, at.place).options, { port: 9001 })
  chmodSync(at.config, 0o666)
  const refusal = /patchbay\.json: it is read only if it is the user's own, or named with --config, and .* can be written by other users; run chmod go-w on it/
  t.throws(() => readSettings([], at.machine.env, at.place), refusal)
  await t.rejects(at.import({ write: true }), refusal)
  t.match(readSettings(['--config', at.config], at.machine.env, at.place).options, { port: 9001 })
})

t.test('paths in printed commands are quoted for a shell', async t => {
  t.equal(quoted('/a/b-c.json', 'linux'), '/a/b-c.json')
  t.equal(quoted("/it's $(here)", 'linux'), "'/it'\\''s $(here)'")
  t.equal(quoted('C:\\a b', 'win32'), '"C:\\a b"')
  const at = await home(t, { 'a $(b)/.mcp.json': text({ mcpServers: { one: { command: 'a' } } }) })
  const printed = await at.import({ machine: { ...at.machine, cwd: at.path('a $(b)') } })
  t.match(printed, `export claude-code --file '${at.path('a $(b)/.mcp.json')}'   (1 server`)
  t.notOk(existsSync(at.config))
})
