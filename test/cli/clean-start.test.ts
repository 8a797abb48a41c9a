import t from 'tap'
import { folder, initialize, launch, PROCESSES, toolCall, type Json } from '../support/process.js'

/** The lines that are logs, as data. */
const logs = (stderr: string): Json[] =>
  stderr
    .split('\n')
    .filter(line => line.startsWith('{"level"'))
    .map(line => JSON.parse(line) as Json)

const SECRET = 'correct-horse'

t.test('the command', async t => {
  t.jobs = PROCESSES

  t.test('starts on a machine with an empty home, and prints what is served and what is not', { buffered: true }, async t => {
    const HOME = await folder(t, {})
    const launched = launch(t, ['--port', '0'], { env: { HOME, XDG_DATA_HOME: '' }, cwd: HOME })
    const url = await launched.url()
    await launched.up()
    const { stderr } = launched
    t.match(stderr, `"data":"${HOME}/.local/share/patchbay"`)
    for (const name of [
      'add_note',
      'calculate',
      'delete_note',
      'get_current_time',
      'get_notes',
      'health_check',
      'increment_counter',
      'list_roots',
      'long_running_task',
      'summarize_notes',
      'web_search',
      'server://counter',
      'server://status',
      'note:///{id}',
      'analyze_system',
      'greeting'
    ]) {
      t.ok(stderr.includes(name), name)
    }
    t.match(stderr, /"execute_command":"no programs are listed: set option commands/)
    t.match(stderr, /"get_clipboard":"No display/)
    t.notMatch(stderr, /^[^{]/m, 'everything is JSON')
    t.match(await (await fetch(`${url}/health`)).json(), { status: 'healthy' })
    const body = JSON.stringify({ jsonrpc: '2.0', ...toolCall(1, 'add_note', { content: SECRET }) })
    t.match(
      await (
        await fetch(`${url}/message`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      ).text(),
      'Note 1 added'
    )
    launched.kill('SIGTERM')
    const ended = await launched.exit()
    t.equal(ended.code, 0)
    t.ok(logs(ended.stderr).length > 0)
    t.strictSame(logs(ended.stderr).filter(({ level }) => Number(level) >= 40), [], 'nothing is wrong')
    t.notMatch(ended.stderr, /warning/i)
    t.notMatch(ended.stderr, new RegExp(`${SECRET}|"response"`), 'nothing is said of requests')
    t.equal(ended.stdout, '')
  })

  t.test('logs caller, method and outcome of calls, never their arguments, when MCP_LOG_LEVEL is DEBUG', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--ephemeral'], { env: { MCP_LOG_LEVEL: 'DEBUG' } })
    const { _meta } = { _meta: { progressToken: SECRET } }
    launched.send(
      initialize,
      { id: 'unknown', method: 'unheard/of', params: { SECRET } },
      toolCall(1, 'add_note', { content: SECRET, tags: [SECRET] }),
      toolCall(2, 'get_notes', { tags: [SECRET] }),
      toolCall(3, 'add_note', { content: { SECRET } }),
      toolCall(4, 'add_note', { content: 'a', tags: [SECRET, SECRET] }),
      toolCall(5, 'calculate', { operation: SECRET, a: 1, b: 2 }),
      toolCall(6, 'get_current_time', { timeZone: SECRET }),
      toolCall(7, 'delete_note', { id: SECRET }, { _meta }),
      { id: 8, method: 'prompts/get', params: { name: 'greeting', arguments: { name: SECRET, style: SECRET } } },
      {
        id: 9,
        method: 'completion/complete',
        params: { ref: { type: 'ref/resource', uri: 'note:///{id}' }, argument: { name: 'id', value: SECRET } }
      },
      { id: 10, method: 'resources/read', params: { uri: 'note:///1' } },
      { id: 11, method: 'tools/list', params: { cursor: SECRET } },
      { id: 12, method: 'resources/read', params: { uri: 'note:///2' } }
    )
    launched.end()
    const { code, stdout, stderr } = await launched.exit()
    t.equal(code, 0)
    const answered = stdout.trim().split('\n').map(line => (JSON.parse(line) as Json).id).filter(id => id !== undefined)
    t.equal(answered.length, 14)
    t.equal(answered[0], 'hello', 'the handshake is answered first, as it is without a trace')
    const lines = logs(stderr)
    for (const id of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) {
      const [request, response] = ['request', 'response'].map(msg =>
        lines.find(line => line.msg === msg && line.id === id)
      )
      t.match(request, { level: 20, transport: 'stdio', revision: '2025-11-25' }, `the request ${id}`)
      t.ok(Number(response?.ms) >= 0, `the response ${id}`)
    }
    t.match(lines.find(({ msg, id }) => msg === 'request' && id === 1), { method: 'tools/call', of: 'add_note' })
    t.match(lines.find(({ msg, id }) => msg === 'request' && id === 10), { method: 'resources/read', of: 'note:///1' })
    t.match(lines.find(({ msg, id }) => msg === 'response' && id === 1), { isError: false })
    t.match(lines.find(({ msg, id }) => msg === 'response' && id === 6), { isError: true })
    t.match(
      lines.find(({ msg, id }) => msg === 'response' && id === 12),
      { err: { message: 'Resource not found: note:///2' } }
    )
    t.strictSame(stderr.split('\n').filter(line => line.includes(SECRET)), [])
  })
})
