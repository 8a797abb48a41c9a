import { PassThrough } from 'node:stream'
import t from 'tap'
import { describePrompt, describeTool, table } from '../../../cli/ask/describe.js'
import { EXIT, explain, NoAnswer } from '../../../cli/ask/failure.js'
import { logLine, Notes } from '../../../cli/ask/notes.js'
import { Questions } from '../../../cli/ask/questions.js'
import { partsOf, textOfResult } from '../../../cli/ask/show-result.js'
import { hasFeed, WatchLines } from '../../../cli/ask/watch-lines.js'
import { errors } from '../../../protocol/wire/errors.js'
import { until } from '../../support/wait.js'

/** The streams of a terminal, or of a pipe, and what is shown on it. */
function streams (isTTY: boolean) {
  const make = (): PassThrough => Object.assign(new PassThrough(), { isTTY, columns: 60 })
  const [stdin, stderr] = [make(), make()]
  const shown = { text: '' }
  stderr.on('data', chunk => { shown.text += String(chunk) })
  return { stdin: stdin as unknown as NodeJS.ReadStream, stderr: stderr as unknown as NodeJS.WriteStream, shown }
}

/** Questions that are answered with these lines, one when each prompt is shown. */
function asking (isTTY = true) {
  const { stdin, stderr, shown } = streams(isTTY)
  const notes = new Notes(stderr)
  const questions = new Questions(notes, { stdin, stderr }, () => {})
  const answer = async (prompt: string, line: string): Promise<void> => {
    await until(() => shown.text.includes(prompt))
    shown.text = ''
    stdin.push(`${line}\n`)
  }
  return { notes, questions, shown, answer, end: () => stdin.push(null) }
}

const { signal } = new AbortController()

t.test('a form is asked field by field, and again where a value does not fit', async t => {
  const { questions, answer, shown, notes } = asking()
  const requestedSchema = {
    properties: {
      size: { type: 'string', enum: ['small', 'large'], default: 'small', description: 'How\u001b[31m large' },
      count: { type: 'integer', minimum: 1 },
      gift: { type: 'boolean' },
      days: { type: 'array', items: { type: 'string', enum: ['mon', 'tue'] } },
      note: { type: 'string' }
    },
    required: ['count', 'gift']
  }
  const answered = questions.elicit({ message: 'Your order?', requestedSchema }, signal)
  await answer('size (', '')
  await answer('count (', 'many')
  t.notMatch(shown.text, '\u001b[31m')
  await answer('count (', '3')
  notes.say('a line of meanwhile')
  await answer('gift (', 'yes')
  await answer('days (', 'mon, tue')
  await answer('note (', '')
  await answer('Send this', 'maybe')
  await answer('Send this', 'y')
  t.strictSame(await answered, { action: 'accept', content: { size: 'small', count: 3, gift: true, days: ['mon', 'tue'] } })
  t.match(shown.text, /a line of meanwhile\n$/, 'lines come after the question')
})

t.test('a page is named with its host, and may be declined', async t => {
  const { questions, answer, shown } = asking()
  const answered = questions.elicit({ message: 'Sign in', url: 'https://auth.example/start' }, signal)
  await until(() => shown.text.includes('Go on'))
  t.match(shown.text, /if you trust auth\.example:\n {2}https:\/\/auth\.example\/start/)
  await answer('Go on', 'n')
  t.strictSame(await answered, { action: 'decline' })
})

t.test('the end of the input cancels, and without a terminal a question is declined in words', async t => {
  const closing = asking()
  const answered = closing.questions.elicit({ message: 'Go?', requestedSchema: {} }, signal)
  await until(() => closing.shown.text.includes('Send this'))
  closing.end()
  t.strictSame(await answered, { action: 'cancel' })

  const piped = asking(false)
  t.strictSame(await piped.questions.elicit({ message: 'Go?', url: 'https://x.example/' }, signal), { action: 'decline' })
  t.match(piped.shown.text, 'the server asks: Go? (https://x.example/); declined, because this is no terminal')
  await t.rejects(piped.questions.elicit({}, AbortSignal.abort(new Error('too late'))), /too late/)
})

t.test('progress is a bar below the lines, on a terminal alone', t => {
  const { stderr, shown } = streams(true)
  const notes = new Notes(stderr)
  notes.progress({ progress: 1, total: 4, message: 'mixing' })
  t.equal(shown.text, '[######..................] 25 % mixing')
  shown.text = ''
  notes.say('a line')
  t.equal(shown.text, '\r\u001b[Ka line\n[######..................] 25 % mixing')
  notes.progress({ progress: 7 })
  notes.progress({ progress: 'x' })
  notes.clear()
  t.ok(shown.text.endsWith('7\r\u001b[K…\r\u001b[K'), shown.text)

  shown.text = ''
  notes.log({ level: 'error', logger: 'mixer', data: { hot: true } })
  t.equal(shown.text, '[error] mixer: {"hot":true}\n')
  const taken: object[] = []
  notes.onLog = params => taken.push(params)
  notes.log({ data: 'x' })
  t.strictSame(taken, [{ data: 'x' }])
  t.equal(logLine({ data: 'two\nlines' }), '[info] two lines')

  const pipe = streams(false)
  new Notes(pipe.stderr).progress({ progress: 1, total: 2 })
  t.equal(pipe.shown.text, '')
  t.end()
})

