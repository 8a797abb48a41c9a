import { join } from 'node:path'
import t from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { versions } from '../../../protocol/revisions/table.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { folder } from '../../support/process.js'

const AROUND = { env: { TOKEN: 's3cret', EMPTY: '' }, home: '/home/ada', cwd: '/work' }

const read = async (mcpServers: Record<string, object>, env: Record<string, string> = AROUND.env) =>
  await readEntries(flatten(resolveOptions({ mcpServers })), { ...AROUND, env })

/** The sentences about what is wrong. */
async function mistakes (mcpServers: Record<string, object>): Promise<string[]> {
  const { leftOut } = await read(mcpServers)
  return leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => text))
}

t.test('a server with a command has every default filled in', async t => {
  const { entries, warnings } = await read({
    // eslint-disable-next-line no-template-curly-in-string
    'My Files': { command: 'npx', args: ['-y', 'files', 1], env: { KEY: '${TOKEN}' } }
  })
  t.strictSame(warnings, [])
  t.strictSame(entries, [
    {
      alias: 'my-files',
      name: 'My Files',
      source: 'option mcpServers',
      disabled: false,
      timeout: undefined,
      includeTools: [],
      excludeTools: [],
      schemas: 'safe',
      prefix: undefined,
      start: 'eager',
      idle: undefined,
      isolate: 'none',
      scopes: undefined,
      roots: undefined,
      elicitation: true,
      sampling: true,
      address: { kind: 'stdio', command: 'npx', args: ['-y', 'files', '1'], env: { KEY: 's3cret' }, cwd: undefined }
    }
  ])
})

t.test('a server with a URL', async t => {
  const { entries } = await read({
    // eslint-disable-next-line no-template-curly-in-string
    a: { url: 'https://ada:p%20w@example.com/mcp', headers: { 'X-Key': '${env:TOKEN}' } },
    b: { url: 'wss://example.com/mcp' },
    c: { type: 'ws', url: 'https://example.com/mcp' }
  })
  t.strictSame(
    entries.map(({ address }) => address),
    [
      {
        kind: 'any',
        url: 'https://example.com/mcp',
        headers: { 'X-Key': 's3cret', Authorization: 'Basic YWRhOnAgdw==' }
      },
      { kind: 'websocket', url: 'wss://example.com/mcp', headers: {} },
      { kind: 'websocket', url: 'wss://example.com/mcp', headers: {} }
    ]
  )
})

t.test('a user or password in a URL that is not percent-encoded is taken as it is', async t => {
  const { entries: [entry] } = await read({ a: { url: 'https://ada:50%@example.com/mcp' } })
  t.match(entry?.address, {
    url: 'https://example.com/mcp',
    headers: { Authorization: `Basic ${Buffer.from('ada:50%').toString('base64')}` }
  })
})

t.test('roots become file: URIs, and may have variables in either form', async t => {
  const {
    entries: [entry]
  } = await read({ a: { command: 'x', roots: ['file:///${env:TOKEN}', '/${env:TOKEN}/b'] } }) // eslint-disable-line no-template-curly-in-string
  t.strictSame(entry?.roots, ['file:///s3cret', 'file:///s3cret/b'])
})

t.test('everything that is wrong is reported at once, by option, without values', async t => {
  t.strictSame(
    await mistakes({
      a: { command: 'x', env: { KEY: 'a ${UNSET} ${env:ALSO}' } }, // eslint-disable-line no-template-curly-in-string
      b: {},
      c: { command: 'x', url: 'https://example.com' },
      d: { type: 'htttp', url: 'https://example.com' },
      sse: { command: 'x' },
      e: { url: 'ftp://secret.example.com' },
      'My-Files': { command: 'x' },
      'my files': { command: 'y' }
    }),
    [
      'option mcpServers.a.env.KEY needs the environment variable UNSET, which is not set',
      'option mcpServers.a.env.KEY needs the environment variable ALSO, which is not set',
      'option mcpServers.b needs a command or a url',
      'option mcpServers.c has both a command and a url; remove one, or say which is meant with type',
      'option mcpServers.d.type must be stdio, http, sse or websocket; did you mean "http"?',
      'option mcpServers.sse cannot have this name, because /mcp/sse is a URL of the gateway itself; give it another name',
      'option mcpServers.e.url must begin with http:, https:, ws: or wss:, not ftp:',
      'option mcpServers.my files has the same name in URLs and tools, "my-files", as "My-Files" (option mcpServers); rename or remove one of them'
    ]
  )
})

t.test('a revision that does not exist leaves out its entry alone, and the known ones are named', async t => {
  const known = `must be one of ${versions.join(', ')}`
  const wrong = {
    old: { command: 'x', revision: '2025-11-26' },
    number: { url: 'https://example.com/mcp', revision: 20251125 },
    nothing: { command: 'x', revision: '' }
  }
  const servers = { ...wrong, fine: { command: 'x', revision: versions.at(-1) } }
  const place = await folder(t, { 'mcp.json': JSON.stringify({ mcpServers: servers }) })
  const file = join(place, 'mcp.json')
  const { entries, leftOut } = await readEntries(flatten(resolveOptions({ mcpConfig: [file] })), AROUND)
  t.match(entries, [{ alias: 'fine', revision: versions.at(-1) }])
  t.strictSame(
    leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => text)),
    Object.keys(wrong).map(name => `${file}, line 1: server "${name}": revision ${known}`)
  )
  t.strictSame(await mistakes({ old: wrong.old, fine: servers.fine }), [`option mcpServers.old.revision ${known}`])
})

