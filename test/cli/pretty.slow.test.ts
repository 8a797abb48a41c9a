import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { painter, prettyLog } from '../../cli/pretty/pretty-log.js'
import { ownFrames } from '../../cli/pretty/own-frames.js'
import { COMMAND } from '../support/command.js'
import { folder, initialize, launch, toolCall } from '../support/process.js'

const TIME = new Date(2026, 0, 2, 13, 4, 5).getTime()
const line = (fields: object): string =>
  `${JSON.stringify({ level: 30, time: TIME, pid: 1, hostname: 'h', ...fields })}\n`
const plain = prettyLog(painter({}, false), '/home/ada')
const coloured = prettyLog(painter({}, true), '/home/ada')

t.test('a call is one line: the time and the sentence', async t => {
  const call = line({
    audit: { outcome: 'ok', ms: 2, client: 'x/1' },
    msg: 'tools/call calculate ok 2.0 ms (ada, http)'
  })
  t.equal(plain(call), '13:04:05 tools/call calculate ok 2.0 ms (ada, http)\n')
  t.equal(coloured(call), '\u001b[2m13:04:05\u001b[0m tools/call calculate \u001b[32mok\u001b[0m 2.0 ms (ada, http)\n')
})

t.test('levels other than info are named, and fields that the sentence does not have follow it', async t => {
  t.equal(
    plain(
      line({
        level: 40,
        audit: { outcome: 'refused', detail: 'wanted a' },
        msg: 'POST /mcp refused 401: wrong audience (10.0.0.7)'
      })
    ),
    '13:04:05 warn POST /mcp refused 401: wrong audience (10.0.0.7) detail=wanted a\n'
  )
  t.equal(
    plain(line({ signal: 'SIGTERM', more: { a: [1] }, msg: 'shutting down' })),
    '13:04:05 shutting down signal=SIGTERM more={"a":[1]}\n'
  )
  t.equal(
    plain(line({ method: 'tools/call', tool: 'it', id: 1, data: 'a word', msg: 'log of tools/call it' })),
    '13:04:05 log of tools/call it a word\n'
  )
  t.equal(
    plain(line({ tool: 'it', data: { time: 1, audit: { outcome: 'ok' } }, msg: 'log of tools/call it' })),
    '13:04:05 log of tools/call it {"time":1,"audit":{"outcome":"ok"}}\n'
  )
  t.equal(plain(line({ big: 'x'.repeat(5_000), msg: 'm' })), `13:04:05 m big=${'x'.repeat(200)}...\n`)
})

t.test('what a server wrote before it failed has a line for each of its lines', async t => {
  const lines = ['Error: no key', `at ${'x'.repeat(300)}`, 'a\u001b[31mred']
  t.equal(
    plain(line({ level: 40, upstream: 'a', lines, msg: 'upstream a failed' })),
    `13:04:05 warn upstream a failed upstream=a\n  | Error: no key\n  | at ${'x'.repeat(300)}\n  | a\\u{1b}[31mred\n`
  )
  t.equal(plain(line({ lines: 3, msg: 'm' })), '13:04:05 m lines=3\n')
})

t.test('an error is its message and the frames of the files of its author', async t => {
  const stack = [
    'TypeError: x is not a function',
    '    at run (file:///home/ada/weather.ts:3:9)',
    '    at async /srv/shared/helper.mjs:1:2',
    '    at Object.<anonymous> (/home/ada/node_modules/left/index.js:1:1)',
    `    at Dispatcher.receive (${new URL('../../app.js', import.meta.url).href}:5:5)`,
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)'
  ].join('\n')
  const err = { type: 'TypeError', message: 'x is not a function', stack }
  const frames = '  at run (weather.ts:3:9)\n  at async /srv/shared/helper.mjs:1:2\n'
  t.equal(
    plain(
      line({
        level: 50,
        method: 'tools/call',
        correlation: 'c',
        err,
        msg: 'tools/call it failed: TypeError: x is not a function (correlation c)'
      })
    ),
    `13:04:05 error tools/call it failed: TypeError: x is not a function (correlation c)\n${frames}`
  )
  t.equal(
    plain(line({ level: 50, err, msg: 'the store failed' })),
    `13:04:05 error the store failed\n  TypeError: x is not a function\n${frames}`
  )
})

t.test('an AggregateError has the messages of its first five errors', async t => {
  const aggregateErrors = Array.from({ length: 7 }, (_, index) => ({
    type: 'TypeError',
    message: `no ${index}\n`,
    stack: ''
  }))
  t.equal(
    plain(
      line({
        level: 50,
        err: { type: 'AggregateError', message: 'all failed', stack: '', aggregateErrors },
        msg: 'it failed: AggregateError: all failed'
      })
    ),
    [
      '13:04:05 error it failed: AggregateError: all failed',
      ...[0, 1, 2, 3, 4].map(index => `  - TypeError: no ${index}\\u{a}`),
      '  - and 2 more',
      ''
    ].join('\n')
  )
})

