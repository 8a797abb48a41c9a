import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Id, Message } from '../../protocol/wire/jsonrpc.js'
import type { Link } from '../../transports/client/link.js'
import { ReplyBudget } from '../../transports/client/reply-budget.js'
import { childDialer, type ChildDialer, type ChildOptions } from '../../upstreams/supervision/child-dial.js'
import { folder } from '../support/process.js'
import { isRunning, pidsIn, untilGone } from '../support/processes.js'
import { Inbox, inTime, until } from '../support/wait.js'

const DEFAULTS: ChildOptions = {
  maxUpstreamMessage: 1_048_576,
  maxUpstreamValues: 10_000,
  maxUpstreamListValues: 10_000,
  replies: new ReplyBudget(Infinity, Infinity),
  maxUpstreamQueue: 65_536,
  maxUpstreamUnasked: 20_000,
  maxUpstreamErrorOutput: 65_536,
  stopTimeout: () => 500,
  upstreamProxies: false
}
const REQUEST = { method: 'tools/call', params: {} }

interface Failure { id: Id | undefined, text: string }

interface Opened {
  link: Link
  dialer: ChildDialer
  messages: Inbox<Message>
  failures: Inbox<Failure>
  closed: Promise<string>
}

/** Dials a program whose lines are what the script of node, or of the shell, writes. */
async function open (
  t: Test,
  [command, ...args]: [string, ...string[]],
  options: Partial<ChildOptions> = {},
  onLine?: (line: string) => void
): Promise<Opened> {
  const messages = new Inbox<Message>()
  const failures = new Inbox<Failure>()
  const dialer = childDialer(
    { kind: 'stdio', command, args, env: {}, cwd: undefined },
    { ...DEFAULTS, ...options },
    onLine
  )
  let close = (_why: string) => {}
  const closed = new Promise<string>(resolve => {
    close = resolve
  })
  const link = await dialer.dial(
    {
      message: message => {
        messages.push(message)
        return message.kind === 'response'
      },
      failed: (id, error) => failures.push({ id, text: error.message }),
      closed: why => close(why.message)
    },
    new AbortController().signal
  )
  t.teardown(async () => await link.close())
  return { link, dialer, messages, failures, closed }
}

const shell = (script: string): [string, string, string] => ['sh', '-c', script]
/** Answers each request with its id, after `before` was written. */
const echo = (before: string) =>
  shell(
    `${before}; while read -r line; do id=\${line#*\\"id\\":}; id=\${id%%,*}; echo '{"result":{},"jsonrpc":"2.0","id":'$id'}'; done`
  )

function send (link: Link, id: Id, params = {}): void {
  link.channelFor({ id, ...REQUEST }).emit(JSON.stringify({ jsonrpc: '2.0', id, ...REQUEST, params }), REQUEST.method)
}

t.test('what a server writes between its messages is skipped and kept for the operator', async t => {
  const { link, dialer, messages, failures } = await open(
    t,
    echo('echo; echo Listening...; echo "{\\"level\\":30,\\"id\\":1}"; echo "[]"; printf "\\377\\n"')
  )
  send(link, 1)
  t.match(await messages.next(), { kind: 'response', id: 1 })
  t.equal(failures.size, 0)
  t.match(dialer.lastLines(10), ['Listening...', '{"level":30,"id":1}', '[]'])
})

t.test('a batch is taken apart', async t => {
  const { messages } = await open(
    t,
    shell('echo \'[{"jsonrpc":"2.0","method":"a"},7,{"jsonrpc":"2.0","id":4,"result":{}}]\'; cat')
  )
  t.match(await messages.next(), { kind: 'notification', method: 'a' })
  t.match(await messages.next(), { kind: 'response', id: 4 })
})

t.test('a line over the limit fails the request that it answers, and the server runs on', async t => {
  const big = 'head -c 5000 /dev/zero | tr "\\000" x'
  const { link, messages, failures } = await open(t, echo([
    `printf '{"jsonrpc":"2.0","id":7,"result":"'; ${big}; echo '"}'`,
    `printf '{"result":"'; ${big}; echo '","jsonrpc":"2.0","id":"eight"}'`,
    `printf '{"result":"'; ${big}; echo '","id":9,"jsonrpc":"2.0"}'`,
    `printf '{"jsonrpc":"2.0","method":"notifications/message","params":"'; ${big}; echo '"}'`,
    `printf 'noise '; ${big}; echo`
  ].join('; ')), { maxUpstreamMessage: 4_096 })
  const text = 'it wrote a line of more than 4096 bytes'
  t.strictSame(
    [await failures.next(), await failures.next(), await failures.next()],
    [
      { id: 7, text },
      { id: 'eight', text },
      { id: undefined, text }
    ]
  )
  send(link, 10)
  t.match(await messages.next(), { kind: 'response', id: 10 })
  t.equal(failures.size, 0, 'neither a notification nor noise concerns a request')
})