t.test('a file of a client that is larger than maxMcpConfig is refused', async t => {
  const place = await folder(t, { 'mcp.json': JSON.stringify({ mcpServers: { a: { command: 'x' } } }) })
  const file = join(place, 'mcp.json')
  t.match((await readEntries(flatten(resolveOptions({ mcpConfig: [file] })), AROUND)).entries, [
    { alias: 'a', source: file, address: { cwd: place } }
  ])
  await t.rejects(readEntries(flatten(resolveOptions({ mcpConfig: [file], limits: { maxMcpConfig: 20 } })), AROUND), {
    message: `${file}: it has more than 20 bytes (limit maxMcpConfig)`
  })
})

t.test('an entry that is this gateway itself is left out, with a warning', async t => {
  const servers = {
    patchbay: { command: 'patchbay', args: ['--stdio', '--mcp-config', 'mcp.json'] },
    other: { command: 'patchbay', args: ['--stdio', '--mcp-config', 'other.json'] },
    url: { url: 'http://localhost:9000/mcp' },
    near: { url: 'http://localhost:9001/mcp' }
  }
  const place = await folder(t, { 'mcp.json': JSON.stringify({ mcpServers: servers }) })
  const file = join(place, 'mcp.json')
  const { entries, warnings } = await readEntries(flatten(resolveOptions({ mcpConfig: [file], port: 9000 })), AROUND)
  t.strictSame(entries.map(({ alias }) => alias), ['other', 'near'])
  t.strictSame(warnings, [
    `${file}, line 1: server "patchbay" is this gateway itself; it is left out`,
    `${file}, line 1: server "url" is this gateway itself; it is left out`
  ])
  const overStdio = await readEntries(flatten(resolveOptions({ mcpConfig: [file], port: 9000, http: false })), AROUND)
  t.strictSame(
    overStdio.entries.map(({ alias }) => alias),
    ['other', 'url', 'near'],
    'a gateway that does not listen is not the one with the URL'
  )
})

t.test('a disabled server is listed as disabled, whatever variables it lacks', async t => {
  /* eslint-disable no-template-curly-in-string */
  const { entries, warnings } = await read({
    url: { url: '${NOT_SET}/mcp', headers: { Authorization: 'Bearer ${NOT_SET}' }, disabled: true },
    host: { url: 'https://${NOT_SET}/mcp', enabled: false },
    command: { command: '${NOT_SET}', args: ['${NOT_SET}'], env: { KEY: '${NOT_SET}' }, disabled: true },
    nothing: { disabled: true },
    kind: { type: 'carrier-pigeon', url: 'https://example.com', disabled: true }
  })
  /* eslint-enable no-template-curly-in-string */
  t.strictSame(
    entries.map(({ alias, disabled }) => [alias, disabled]),
    ['url', 'host', 'command', 'nothing', 'kind'].map(alias => [alias, true])
  )
  t.strictSame(warnings, [])
})

t.test('of two servers with one name, one that is disabled gives way', async t => {
  const off = { command: 'off', disabled: true }
  for (const servers of [{ 'a b': off, 'a-b': { command: 'on' } }, { 'a b': { command: 'on' }, 'a-b': off }]) {
    const { entries } = await read(servers)
    t.match(entries, [{ alias: 'a-b', disabled: false, address: { command: 'on' } }])
    t.equal(entries.length, 1)
  }
  t.match(await mistakes({ 'a b': { command: 'on' }, 'a-b': { command: 'other' } }), [
    /has the same name in URLs and tools, "a-b"/
  ])
})

t.test('how a person signs in is read in the spellings of clients, with variables', async t => {
  const url = 'https://mcp.example.com/mcp'
  const { entries, warnings, leftOut } = await read({
    own: { url, oauth: { clientId: 'me', clientSecret: '${TOKEN}', scopes: ['a'], callbackPort: 8765 } }, // eslint-disable-line no-template-curly-in-string
    cursor: { url, auth: { CLIENT_ID: 'me', CLIENT_SECRET: 'hidden', scopes: ['a', 'b'] } },
    codex: { url, oauth: { client_id: 'me', callback_port: 8765 } },
    gemini: { url, oauth: { enabled: true, clientId: 'me', authorizationUrl: 'https://a.example', scopes: ['a'] } },
    kiro: { url, oauth: { clientId: 'me' }, oauthScopes: ['a'] },
    text: { url, oauth: { scopes: 'a b' } },
    flag: { url, oauth: true }
  })
  t.same([warnings, leftOut], [[], []])
  t.same(Object.fromEntries(entries.map(({ alias, oauth }) => [alias, oauth])), {
    own: { clientId: 'me', clientSecret: 's3cret', scopes: ['a'], callbackPort: 8765 },
    cursor: { clientId: 'me', clientSecret: 'hidden', scopes: ['a', 'b'] },
    codex: { clientId: 'me', callbackPort: 8765 },
    gemini: { clientId: 'me', scopes: ['a'] },
    kiro: { clientId: 'me', scopes: ['a'] },
    text: { scopes: ['a', 'b'] },
    flag: undefined
  })
  t.match(await mistakes({ wrong: { url, oauth: 'yes' }, port: { url, oauth: { callbackPort: 0 } } }), [
    'option mcpServers.wrong.oauth must be an object with clientId, clientSecret, scopes, callbackPort, redirectUri, grant or issuer',
    'option mcpServers.port.oauth.callbackPort must be a port'
  ])
})