t.test('a stack without a file of the author has its first frames', async t => {
  t.strictSame(
    ownFrames('E\n    at a (node:fs:1:1)\n    at b (node:fs:2:1)\n    at c (node:fs:3:1)\n    at d (node:fs:4:1)', '/'),
    ['at a (node:fs:1:1)', 'at b (node:fs:2:1)', 'at c (node:fs:3:1)']
  )
  t.strictSame(ownFrames('', '/'), [])
})

t.test('control characters of values are written out, so that a terminal does not obey them', async t => {
  const text = plain(
    line({
      '\u001b': '\u001b[2J',
      'a\nb': '\u009b\u202e',
      err: { message: 'm\r\u0007\nsecond', stack: '' },
      msg: 'one\ntwo \u001b]0;title'
    })
  )
  t.match(text, 'one\\u{a}two \\u{1b}]0;title')
  // eslint-disable-next-line no-control-regex
  t.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  t.equal(text.split('\n').length, 4, 'a line break only between the lines of the error')
})

t.test('what is no record of the log is written as it is', async t => {
  t.equal(plain('not JSON\n'), 'not JSON\n')
})

t.test('colours: on a terminal, unless NO_COLOR or TERM=dumb; FORCE_COLOR decides over all of them', async t => {
  const colours = (env: Record<string, string>, terminal: boolean): boolean =>
    painter(env, terminal)('red', 'x') !== 'x'
  t.ok(colours({}, true))
  t.notOk(colours({}, false))
  t.notOk(colours({ NO_COLOR: '1' }, true))
  t.ok(colours({ NO_COLOR: '' }, true))
  t.notOk(colours({ TERM: 'dumb' }, true))
  t.ok(colours({ FORCE_COLOR: '1', NO_COLOR: '1' }, false))
  t.notOk(colours({ FORCE_COLOR: '0' }, true))
})

const BROKEN = `import { tool } from 'mcp-patchbay'
interface Place { name?: string }
export default tool({ name: 'broken', description: 'd', run: () => nameOf({}) })
function nameOf (place: Place): string {
  return (place.name as string).trim()
}`

t.test(
  'without a terminal the log is JSON; with --log-format pretty an author sees the lines of his own file',
  async t => {
    const cwd = await folder(t, { 'broken.ts': BROKEN })
    const log = async (t: Test, args: string[], env: Record<string, string> = {}): Promise<string> => {
      const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', 'broken.ts', ...args], { cwd, env })
      launched.send(initialize, toolCall(1, 'broken'))
      await launched.next()
      await launched.next()
      launched.end()
      return (await launched.exit()).stderr
    }
    const pretty = await log(t, ['--log-format', 'pretty'])
    t.match(
      pretty,
      /^\d\d:\d\d:\d\d error tools\/call broken failed: TypeError: .* \(correlation [\da-f-]{36}\)\n {2}at nameOf \(broken\.ts:5:33\)\n {2}at .*broken\.ts:3:\d+\)?\n\d\d:/m
    )
    t.match(pretty, /^\d\d:\d\d:\d\d tools\/call broken error -32603 \d+\.\d ms \(stdio\)$/m)
    t.notMatch(pretty, '{"level"')
    t.match(await log(t, []), /^\{"level":50.*"msg":"tools\/call broken failed: TypeError/m)
    t.match(await log(t, [], { FORCE_COLOR: '1', PATCHBAY_LOG_FORMAT: 'pretty' }), '\u001b[31merror\u001b[0m')
    const json = await log(t, [], { MCP_LOG_JSON: 'true' })
    for (const each of json.trim().split('\n')) t.match(JSON.parse(each), { level: Number, msg: String })
  }
)

t.test(
  'on a terminal the log is pretty',
  { skip: process.platform === 'linux' ? false : 'script(1) of Linux gives a process a terminal' },
  async t => {
    const cwd = await folder(t, {
      'stop.mjs':
        "export default async app => app.addHook('onListen', async () => { process.kill(process.pid, 'SIGTERM') })"
    })
    const command = `${process.execPath} ${COMMAND} --port 0 --ephemeral --plugin stop.mjs`
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd,
      env: { PATH: process.env['PATH'], TERM: 'xterm' },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let shown = ''
    child.stdout.on('data', chunk => {
      shown += String(chunk)
    })
    await once(child, 'close')
    t.notMatch(shown, '{"level"')
    t.match(shown.replaceAll(/\d\d:\d\d:\d\d/g, 'TIME'), '\u001b[2mTIME\u001b[0m shutting down')
  }
)
