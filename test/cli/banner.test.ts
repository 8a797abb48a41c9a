import t from 'tap'
import { banner, type Served } from '../../banner.js'

const SERVED: Served = {
  version: '1.2.3',
  address: 'http://127.0.0.1:8080',
  options: { prefix: '', stdio: false, data: '/home/ada/data', ephemeral: false },
  launch: ['/usr/bin/node', '/opt/cli.js', '--stdio'],
  inventory: { tools: ['add_note', 'calculate'], resources: ['server://counter', 'note:///{id}'], prompts: ['greeting'], unavailable: [['execute_command', 'no programs are listed']] }
}

const shown = (more: Partial<Served> = {}): string => banner({ ...SERVED, ...more })

t.test('it says what is served, where, where things are kept, and what is not here and why', async t => {
  const text = shown()
  for (const line of [/^patchbay 1\.2\.3\n\n/, /^ {2}MCP +http:\/\/127\.0\.0\.1:8080\/mcp /m, /^ {2}WebSocket +ws:\/\/127\.0\.0\.1:8080\/mcp$/m, /^ {2}JSON-RPC +\S+:8080\/message /m, /^ {2}HTTP\+SSE +\S+:8080\/sse /m, /^ {2}health +\S+:8080\/health$/m,
    /^ {2}data +\/home\/ada\/data$/m, /^ {2}tools +add_note, calculate$/m, /^ {2}resources +server:\/\/counter, note:\/\/\/\{id\}$/m, /^ {2}prompts +greeting$/m, /^ {2}not here +execute_command: no programs are listed$/m]) t.match(text, line)
  t.notMatch(text, /stdio/, 'nothing is said of what is not served')
  t.ok(text.endsWith('\n'))
})

t.test('the prefix is part of every address', async t => {
  const text = shown({ options: { ...SERVED.options, prefix: '/ai' } })
  t.equal(text.match(/127\.0\.0\.1:8080\/ai\//g)?.length, 6)
  t.equal(text.match(/127\.0\.0\.1:8080\/(?!ai)/g), null)
})

t.test('https is wss', async t => t.match(shown({ address: 'https://[::1]:1' }), /WebSocket +wss:\/\/\[::1\]:1\/mcp/))

t.test('what to paste into a client is JSON, by address or by command', async t => {
  const pasted = (text: string): unknown => JSON.parse(text.slice(text.indexOf('{\n')))
  t.strictSame(pasted(shown()), { mcpServers: { patchbay: { url: 'http://127.0.0.1:8080/mcp' } } })
  const local = shown({ address: undefined, options: { ...SERVED.options, stdio: true } })
  t.strictSame(pasted(local), { mcpServers: { patchbay: { command: '/usr/bin/node', args: ['/opt/cli.js', '--stdio'] } } })
  t.match(local, /^ {2}stdio +standard input and output of this process$/m)
  t.notMatch(local, /http/)
})

t.test('what is kept in memory is said to be', async t => {
  for (const options of [{ ...SERVED.options, ephemeral: true }, { ...SERVED.options, data: undefined }] as Array<Served['options']>) t.match(shown({ options }), /^ {2}data +in memory, until this process ends$/m)
})

t.test('long lists are wrapped between names, and none is lost', async t => {
  const tools = Array.from({ length: 60 }, (_, index) => `tool_number_${index}`)
  const text = shown({ inventory: { ...SERVED.inventory, tools } })
  t.strictSame(text.match(/tool_number_\d+/g), tools)
  for (const line of text.split('\n').filter(line => line.includes('tool_number'))) t.ok(line.length <= 113, `${line.length}`)
  t.equal(text.match(/^ {2}tools /gm)?.length, 1)
})

t.test('a gateway without anything says so by saying nothing', async t => {
  const text = shown({ inventory: { tools: [], resources: [], prompts: [], unavailable: [] } })
  t.notMatch(text, /tools|resources|prompts|not here/)
  t.match(text, /mcpServers/)
})
