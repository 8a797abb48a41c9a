import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { modernMeta } from '../support/modern.js'
import { folder, initialize, launch, toolCall, type Json } from '../support/process.js'
import { until } from '../support/wait.js'

const PAGE = readFileSync(new URL('../../../docs/views.md', import.meta.url), 'utf8')
const CONFIG = /<!-- file: patchbay\.json -->\n```json\n([^]*?)\n```/.exec(PAGE)?.[1] ?? ''
const SERVERS = ['files', 'memory', 'thinking', 'git', 'time']
/** npx may have to download five packages. */
const DOWNLOAD = 400_000
const WAIT = ['--limit', `upstreamStartTimeout=${DOWNLOAD}`, '--limit', 'upstreamListWait=60000']

/** What npm needs to find its configuration. */
const HOME = process.env['HOME'] ?? ''
const isReachable = spawnSync('npm', ['view', 'time-mcp', 'version', '--fetch-retries=0'], { timeout: 60_000 }).status === 0
if (!isReachable) process.stderr.write('NOT TESTED: the walk of docs/views.md; the registry of npm cannot be reached\n')

const namesIn = ({ result }: Json): string[] => (result as { tools: Json[] }).tools.map(({ name }) => String(name))

t.test('the walk of docs/views.md: five servers from npm, two views, over HTTP and stdio', {
  skip: !isReachable && 'the registry of npm cannot be reached'
}, async t => {
  t.setTimeout(2 * DOWNLOAD)
  const cwd = await folder(t, { 'patchbay.json': CONFIG, 'hello.txt': 'hello' })
  // A cache of its own: npx locks the folders of its packages, and other tests end programs that hold such a lock.
  const env = { HOME, npm_config_cache: `${cwd}/npm` }
  const common = ['--config', 'patchbay.json', '--data', `${cwd}/data`, ...WAIT]
  const gateway = launch(t, [...common, '--port', '0'], { cwd, env })
  const url = await gateway.url()
  const ask = async (view: string, method: string, params: Json = {}): Promise<Json> => {
    const response = await fetch(`${url}/message/${view}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta() } })
    })
    return await response.json() as Json
  }
  let ready: string[] = []
  await until(async () => {
    const { upstreams = [] } = await (await fetch(`${url}/health`)).json() as { upstreams?: Array<Record<string, string>> }
    ready = upstreams.filter(({ state }) => state === 'ready').map(({ alias = '' }) => alias)
    return ready.length === SERVERS.length
  }, 'all servers to be ready', DOWNLOAD, 250)
  t.strictSame(ready.sort(), [...SERVERS].sort())
  await until(async () => namesIn(await ask('writing', 'tools/list')).length >= 30, 'the lists', DOWNLOAD, 250)
  const writing = namesIn(await ask('writing', 'tools/list'))
  for (const name of ['recall', 'read_text_file', 'write_file']) t.ok(writing.includes(name), name)
  const looking = namesIn(await ask('looking', 'tools/list'))
  t.ok(looking.includes('files__read_text_file'))
  for (const name of ['files__write_file', 'git__git_push']) t.notOk(looking.includes(name), name)
  const recall = { name: 'recall', arguments: { query: 'nothing' } }
  t.match(await ask('writing', 'tools/call', recall), { result: { content: [{ type: 'text', text: /entities/ }] } })
  t.match(await ask('looking', 'tools/call', recall), { error: { code: -32602, message: /Unknown tool: recall/ } })
  gateway.kill('SIGTERM')
  await gateway.exit()

  // Its servers start anew, five at once, which may take longer than a call waits.
  const patient = { ...env, PATCHBAY_CALL_TIMEOUT: '30000' }
  const stdio = launch(t, [...common, '--stdio', '--view', 'writing'], { cwd, env: patient })
  stdio.send(initialize)
  await stdio.next()
  let answer: Json = {}
  await until(async () => {
    stdio.send(toolCall(2, 'recall', { query: 'nothing' }))
    answer = await stdio.next()
    return answer.result !== undefined
  }, 'the answer of a server', DOWNLOAD, 250).catch(error => t.comment(JSON.stringify(answer), error))
  t.match(answer, { id: 2, result: { content: [{ type: 'text', text: /entities/ }] } })
  stdio.end()
  await stdio.exit()

  const command = ['clients', 'cursor', '--config', 'patchbay.json', '--view', 'looking']
  const printed = await launch(t, command, { cwd, env }).exit()
  const [snippet = ''] = /\{\n[^]*?\n\}/.exec(printed.stdout) ?? []
  interface Entry { args: string[], env?: Record<string, string> }
  const { mcpServers } = JSON.parse(snippet) as { mcpServers: Record<string, Entry> }
  const [entry = { args: [] }] = Object.values(mcpServers)
  t.ok(entry.args.includes('--view') && entry.args.includes('looking'), entry.args.join(' '))
  const args = [...entry.args.slice(1), '--data', `${cwd}/data`, ...WAIT]
  const cursor = launch(t, args, { cwd, env: { ...env, ...entry.env } })
  cursor.send(initialize, { id: 3, method: 'tools/list', params: {} })
  await cursor.next()
  const listed = namesIn(await cursor.next())
  t.ok(listed.includes('files__read_text_file') && !listed.includes('files__write_file'), listed.join())
  cursor.end()
  await cursor.exit()
})
