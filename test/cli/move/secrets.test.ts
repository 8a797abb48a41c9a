import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { isSecret } from '../../../cli/move/hide-secrets.js'
import { exporter, home } from './home.js'

const servers = (mcpServers: object): string => `${JSON.stringify({ mcpServers }, null, 2)}\n`
const github = (GITHUB_TOKEN: string): object => ({ command: 'npx', args: ['github'], env: { GITHUB_TOKEN } })
const SECRETS = '.config/patchbay/secrets'
const modeOf = (path: string): number => statSync(path).mode & 0o777

t.test('a later import keeps the secrets of an earlier one, in files and as variables', async t => {
  const at = await home(t, { '.cursor/mcp.json': servers({ work: github('ghp_work-work-work-1') }) })
  await at.import({ write: true, secrets: 'files' })
  writeFileSync(at.path('.cursor/mcp.json'), servers({ home: github('ghp_home-home-home-2') }))
  await at.import({ write: true, secrets: 'files' })
  t.equal(at.text(`${SECRETS}/GITHUB_TOKEN`), 'ghp_work-work-work-1\n')
  t.equal(at.text(`${SECRETS}/HOME_GITHUB_TOKEN`), 'ghp_home-home-home-2\n')
  t.match(JSON.parse(at.text('.config/patchbay/patchbay.json')), {
    mcpServers: {
      work: { env: { GITHUB_TOKEN: `\${file:${at.path(SECRETS)}/GITHUB_TOKEN}` } },
      home: { env: { GITHUB_TOKEN: `\${file:${at.path(SECRETS)}/HOME_GITHUB_TOKEN}` } }
    }
  })
  const other = await home(t, {
    '.cursor/mcp.json': servers({ home: github('ghp_home-home-home-2') }),
    '.config/patchbay/patchbay.json': servers({ work: { command: 'x', env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } } }) // eslint-disable-line no-template-curly-in-string
  })
  await other.import({ write: true })
  t.match(other.text('.config/patchbay/patchbay.json'), '"GITHUB_TOKEN": "${HOME_GITHUB_TOKEN}"') // eslint-disable-line no-template-curly-in-string
})

t.test('an import into a config file that is read-only leaves no secret behind', async t => {
  const at = await home(t, {
    '.cursor/mcp.json': servers({ work: github('ghp_work-work-work-1') }),
    '.config/patchbay/patchbay.json': '{}'
  })
  chmodSync(at.config, 0o444)
  await t.rejects(at.import({ write: true, secrets: 'files' }), /is read-only/)
  t.notOk(existsSync(at.path(SECRETS)))
})

t.test('files with secrets are for the user alone, also those that were there', async t => {
  const at = await home(t, {
    '.cursor/mcp.json': servers({ work: github('ghp_work-work-work-1') }),
    [`${SECRETS}/GITHUB_TOKEN`]: 'ghp_work-work-work-1\n'
  })
  await at.import({ write: true, secrets: 'files' })
  t.strictSame(readdirSync(at.path(SECRETS)), ['GITHUB_TOKEN'])
  t.equal(modeOf(at.path(`${SECRETS}/GITHUB_TOKEN`)), 0o600)
  const kept = await home(t, {
    '.cursor/mcp.json': servers({ work: github('ghp_work-work-work-1') }),
    '.config/patchbay/patchbay.json': '{}'
  })
  chmodSync(kept.config, 0o644)
  const printed = await kept.import({ write: true, secrets: 'keep' })
  t.match(printed, 'It has secrets now, so it and its backup are for you alone to read and write.\n')
  for (const file of [kept.config, `${kept.config}.bak`]) t.equal(modeOf(file), 0o600)
})

const HIDDEN = {
  DATABASE_URL: 'postgres://ada:pass-word-1@db.example/shop',
  MAIL: 'smtp://ada:pass@word-2@mail.example',
  PW: 'pass-word-3',
  SSH_PASSPHRASE: 'pass-word-4'
}

