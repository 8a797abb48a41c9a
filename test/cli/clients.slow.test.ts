import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CLIENTS } from '../../cli/report/client-snippets.js'
import { describeClient, stdioEntry } from '../../cli/report/clients.js'
import { resolveOptions } from '../../options.js'
import { COMMAND } from '../support/command.js'
import { ADA, listed } from '../support/keys.js'
import { folder, initialize, launch, Launched, PROCESSES } from '../support/process.js'

type Entry = Record<string, unknown> & { command?: string, args?: string[], env?: Record<string, string> }

const PAGE = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8')
const SCRIPT = '/path/to/patchbay/dist/cli.js'
const HEADER = 'Bearer <your key>'
const ADDRESS = 'http://127.0.0.1:8080'

/** The code blocks of a section of the page: how the client launches a gateway, and how it connects to one. */
function snippets (title: string): string[] {
  const [, section = ''] = PAGE.split(`\n## ${title}\n`)
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^```(?:json|toml|sh)\n([^]*?)\n```$/gm)].map(
    ([, text]) => text as string
  )
}

/** The entry of a snippet, whatever its form is. */
function entryOf (snippet: string): Entry {
  if (snippet.startsWith('{')) {
    return Object.values(Object.values(JSON.parse(snippet) as Record<string, Record<string, Entry>>)[0] ?? {})[0] ?? {}
  }
  if (snippet.startsWith('[')) return fromToml(snippet)
  const words = [...snippet.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const start = words.indexOf('node')
  const header = words[words.indexOf('--header') + 1]
  return start === -1
    ? {
        url: words.find(word => word.startsWith('http:')),
        ...(words.includes('--header') ? { headers: { Authorization: header?.replace('Authorization: ', '') } } : {})
      }
    : {
        command: 'node',
        args: words.slice(start + 1).filter((word, index, all) => word !== '--method' && all[index - 1] !== '--method')
      }
}

/** Keys, strings, lists of strings and inline tables, which is all that the snippet has. */
function fromToml (text: string): Entry {
  const [head, ...lines] = text.split('\n')
  if (head !== '[mcp_servers.patchbay]') throw new Error(head)
  return Object.fromEntries(lines.map(line => {
    const [, name = '', value = ''] = /^(\w+) = (.*)$/.exec(line) ?? []
    return [name, JSON.parse(value.startsWith('{') ? value.replace(/(\w+) = (?=")/g, '"$1":') : value)]
  })) as Entry
}

/** The URL and the header in the members that a client reads, or in the arguments of the bridge. */
function addressIn (entry: Entry): { url: string, authorization: string | undefined } {
  const headers = (entry['headers'] ?? entry['http_headers'] ?? {}) as { Authorization?: string }
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'] ?? entry.args?.find(arg => arg.startsWith('http:'))
  return { url: String(url), authorization: headers.Authorization ?? entry.env?.['AUTHORIZATION'] }
}

t.test('docs/clients.md has the snippets that the command prints, and they parse', async t => {
  t.equal(PAGE.match(/^## /gm)?.length, Object.keys(CLIENTS).length, 'a section for each client')
  for (const { title, stdio, http } of Object.values(CLIENTS)) {
    t.strictSame(
      snippets(title),
      [
        stdio({ command: 'node', args: [SCRIPT, '--stdio'] }),
        http({ url: `${ADDRESS}/mcp`, headers: { Authorization: HEADER } })
      ],
      title
    )
    for (const snippet of snippets(title)) t.ok(Object.keys(entryOf(snippet)).length > 0, snippet)
  }
  t.equal(
    PAGE.match(/^(Tried|Not tried)[:. (].*2026-\d\d-\d\d/gm)?.length,
    Object.keys(CLIENTS).length,
    'each says what was tried, and when'
  )
})

t.test('what the page has a client launch and where it has it connect is served', { jobs: PROCESSES }, async t => {
  const apiKeys = JSON.stringify([listed('ada', ADA)])
  const url = await launch(t, ['--port', '0', '--ephemeral'], { env: { PATCHBAY_API_KEYS: apiKeys } }).url()
  for (const { title } of Object.values(CLIENTS)) {
    t.test(title, { buffered: true }, async t => {
      const [local, remote] = snippets(title).map(entryOf) as [Entry, Entry]
      t.equal(local.command, 'node')
      const child = spawn(
        process.execPath,
        (local.args ?? []).map(arg => (arg === SCRIPT ? COMMAND : arg)),
        { env: { PATH: process.env['PATH'], PATCHBAY_EPHEMERAL: 'true' } }
      )
      const launched = new Launched(child)
      t.teardown(async () => { child.kill('SIGKILL'); await launched.ended })
      launched.send(initialize)
      t.match(await launched.next(), { id: 'hello', result: { serverInfo: { name: 'mcp-patchbay' } } })
      launched.end()
      t.equal((await launched.exit()).code, 0)

      const { url: printed, authorization = '' } = addressIn(remote)
      const reply = await fetch(printed.replace(ADDRESS, url), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: authorization.replace('<your key>', ADA)
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...initialize })
      })
      t.equal(reply.status, 200)
      await reply.text()
    })
  }
})

t.test('without keys no snippet has a header', async t => {
  for (const { title, http } of Object.values(CLIENTS)) {
    t.notMatch(http({ url: 'http://127.0.0.1:1/mcp' }), /header|Bearer|AUTHORIZATION/i, title)
  }
})

t.test('the snippets follow the options, and a launched gateway opens no port', async t => {
  const options = resolveOptions({ port: 9000, prefix: '/ai', apiKeys: [listed('ada', ADA)] })
  const text = describeClient(
    'windsurf',
    options,
    stdioEntry(['/usr/bin/node', '/opt/a b/cli.js', '--port', '9000', '--plugin', '/home/ada/w.ts', '--keep-serving'])
  )
  const [local, remote] = [...text.matchAll(/^\{\n[^]*?\n\}$/gm)].map(([found]) => entryOf(found))
  t.strictSame(local, { command: '/usr/bin/node', args: ['/opt/a b/cli.js', '--stdio', '--plugin', '/home/ada/w.ts'] })
  t.strictSame(remote, { serverUrl: 'http://127.0.0.1:9000/ai/mcp', headers: { Authorization: HEADER } })
  t.match(
    describeClient('claude-code', options, stdioEntry(['/usr/bin/node', '/opt/a b/cli.js'])),
    'claude mcp add --scope user patchbay -- /usr/bin/node "/opt/a b/cli.js" --stdio'
  )
  t.strictSame(stdioEntry(['node', 'cli.js', '--stdio', '--host', 'localhost']).args, ['cli.js', '--stdio'])
})

t.test('a client is told of a view in its URL, or by --view', async t => {
  const options = resolveOptions({ port: 9000, views: { release: {} }, view: 'release' })
  const text = describeClient('cursor', options, stdioEntry(['/usr/bin/node', '/opt/cli.js', '--view', 'release']))
  const [local, remote] = [...text.matchAll(/^\{\n[^]*?\n\}$/gm)].map(([found]) => entryOf(found))
  t.strictSame(local, { command: '/usr/bin/node', args: ['/opt/cli.js', '--stdio', '--view', 'release'] })
  t.strictSame(remote, { url: 'http://127.0.0.1:9000/mcp/release' })
  const slip = { ...options, view: 'relaese' }
  const launched = stdioEntry(['/usr/bin/node', '/opt/cli.js'])
  t.throws(() => describeClient('cursor', slip, launched), { message: 'there is no view "relaese"; did you mean "release"?' })
  t.match(describeClient('cursor', { ...options, view: 'github' }, launched), /\/mcp\/github"/, 'it may be a server')
})

t.test('variables that are set are part of what a client launches: absolute paths, no secrets, no port', async t => {
  const cwd = await folder(t, { 'c.json': '{"port":9000,"host":"127.0.0.1"}', 'p.ts': '', 'q.json': '{}' })
  const env = {
    HOME: '/home/ada',
    PATCHBAY_CONFIG: 'c.json',
    PATCHBAY_DATA: 'd',
    PATCHBAY_ROOTS: '.,docs',
    PATCHBAY_PLUGINS: './p.ts',
    PATCHBAY_PORT: '9001',
    PATCHBAY_HOST: '127.0.0.1',
    PATCHBAY_NAME: '',
    PATCHBAY_PAGE_SIZE: '5',
    PATCHBAY_SECRET: 'sixteen-letters-',
    PATCHBAY_API_KEYS: '[]',
    PATCHBAY_TOKEN: 'x',
    PATCHBAY_REDIS: 'redis://ada:pass@localhost'
  }
  const entry = stdioEntry(['node', 'cli.js'], env, cwd)
  t.strictSame(entry.env, {
    PATCHBAY_CONFIG: join(cwd, 'c.json'),
    PATCHBAY_DATA: join(cwd, 'd'),
    PATCHBAY_ROOTS: `${cwd},${join(cwd, 'docs')}`,
    PATCHBAY_PLUGINS: join(cwd, 'p.ts'),
    PATCHBAY_PAGE_SIZE: '5',
    PATCHBAY_SECRET: '<your secret>',
    PATCHBAY_API_KEYS: '<your API keys>',
    PATCHBAY_TOKEN: '<your token>',
    PATCHBAY_REDIS: 'redis://ada:<your password>@localhost',
    PATCHBAY_HTTP: 'false'
  })
  t.equal(
    stdioEntry(['node', 'cli.js'], { PATCHBAY_CONFIG: 'q.json', PATCHBAY_HTTP: 'true' }, cwd).env?.['PATCHBAY_HTTP'],
    undefined,
    'no port to keep closed'
  )
  t.strictSame(stdioEntry(['node', 'cli.js', '--config', join(cwd, 'c.json')], {}, cwd).env, { PATCHBAY_HTTP: 'false' })
  t.strictSame(stdioEntry(['node', 'cli.js'], { PATCHBAY_ROOTS: '["/a,b"]' }, cwd).env, { PATCHBAY_ROOTS: '["/a,b"]' })
  for (const { title, stdio } of Object.values(CLIENTS)) {
    const snippet = stdio(entry)
    const variables = /^[{[]/.test(snippet)
      ? entryOf(snippet).env
      : Object.fromEntries(
        [...snippet.matchAll(/ -e (?:"(\w+=[^"]*)"|(\S+))/g)].map(([, quoted, plain]) =>
          (quoted ?? plain ?? '').split('=')
        )
      )
    t.strictSame(variables, entry.env, title)
  }
  t.match(CLIENTS['claude-code']?.stdio(entry), / patchbay -e .* -- node cli\.js --stdio$/)
})

t.test('a gateway that is launched as printed has the options of the environment, and opens no port', async t => {
  const cwd = await folder(t, { 'c.json': '{"port":0,"name":"printed"}' })
  const { stdout } = await launch(t, ['clients', 'cursor'], {
    cwd,
    env: { PATCHBAY_CONFIG: 'c.json', PATCHBAY_EPHEMERAL: 'true' }
  }).exit()
  const { args = [], env = {} } = entryOf(/^\{\n[^]*?\n\}$/m.exec(stdout)?.[0] ?? '')
  const launched = launch(t, args.slice(1), { env })
  launched.send(initialize)
  t.match(await launched.next(), { result: { serverInfo: { name: 'printed' } } })
  launched.end()
  const { stderr } = await launched.exit()
  t.match(stderr, /is up: stdio; 13 tools; data in memory/)
  t.notMatch(stderr, /http:/)
})

t.test('patchbay clients lists the names, and suggests one for a misspelt name', async t => {
  const { code, stdout, stderr } = await launch(t, ['clients']).exit()
  t.match({ code, stderr }, { code: 0, stderr: '' })
  for (const name of Object.keys(CLIENTS)) t.match(stdout, new RegExp(`^ {2}${name} `, 'm'))
  t.match(await launch(t, ['clients', 'vscode', '--port', '9001']).exit(), {
    code: 0,
    stdout: /"type": "http",\n +"url": "http:\/\/127\.0\.0\.1:9001\/mcp"/,
    stderr: ''
  })
  t.match(await launch(t, ['clients', '--port', '9001', 'cursor', '--ephemeral']).exit(), {
    code: 0,
    stdout: /^Cursor: [^]*"--ephemeral"[^]*http:\/\/127\.0\.0\.1:9001\/mcp/,
    stderr: ''
  })
  t.match(await launch(t, ['clients', 'cursor', 'zed']).exit(), {
    code: 1,
    stdout: '',
    stderr: /"zed" is not an option/
  })
  t.match(await launch(t, ['clients', 'curser']).exit(), {
    code: 1,
    stdout: '',
    stderr: 'patchbay: there is no client "curser"; did you mean "cursor"?\n'
  })
})