t.test('tools and prompts are described with their arguments and an example', t => {
  const tool = {
    name: 'order',
    title: 'Order',
    description: 'Orders something. Takes a while.',
    inputSchema: {
      type: 'object',
      properties: {
        what: { type: 'string', description: 'A name' },
        size: { enum: ['small', 'large'] },
        count: { type: 'integer', default: 1 },
        gift: { type: 'boolean' },
        more: { type: 'object' }
      },
      required: ['what', 'size', 'gift', 'more']
    }
  }
  const described = describeTool(tool, 80)
  t.match(described, /^order {2}\(Order\)\n\nOrders something\./)
  t.match(described, /count {2}integer, 1 if it is left out/)
  t.match(described, 'one of small, large')
  t.match(described, "For example: patchbay call order what=TEXT size=small gift=true 'more={}'")
  const prompt = { name: 'greet', arguments: [{ name: 'who', description: 'A name', required: true }, { name: 7 }] }
  t.match(describePrompt(prompt, 80), /who {2}.*required\n {6}A name\n\nFor example: patchbay prompt greet who=TEXT/)
  t.match(describePrompt({ name: 'plain' }, 80), 'It takes no arguments.')
  t.equal(table([tool, { name: 'bare' }], 'name', 80), 'order  Orders something.\nbare\n')
  t.end()
})

t.test('results are shown as text, and their files by type and size', t => {
  const blocks = [
    { type: 'text', text: 'red \u001b[31m' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', name: 'a', uri: 'x://a' },
    { type: 'resource', resource: { uri: 'x://b', text: 'inside' } },
    { type: 'resource', resource: { uri: 'x://c', blob: 'AAAAAAAA' } },
    { type: 'new', more: 1 },
    7
  ]
  const { text, files } = textOfResult({ content: blocks }, true)
  t.notMatch(text, '\u001b')
  t.match(text, /\[image\/png, 3 bytes\]\na x:\/\/a\ninside\n\[unknown type, 6 bytes\]\n\{"type":"new","more":1\}\n7$/)
  t.equal(files.length, 2)
  t.match(textOfResult({ content: blocks.slice(0, 1) }, false).text, '\u001b', 'a program gets it as it is')
  t.equal(textOfResult({ content: [], structuredContent: { a: 1 } }, true).text, '{\n  "a": 1\n}')
  t.strictSame(textOfResult({}, true), { text: '', files: [] })
  const parts = partsOf([{ text: 'x', mimeType: 'text/plain' }, { blob: 'AAAA' }, 7])
  t.match(parts, [{ type: 'text/plain', text: 'x' }, { type: 'unknown type', bytes: Buffer.alloc(3) }])
  t.end()
})

t.test('the feed of a gateway says what is new alone', t => {
  const lines = new WatchLines()
  const batch = 'notifications/patchbay/watch'
  const call = { tool: 'echo', outcome: 'ok', ms: 2.4, principal: 'ada', transport: 'http' }
  const upstream = { alias: 'x', state: 'connected', tools: 1 }
  const health = { status: 'ok' }
  t.strictSame(
    lines.linesOf(batch, { gateway: { name: 'p', version: '1' }, ended: [call], upstreams: [upstream], health }),
    ['watching p 1', 'upstream x connected, 1 tool', 'health ok']
  )
  const failing = { ...upstream, state: 'down', tools: 2, failing: true, lastError: 'gone' }
  t.strictSame(lines.linesOf(batch, { ended: [call, { ...call, tool: undefined, method: 'ping', code: -1 }], dropped: 3, upstreams: [upstream, failing], health }), [
    '3 calls are left out', 'echo ok in 2 ms (ada, http)', 'ping ok -1 in 2 ms (ada, http)', 'upstream x down, 2 tools: gone'
  ])
  t.strictSame(lines.linesOf('notifications/tools/list_changed', {}), ['the list of tools has changed'])
  t.strictSame(lines.linesOf('notifications/resources/updated', { uri: 'x://a' }), ['x://a has changed'])
  t.strictSame(lines.linesOf('notifications/message', { data: 'x' }), ['[info] x'])
  t.strictSame(lines.linesOf('notifications/subscriptions/acknowledged', {}), [])
  t.strictSame(lines.linesOf('notifications/new', { _meta: {}, a: 1 }), ['new {"a":1}'])
  t.ok(hasFeed({ experimental: { 'patchbay/watch': {} } }))
  t.notOk(hasFeed({ experimental: {} }))
  t.end()
})

t.test('a failure has an exit code, and says what to do', t => {
  const address = { kind: 'http', url: 'http://x.example/mcp', headers: {} } as never
  const own = { target: 'http://127.0.0.1:8080/mcp', isOwnGateway: true, address }
  const other = { target: 'http://x.example/mcp', isOwnGateway: false, address }
  const notReached = (message: string): Error => Object.assign(new Error(message), { name: 'NotReached', lines: ['last words'] })
  t.match(explain(new NoAnswer('no answer'), own), { code: EXIT.notReached, lines: ['no answer'] })
  t.match(explain(errors.methodNotFound('x'), own), { code: EXIT.refused, lines: [/error -32601/] })
  t.match(explain(errors.upstreamGone('the server', 'it ended'), own, ['bye']), { code: EXIT.notReached, lines: [/^the server/, '| bye'] })
  t.match(explain(notReached('the connection was refused'), own), { code: EXIT.notReached, lines: [/start one with "patchbay"/, '| last words'] })
  t.match(explain(notReached('it answered with status 401'), other).lines, [/needs a credential.*patchbay login NAME/])
  const given = { ...other, address: { kind: 'http', headers: { Authorization: 'x' } } as never }
  t.match(explain(notReached('it answered with status 401'), given).lines, [/does not accept this credential/])
  t.match(explain(notReached('odd'), other).lines, [/could not be asked: odd/])
  t.match(explain(new Error('wrong\nwords'), own), { code: EXIT.failed, lines: ['wrong', 'words'] })
  t.match(explain('odd', own), { code: EXIT.failed, lines: ['odd'] })
  t.end()
})