t.test('passwords in URLs of variables, and under short names, are neither printed nor written', async t => {
  const at = await home(t, {
    '.cursor/mcp.json': servers({ db: { command: 'db', env: HIDDEN }, off: { command: 'off', env: HIDDEN, disabled: true } }),
    '.config/patchbay/patchbay.json': '{\n  "redis": "redis://me:pass-word-5@redis.example",\n  "mcpServers": {}\n}\n'
  })
  const printed = await at.import({ write: true })
  t.match(printed, '"redis": "redis://me:***@redis.example"')
  t.match(at.text('.config/patchbay/patchbay.json'), '"postgres://ada:${DB_PASSWORD}@db.example/shop"') // eslint-disable-line no-template-curly-in-string
  t.notMatch(at.text('.config/patchbay/patchbay.json'), /pass-?@?word-[1-4]/)
  const { export: run, undo } = exporter(at)
  const after: string[] = []
  const exported = await run('cursor')
  writeFileSync(at.path('.cursor/mcp.json'), `${at.text('.cursor/mcp.json')}\n`)
  await t.rejects(undo('cursor', undefined, after), /was changed since/)
  for (const text of [printed, exported, ...after]) t.notMatch(text, /pass-?@?word-\d/)
})

t.test('secrets of a disabled server in single quotes are not printed', async t => {
  const at = await home(t, {
    '.codex/config.toml': "[mcp_servers.off]\ncommand = 'off'\nenabled = false\nenv = { PW = 'pass-word-1', MAIL = 'smtp://a:pass-word-2@b' }\n",
    '.config/patchbay/patchbay.json': servers({ a: { command: 'a' } })
  })
  const printed = await exporter(at).export('codex')
  t.match(printed, 'PW = ')
  t.notMatch(printed, /pass-word/)
})

t.test('what looks like a secret, and what does not', async t => {
  for (const [name, value] of [
    ['X', 'sk-proj-a1b2c3d4e5f6g7h8'],
    ['X', 'hf_aBcDeFgH12345678'],
    ['X', 'fc-0123456789abcdef0123456789abcdef'],
    ['X', '0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['X', 'AbCd0123EfGh4567IjKl8901'],
    ['API_KEY', 'short-word']
  ] as const) t.ok(isSecret(name, value), value)
  for (const value of [
    'sketch-context-mcp',
    'hf-mcp-server',
    'npm-package-search-mcp',
    'fcontainers-mcp-server-2',
    'claude-3-5-sonnet-20241022',
    'gpt-4o-realtime-preview-2024-12-17',
    'some.host.example.internal-2'
  ]) t.notOk(isSecret('MODEL', value), value)
})

t.test('a secret in the URL of an API, and in a value that should be text, is in no difference', async t => {
  const at = await home(t, {
    '.cursor/mcp.json': servers({ one: { command: 'one' } }),
    '.config/patchbay/patchbay.json': JSON.stringify({
      mcpServers: {
        api: { openapi: 'https://a.example/api.json?key=very-secret-1', credentials: { clientSecret: 'very-secret-2' } },
        odd: { command: 'x', env: { API_TOKEN: { value: 'very-secret-3' } } }
      },
      note: 'https://a.example/?token=very-secret-4'
    })
  })
  const printed = await at.import()
  t.match(printed, '"odd"')
  t.notMatch(printed, /very-secret/)
})

t.test('a line that is too long to look for secrets in is not shown, and its file is exported all the same', async t => {
  const long = 'very-secret-1 '.repeat(600_000)
  const at = await home(t, { '.cursor/mcp.json': `{\n  "note": "${long}",\n  "mcpServers": { "a": { "command": "a" } }\n}\n` })
  await at.import({ write: true })
  const printed = await exporter(at).export('cursor')
  t.match(printed, /^ … \(a line of 8400\d\d\d characters\)$/m)
  t.notMatch(printed, 'very-secret-1')
})
