import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { ADA, bearer, BOB, listed, ping } from '../support/keys.js'
import { until, within } from '../support/wait.js'
import { watchTerminal } from '../../cli/process/signals.js'
import { folder, initialize, launch, PROCESSES, toolCall, type Launched } from '../support/process.js'

const WAIT = 30_000

interface Line {
  level: number
  msg: string
  reload?: { changed: string[], restart: string[], keys: Record<string, string[]> }
}

/** A process with a config file, and how to change that file and send SIGHUP. */
async function configured (t: Test, config: object, args: string[] = ['--port', '0']) {
  const place = await folder(t, { 'patchbay.json': JSON.stringify(config) })
  const file = join(place, 'patchbay.json')
  const launched = await launch(t, ['--ephemeral', '--config', file, ...args]).up()
  const reload = async (text: string | object, says: RegExp) => {
    // All at once: the gateway follows the file, and would read a half of it.
    await writeFile(`${file}.new`, typeof text === 'string' ? text : JSON.stringify(text))
    await rename(`${file}.new`, file)
    return await hangUp(launched, says)
  }
  return { launched, reload }
}

const linesOf = ({ stderr }: Launched): Line[] =>
  stderr
    .split('\n')
    .slice(0, -1)
    .flatMap(line => (line.startsWith('{"level"') ? [JSON.parse(line) as Line] : []))
const reloads = (launched: Launched): Line[] =>
  linesOf(launched).filter(({ msg }) => msg.startsWith('options reloaded: ') || msg.startsWith('options not reloaded'))

/**
 * Sends SIGHUP and returns the log line that says this. There may be others: the gateway follows the file, too, and
 * either may be first.
 */
async function hangUp (launched: Launched, says: RegExp): Promise<Line> {
  const before = reloads(launched).length
  const find = (): Line | undefined => reloads(launched).slice(before).find(({ msg }) => says.test(msg))
  launched.kill('SIGHUP')
  await until(() => find() !== undefined, `a line that says ${String(says)}`, WAIT)
  return find() as Line
}

const warned = async (launched: Launched, what: RegExp) =>
  await until(() => linesOf(launched).some(({ level, msg }) => level === 40 && what.test(msg)), undefined, WAIT)

async function status (url: string, key: string, payload: object = ping): Promise<number> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify(payload)
  })
  await response.text()
  return response.status
}