t.test('a response that cannot be read fails its request', async t => {
  const { failures } = await open(
    t,
    shell(
      'echo \'{"jsonrpc":"2.0","id":1,"error":"no"}\'; echo \'{"jsonrpc":"2.0","id":2,"result":[1,1,1,1,1,1,1,1,1,1,1,1,1,1]}\'; cat'
    ),
    { maxUpstreamValues: 10 }
  )
  t.match(await failures.next(), { id: 1, text: /^its response cannot be read: / })
  t.match(await failures.next(), { id: 2, text: /^its response cannot be read: / })
})

t.test('a server that never reads costs a bounded number of bytes, and its calls fail', async t => {
  const { link, failures } = await open(t, shell('exec sleep 1000'), { maxUpstreamQueue: 100_000 })
  const text = 'x'.repeat(50_000)
  for (let id = 0; id < 20; id++) {
    send(link, id, { text })
    await new Promise(resolve => setImmediate(resolve))
  }
  const first = await failures.next()
  t.match(first.text, /^it does not read its standard input, where \d+ bytes wait$/)
  t.ok(Number(/\d+/.exec(first.text)?.[0]) <= 250_000)
  for (let count = 0; count < 100_000; count++) link.channel.respond('{"jsonrpc":"2.0","id":1,"result":{}}', 200)
  await new Promise(resolve => setImmediate(resolve))
  send(link, 21)
  let last = first
  while (last.id !== 21) last = await failures.next()
  t.ok(Number(/\d+/.exec(last.text)?.[0]) <= 2_000_000, last.text)
})

t.test('the end of a server is reported with its exit code, after its last message', async t => {
  const { messages, closed } = await open(t, shell('echo \'{"jsonrpc":"2.0","id":1,"result":{}}\'; exit 4'))
  t.equal(await inTime(closed, 'the end'), 'it exited with code 4')
  t.match(await messages.next(), { id: 1 })
})

t.test('a message without a newline at the end is a message', async t => {
  const { messages, closed } = await open(t, shell('printf \'{"jsonrpc":"2.0","id":1,"result":{}}\''))
  await closed
  t.match(await messages.next(), { id: 1 })
})

t.test('a server that closes one of its streams and lives on is stopped', async t => {
  const pids = join(await folder(t, {}), 'pids')
  const output = await open(t, shell(`echo $$ >>${pids}; exec >&-; exec sleep 1000`))
  t.equal(await inTime(output.closed, 'the end'), 'it closed its standard output')
  const input = await open(
    t,
    shell(`echo $$ >>${pids}; exec <&-; echo '{"jsonrpc":"2.0","method":"ready"}'; exec sleep 1000`)
  )
  await input.messages.next()
  send(input.link, 1)
  t.equal(await inTime(input.closed, 'the end'), 'it closed its standard input')
  await untilGone(await pidsIn(pids, 2))
})

t.test('an attempt that is given up leaves no process', async t => {
  const pids = join(await folder(t, {}), 'pids')
  const controller = new AbortController()
  const { dial } = childDialer(
    { kind: 'stdio', command: 'sh', args: ['-c', `echo $$ >>${pids}; exec sleep 1000`], env: {}, cwd: undefined },
    DEFAULTS
  )
  const dialled = dial({ message: () => false, failed: () => {}, closed: () => {} }, controller.signal)
  controller.abort(new Error('given up'))
  await t.rejects(dialled, { message: 'given up' })
  await untilGone(await pidsIn(pids, 0))
})

t.test('standard error is kept up to a limit, without colours', async t => {
  const lines: string[] = []
  const { dialer } = await open(
    t,
    shell(
      'i=0; while [ $i -lt 50 ]; do echo "line $i" >&2; i=$((i+1)); done; printf "\\033[31ma red word\\033[0m\\001\\tthere\\r\\n" >&2; cat'
    ),
    { maxUpstreamErrorOutput: 100 },
    line => lines.push(line)
  )
  await until(() => lines.length === 51)
  t.equal(lines[50], 'a red word? there')
  t.equal(lines[0], 'line 0')
  const kept = dialer.lastLines(100)
  t.equal(kept.at(-1), 'a red word? there')
  t.ok(kept.join('\n').length <= 100)
  t.strictSame(dialer.lastLines(2), ['line 49', 'a red word? there'])
})

t.test('a server that does not end when it should is killed after the time for each step', async t => {
  const pids = join(await folder(t, {}), 'pids')
  const { link } = await open(t, shell(`trap "" TERM; echo $$ >>${pids}; while :; do sleep 1; done`), {
    stopTimeout: () => 50
  })
  const [pid = 0] = await pidsIn(pids, 1)
  await link.close()
  t.notOk(isRunning(pid))
})

t.test('the last lines are those of the process that was started last', async t => {
  const { dialer, link } = await open(t, shell('echo "pid $$" >&2; cat'))
  await until(() => dialer.lastLines(10).length === 1)
  const [first] = dialer.lastLines(10)
  await link.close()
  const again = await dialer.dial(
    { message: () => false, failed: () => {}, closed: () => {} },
    new AbortController().signal
  )
  t.teardown(async () => await again.close())
  await until(() => dialer.lastLines(10).length === 1)
  t.not(dialer.lastLines(10)[0], first)
})
