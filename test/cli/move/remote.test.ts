import { readFileSync } from 'node:fs'
import t from 'tap'
import { exporter, home } from './home.js'

const PLACE = '.config/Claude/claude_desktop_config.json'
const json = (mcpServers: object): string => `${JSON.stringify({ mcpServers }, null, 2)}\n`
const bridge = (...args: string[]): { command: string, args: string[] } => ({ command: 'npx', args: ['-y', 'mcp-remote', ...args] })
const FAR = 'https://mcp.example.com/mcp'

/** Entries of Claude Desktop, and what Patchbay has in their place; undefined where it is the program. */
const ROWS: Array<[what: string, entry: object, expected: object | undefined]> = [
  ['the usual form', bridge(FAR), { url: FAR }],
  ['a version', { command: 'npx', args: ['mcp-remote@0.1.38', FAR] }, { url: FAR }],
  ['another launcher', { command: '/opt/bin/bunx', args: ['mcp-remote@latest', FAR] }, { url: FAR }],
  ['pnpm', { command: 'pnpm', args: ['dlx', 'mcp-remote', FAR] }, { url: FAR }],
  ['Windows', { command: 'cmd', args: ['/c', 'npx.cmd', '-y', 'mcp-remote', FAR] }, { url: FAR }],
  ['installed', { command: 'C:\\tools\\mcp-remote.cmd', args: [FAR] }, { url: FAR }],
  ['a port and flags of its own sign-in', bridge(FAR, '3334', '--debug', '--allow-http', '--host', '127.0.0.1'), { url: FAR }],
  ['HTTP alone', bridge(FAR, '--transport', 'http-only'), { type: 'http', url: FAR }],
  ['SSE alone', bridge('https://mcp.example.com/sse', '--transport', 'sse-only'), { type: 'sse', url: 'https://mcp.example.com/sse' }],
  ['either', bridge(FAR, '--transport', 'sse-first'), { url: FAR }],
  ['headers', bridge(FAR, '--header', 'X-Team: a:b', '--header', 'X-Level:info'), { url: FAR, headers: { 'X-Team': 'a:b', 'X-Level': 'info' } }],
  [
    'a header with a variable of its env',
    { ...bridge(FAR, '--header', 'Authorization:${AUTH}'), env: { AUTH: 'Bearer abc' } }, // eslint-disable-line no-template-curly-in-string
    { url: FAR, headers: { Authorization: 'Bearer abc' } }
  ],
  ['a header with another variable', bridge(FAR, '--header', 'X-A: ${A}'), { url: FAR, headers: { 'X-A': '${A}' } }], // eslint-disable-line no-template-curly-in-string
  ['fields for all servers', { ...bridge(FAR), includeTools: ['a'] }, { url: FAR, includeTools: ['a'] }],
  ['a client of its own', bridge(FAR, '--static-oauth-client-info', '{"client_id":"x"}'), undefined],
  ['a flag of later versions', bridge(FAR, '--ignore-tool', 'x'), undefined],
  ['a transport of later versions', bridge(FAR, '--transport', 'websocket'), undefined],
  ['a header without a name', bridge(FAR, '--header', 'x'), undefined],
  ['another variable', { ...bridge(FAR), env: { NODE_EXTRA_CA_CERTS: '/ca.pem' } }, undefined],
  ['no URL', bridge('--help'), undefined],
  ['another program of that name', { command: 'npx', args: ['-y', '@other/mcp-remote', FAR] }, undefined],
  ['an argument that has the name', { command: 'npx', args: ['-y', 'x', 'mcp-remote', FAR] }, undefined]
]

for (const [what, entry, expected] of ROWS) {
  t.test(`a server behind mcp-remote is imported as its URL, and exported again: ${what}`, async t => {
    const before = json({ far: entry })
    const at = await home(t, { [PLACE]: before })
    await at.import({ write: true, secrets: 'keep' })
    t.strictSame(JSON.parse(readFileSync(at.config, 'utf8')), { mcpServers: { far: expected ?? entry } })
    const { export: run, undo } = exporter(at)
    t.match(await run('claude-desktop'), '  - far: Patchbay serves it\n')
    await undo('claude-desktop')
    t.equal(at.text(PLACE), before)
    t.match(await at.import(), '  = far: is in the config file already\n')
  })
}

t.test('the output says what became of mcp-remote, and names the sign-in', async t => {
  const at = await home(t, {
    [PLACE]: json({
      far: bridge(FAR, '3334', '--debug'),
      own: bridge(FAR, '--static-oauth-client-info=@secret.json'),
      ca: { ...bridge(FAR), env: { NODE_EXTRA_CA_CERTS: '/ca.pem' } }
    })
  })
  const printed = await at.import()
  t.match(printed, '  + far: its URL in place of mcp-remote, so that Patchbay signs in itself; without the port 3334, --debug, which have no meaning here\n')
  t.match(printed, '  + own: stays the program mcp-remote, because Patchbay does not know its argument --static-oauth-client-info\n')
  t.match(printed, '  + ca: stays the program mcp-remote, because Patchbay does not know what the variable NODE_EXTRA_CA_CERTS does there\n')
  t.match(printed, /Servers with a URL may want a sign-in/)
})

t.test('a config file that has mcp-remote itself serves the entry, too', async t => {
  const entry = bridge(FAR)
  const at = await home(t, { [PLACE]: json({ far: entry }), '.config/patchbay/patchbay.json': json({ far: entry }) })
  t.match(await at.import({ write: true }), '  = far: is in the config file already\n')
  t.match(await exporter(at).export('claude-desktop'), '  - far: Patchbay serves it\n')
})

t.test('a token in a header or in its variable is hidden as in that of a URL', async t => {
  const before = json({
    one: bridge(FAR, '--header', 'Authorization:Bearer very-secret-1'),
    two: { ...bridge(`${FAR}2`, '--header', 'Authorization:${AUTH}'), env: { AUTH: 'Bearer very-secret-2' } } // eslint-disable-line no-template-curly-in-string
  })
  const at = await home(t, { [PLACE]: before })
  const printed = await at.import({ write: true })
  t.match(readFileSync(at.config, 'utf8'), '"Bearer ${TWO_TOKEN}"') // eslint-disable-line no-template-curly-in-string
  const exported = await exporter(at).export('claude-desktop')
  for (const text of [printed, exported, readFileSync(at.config, 'utf8')]) t.notMatch(text, /very-secret/)
})

t.test('a variable that is put together of two runs no program', async t => {
  const entry = { ...bridge(FAR, '--header', 'X-A: ${A}mand:id}'), env: { A: '${com' } } // eslint-disable-line no-template-curly-in-string
  const at = await home(t, { [PLACE]: json({ far: entry }) })
  t.match(await at.import(), /far: skipped, because it runs a program for a value/)
})