t.test('SIGHUP', async t => {
  t.jobs = PROCESSES

  t.test('applies keys, scopes and rates of the config file, and logs the names of the changed options', { buffered: true }, async t => {
    const { launched, reload } = await configured(t, { apiKeys: [listed('ada', ADA)] })
    const url = await launched.url()
    t.strictSame([await status(url, ADA), await status(url, BOB)], [200, 401])
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers: bearer(ADA) })
    await once(socket, 'open')
    const closed = once(socket, 'close') as Promise<[number, Buffer]>

    const changed = await reload({
      apiKeys: [listed('bob', BOB)],
      scopes: { 'tools/calculate': ['maths'] },
      rules: [{ deny: ['echo_nothing', 'generate_uuid'] }],
      toolRates: { get_current_time: 1 },
      rate: 1_000,
      burst: 1_000,
      pageSize: 7
    }, /^options reloaded: changed apiKeys, burst, rate, rules, scopes, toolRates; keys added: bob; keys removed: ada; a restart is needed for pageSize$/)
    t.equal(changed.level, 40)
    t.match(changed.reload, { restart: ['pageSize'] })
    t.strictSame(
      (changed.reload as { keys: object }).keys,
      { added: ['bob'], removed: ['ada'], changed: [] },
      'names only'
    )
    t.notMatch(launched.stderr, /sha256:|[0-9a-f]{64}/, 'without hashes')
    t.strictSame([await status(url, ADA), await status(url, BOB)], [401, 200])
    t.equal((await within(WAIT, async () => await closed))[0], 4401)
    const call = (name: string) => ({
      jsonrpc: '2.0',
      ...toolCall(1, name, name === 'calculate' ? { operation: 'add', a: 1, b: 1 } : {})
    })
    t.equal(await status(url, BOB, call('calculate')), 403)
    const answers = [
      await status(url, BOB, call('get_current_time')),
      await status(url, BOB, call('get_current_time')),
      await status(url, BOB, call('get_current_time'))
    ]
    t.ok(answers.includes(429), answers.join())

    const bob = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers: bearer(BOB) })
    t.teardown(() => bob.terminate())
    await once(bob, 'open')
    bob.send(JSON.stringify({ jsonrpc: '2.0', ...initialize }))
    await once(bob, 'message')
    const messages: string[] = []
    bob.on('message', data => { messages.push(String(data)) })
    const more = { apiKeys: [listed('bob', BOB, ['mcp', 'maths'])], scopes: { 'tools/calculate': ['maths'] } }
    await reload(more, /keys changed: bob/)
    await until(() => messages.some(text => text.includes('notifications/tools/list_changed')), undefined, WAIT)
    t.equal(await status(url, BOB, call('calculate')), 200)
    launched.kill('SIGTERM')
    t.match(await launched.exit(), { code: 0 })
  })

  t.test(
    'keeps the old values when the file is broken, invalid or gone, and logs why in one line',
    { buffered: true },
    async t => {
      const good = { apiKeys: [listed('ada', ADA)] }
      const { launched, reload } = await configured(t, good)
      const url = await launched.url()
      for (const [text, why] of [
        ['{', /config file .*patchbay\.json, line 1, column 2: the JSON ends too early/],
        [{ ...good, rate: 'fast' }, /option rate must be integer/],
        [{ ...good, unknown: 1 }, /option "unknown" does not exist/],
        [{ apiKeys: [listed('bob', BOB), listed('eve', BOB)], rate: 5 }, /apiKeys\.1\.hash is listed twice/],
        [{ host: '0.0.0.0' }, /option host is 0\.0\.0\.0/]
      ] as Array<[string | object, RegExp]>) {
        const line = await reload(text, why)
        t.match(line, { level: 50, msg: /^options not reloaded, the previous ones stay: / })
        t.strictSame([await status(url, ADA), await status(url, BOB)], [200, 401])
      }
      t.match(await reload(good, /^options reloaded: nothing changed$/), { level: 30 })
      await reload({ apiKeys: [] }, /keys removed: ada/)
      await warned(launched, /no key left/)
      t.strictSame([await status(url, ADA), await status(url, BOB)], [401, 401], 'without a key no caller is let in')
    }
  )

  t.test('applies changed views, and keeps the old ones where a new one cannot be served', { buffered: true }, async t => {
    const { launched, reload } = await configured(t, { views: { maths: { tools: ['calculate'] }, gone: {} } })
    const url = await launched.url()
    const listed = async (view: string): Promise<unknown> => {
      const response = await fetch(`${url}/message/${view}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) })
      const { result } = await response.json() as { result?: { tools: Array<{ name: string }> } }
      return result?.tools.map(({ name }) => name) ?? response.status
    }
    t.strictSame(await listed('maths'), ['calculate'])
    const views = { maths: { tools: ['calculate', 'get_current_time'] }, added: { tools: ['calculate'] } }
    t.match(await reload({ views }, /^options reloaded: changed views$/), { level: 30 })
    t.strictSame([await listed('maths'), await listed('added'), await listed('gone')], [['calculate', 'get_current_time'], ['calculate'], 404])
    const why = /^options not reloaded, the previous ones stay: .*views\.sse cannot have this name/
    t.match(await reload({ views: { sse: {} } }, why), { level: 50 })
    t.strictSame(await listed('maths'), ['calculate', 'get_current_time'])
  })

  t.test('keeps the old views where names would clash in a new one', { buffered: true }, async t => {
    const plugin = join(await folder(t, { 'twice.mjs': TWICE }), 'twice.mjs')
    const { launched, reload } = await configured(t, { views: { maths: {} } }, ['--port', '0', '--plugin', plugin])
    const url = await launched.url()
    const why =
      /^options not reloaded.*"calculate" and "one__calculate" would both be called "calculate"; exclude one of them/
    t.match(await reload({ views: { maths: {}, short: { names: 'short' } } }, why), { level: 50 })
    const ask = async (view: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${url}/message/${view}`, { method: 'POST', headers, body: JSON.stringify(ping) })).status
    }
    t.strictSame([await ask('maths'), await ask('short')], [200, 404], 'and serves on')
    const clashless = { views: { short: { names: 'short', exclude: ['one__*'] } } }
    t.match(await reload(clashless, /^options reloaded: changed views/), { level: 30 })
    t.strictSame([await ask('maths'), await ask('short')], [404, 200])
  })

  t.test('warns of names that nothing serves', { buffered: true }, async t => {
    const { launched, reload } = await configured(t, { scopes: { 'tools/calcluate': ['maths'] } })
    await warned(
      launched,
      /^option scopes has "tools\/calcluate", and there is no such thing here; did you mean "tools\/calculate"\?$/
    )
    await reload({ toolRates: { web_serach: 1 } }, /changed scopes, toolRates/)
    await warned(launched, /toolRates has "web_serach".*did you mean "web_search"/)
    const withKey = await reload({ apiKeys: [listed('ada', ADA)] }, /a restart is needed for apiKeys/)
    t.equal(withKey.level, 40, 'without authentication at start there is none later')
  })

  t.test(
    'does not end the process: without a config file, on stdio, during start and end, and twice',
    { buffered: true },
    async t => {
      const launched = await launch(t, [
        '--stdio',
        '--ephemeral',
        '--plugin',
        join(await folder(t, { 'slow.mjs': SLOW }), 'slow.mjs')
      ]).up()
      launched.send(initialize)
      await launched.next()
      for (let times = 0; times < 2; times++) launched.kill('SIGHUP')
      t.match(await hangUp(launched, /^options reloaded: nothing changed$/), { level: 30 })
      launched.send(toolCall(1, 'wait'))
      await until(() => launched.stderr.includes('waiting'), undefined, WAIT)
      launched.kill('SIGTERM')
      await until(() => launched.stderr.includes('shutting down'), undefined, WAIT)
      launched.kill('SIGHUP')
      t.match(await launched.next(), { id: 1, result: { content: [{ text: 'done' }] } })
      t.match(await launched.exit(), { code: 0, signal: null })
    }
  )

  t.test('that comes during the start is acted on when the gateway is up', { buffered: true }, async t => {
    const launched = launch(t, [
      '--stdio',
      '--ephemeral',
      '--plugin',
      join(await folder(t, { 'late.mjs': LATE }), 'late.mjs')
    ])
    await until(() => launched.stderr.includes('starting'), undefined, WAIT)
    launched.kill('SIGHUP')
    launched.send(initialize)
    t.match(await launched.next(), { id: 'hello', result: {} })
    await until(() => reloads(launched).length === 1, undefined, WAIT)
    launched.end()
    t.match(await launched.exit(), { code: 0 })
  })
})

t.test('a closed terminal is not taken for a request to reload', async t => {
  const shown = [true, true, false]
  const closed = watchTerminal(() => shown.shift() === true)
  t.equal(closed(), false, 'the terminal is there')
  t.equal(closed(), true, 'it is gone')
  t.equal(watchTerminal(() => false)(), false, 'there was none')
})

const SLOW = `import { tool } from 'mcp-patchbay'
export default tool({ name: 'wait', description: 'Waits a little', run: async () => { console.error('waiting'); await new Promise(resolve => setTimeout(resolve, 1000)); return 'done' } })`

const TWICE = `import { tool } from 'mcp-patchbay'
const other = tool({ name: 'one__calculate', description: 'Another', run: () => '' })
export default async ({ mcp }) => { mcp.tools.relay([], [{ ...other, ownName: 'calculate', upstream: 'one' }]) }`

const LATE =
  "export default async () => { console.error('starting'); await new Promise(resolve => setTimeout(resolve, 1000)) }"
