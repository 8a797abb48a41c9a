import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hashOf } from '../../../system/credentials/api-key.js'
import { COMMAND } from '../../support/command.js'
import matrixFixture from '../../matrix/fixture.js'
import fixture, { listening } from '../../support/gateway.js'
import { FIXTURE, folder, launch, PROCESSES, type Ended, type LaunchOptions } from '../../support/process.js'
import { freePort } from '../../support/restarting.js'

type Json = Record<string, unknown>

const KEY = 'k'.repeat(43)

type Given = LaunchOptions & { input?: string | Buffer }

/** Runs a command to its end. */
const run = async (t: Test, args: string[], options: Given = {}): Promise<Ended> => {
  const launched = launch(t, args, options)
  if (options.input !== undefined) launched.write(options.input)
  launched.end()
  return await launched.exit()
}

const json = ({ stdout }: Ended): Json => JSON.parse(stdout) as Json

t.test('the command-line client, in a pipe', async t => {
  t.jobs = PROCESSES
  const { url: origin } = await listening(t, { plugins: [fixture, matrixFixture] })
  const url = `${origin}/mcp`
  const at = ['--url', url]

  t.test('tools are listed as JSON, all of them or by a pattern', { buffered: true }, async t => {
    const all = await run(t, ['tools', ...at])
    t.match(all, { code: 0, stderr: '' })
    const tools = JSON.parse(all.stdout) as Json[]
    t.ok(tools.some(({ name, inputSchema }) => name === 'echo' && typeof inputSchema === 'object'))
    const asking = JSON.parse((await run(t, ['tools', 'ask_*', '--json', ...at])).stdout) as Json[]
    t.strictSame(asking.map(({ name }) => name).sort(), ['ask_model', 'ask_name', 'ask_roots', 'ask_twice'])
    t.match(await run(t, ['tools', 'ehco', ...at]), {
      code: 1,
      stdout: '',
      stderr: 'patchbay: no tool is called like "ehco"; did you mean "echo"?\n'
    })
  })

  t.test('of one tool, the arguments are printed', { buffered: true }, async t => {
    t.match(json(await run(t, ['tools', 'echo', ...at])), { name: 'echo', inputSchema: { required: ['text'] } })
    const { stdout } = await run(t, ['tools', 'calculate', '--format', 'text', ...at])
    t.match(stdout, /^calculate\b.*\n\nPerform .*\n\nArguments:\n {2}operation {2}\S.*required\n {6}one of add, subtract/s)
    t.match(stdout, /\nFor example: patchbay call calculate operation=add a=1 b=1\n$/)
    t.equal((await run(t, ['call', 'calculate', '--help', ...at])).stdout, stdout, '--help of a tool')
    t.match(await run(t, ['call', 'calcluate', '--help', ...at]), {
      code: 1,
      stderr: 'patchbay: there is no tool "calcluate"; did you mean "calculate"?\n'
    })
  })

  t.test('a call prints its whole result as one line of JSON', { buffered: true }, async t => {
    const ended = await run(t, ['call', 'calculate', 'operation=add', 'a=1', 'b=-2.5', ...at])
    t.match(ended, { code: 0, stderr: '' })
    t.equal(ended.stdout.trimEnd().split('\n').length, 1)
    t.match(json(ended), { content: [{ type: 'text' }], structuredContent: { result: -1.5 } })
  })

  t.test('arguments come as JSON from the command line, standard input or a file, too', { buffered: true }, async t => {
    const text = 'é "quoted"\n{1}'
    const args = JSON.stringify({ text })
    t.match(json(await run(t, ['call', 'echo', '--json', args, ...at])), { structuredContent: { text } })
    t.match(json(await run(t, ['call', 'echo', '-', ...at], { input: args })), { structuredContent: { text } })
    const place = await folder(t, { 'text.txt': text })
    t.match(json(await run(t, ['call', 'echo', 'text=@text.txt', ...at], { cwd: place })), { structuredContent: { text } })
    t.match(await run(t, ['call', 'echo', 'text=@gone.txt', ...at], { cwd: place }), {
      code: 1,
      stderr: 'patchbay: an argument: gone.txt does not exist\n'
    })
    writeFileSync(join(place, 'bytes'), Buffer.from([0x61, 0xff, 0x62]))
    t.match(await run(t, ['call', 'echo', 'text=@bytes', ...at], { cwd: place }), {
      code: 1,
      stdout: '',
      stderr: /^patchbay: an argument: bytes is no text in UTF-8; a tool that takes bytes wants them as text/
    })
    t.match(await run(t, ['call', 'echo', '-', ...at], { input: Buffer.from('{"text":"\xff"}', 'latin1') }), {
      code: 1,
      stdout: '',
      stderr: /^patchbay: standard input is no text in UTF-8/
    })
    t.match(await run(t, ['call', 'echo', '-', ...at], { input: '[]' }), {
      code: 1,
      stderr: /^patchbay: standard input must be a JSON object/
    })
  })

  t.test('wrong and missing arguments are said before anything is sent', { buffered: true }, async t => {
    t.match(await run(t, ['call', 'calculate', 'operation=plus', 'a=x', 'opration=1', ...at]), {
      code: 1,
      stdout: '',
      stderr: [
        'patchbay: argument operation must be one of add, subtract, multiply, divide, not "plus"',
        'patchbay: argument a must be a number, not "x"',
        'patchbay: there is no argument "opration"; did you mean "operation"?',
        'patchbay: b (number) is missing',
        ''
      ].join('\n')
    })
  })

  t.test('a tool that fails ends the command with 1, an error of the protocol with 2', { buffered: true }, async t => {
    const failed = await run(t, ['call', 'refuse', ...at])
    t.equal(failed.code, 1)
    t.match(json(failed), { isError: true, content: [{ text: 'not today' }] })
    t.match(await run(t, ['call', 'refuse', '--format', 'text', ...at]), { code: 1, stdout: 'not today\n' })
    t.match(await run(t, ['call', 'ehco', 'text=x', ...at]), {
      code: 2,
      stdout: '',
      stderr: /^patchbay: the server does not list a tool "ehco"; did you mean "echo"\?\npatchbay: the server answered with error -32602: /
    })
    t.match(await run(t, ['read', 'test://nothing', ...at]), { code: 2, stderr: /^patchbay: the server answered with error -32602: / })
  })

  t.test('text alone is printed where that is wanted, and files are written where they are', { buffered: true }, async t => {
    t.match(await run(t, ['call', 'every_block', '--format', 'text', ...at]), {
      code: 0,
      stdout: 'text\n[image/png, 3 bytes]\n[audio/wav, 3 bytes]\nhello\ntext test://text\n'
    })
    const place = await folder(t, {})
    const { stderr } = await run(t, ['call', 'every_block', '--out', 'picture.png', ...at], { cwd: place })
    t.equal(stderr, 'patchbay: wrote [image/png, 3 bytes] to picture.png\npatchbay: wrote [audio/wav, 3 bytes] to picture-2.png\n')
    for (const name of ['picture.png', 'picture-2.png']) t.strictSame([...readFileSync(join(place, name))], [0, 0, 0])
    t.match(await run(t, ['call', 'every_block', '--out', 'no/picture.png', ...at], { cwd: place }), {
      code: 1,
      stderr: 'patchbay: --out no/picture.png: its folder does not exist, or cannot be written to\n'
    })
  })

  t.test('a resource is written as its bytes', { buffered: true }, async t => {
    t.match(await run(t, ['read', 'test://text', ...at]), { code: 0, stdout: 'hello', stderr: '' })
    t.match(await run(t, ['read', 'test://bytes', ...at]), { code: 0, stdout: '\u0001\u0002\u0003', stderr: '' })
    t.match(json(await run(t, ['read', 'test://text', '--format', 'json', ...at])), { contents: [{ text: 'hello' }] })
    const lists = json(await run(t, ['read', ...at]))
    t.ok((lists.resources as Json[]).some(({ uri }) => uri === 'test://text'))
    t.ok((lists.resourceTemplates as Json[]).some(({ uriTemplate }) => uriTemplate === 'test://item/{id}'))
  })

  t.test('the messages of a prompt are printed', { buffered: true }, async t => {
    t.match(json(await run(t, ['prompt', 'introduce', 'who=Ada', ...at])), { messages: [{ content: { text: 'Introduce Ada.' } }] })
    t.match(await run(t, ['prompt', 'introduce', 'who=Ada', '--format', 'text', ...at]), { stdout: 'user: Introduce Ada.\n' })
    t.match(await run(t, ['prompt', 'introduce', 'who=Ada', 'how=so', ...at]), { code: 1, stderr: /there is no argument "how"/ })
    t.match(await run(t, ['prompt', 'introduce', ...at]), { code: 1, stderr: 'patchbay: who (string) is missing\n' })
    t.match(await run(t, ['prompt', 'introduced', ...at]), { code: 1, stderr: /there is no prompt "introduced"; did you mean "introduce"/ })
    t.match((await run(t, ['prompt', 'introduce', '--help', ...at])).stdout, /^introduce {2}\(Introduce\)\n.*who {2}string, required/s)
    t.match(await run(t, ['prompt', '--format', 'text', ...at]), { stdout: /^introduce +Introduces somebody$/m })
  })

  t.test('log messages go to standard error, and no progress bar', { buffered: true }, async t => {
    const said = await run(t, ['call', 'say', 'level=warning', 'text=mind\u001b[31m this', ...at])
    t.match(said, { code: 0, stderr: '[warning] say: mind\\u{1b}[31m this\n' })
    t.match(await run(t, ['call', 'say', 'level=debug', 'text=x', ...at]), { stderr: '' })
    t.match(await run(t, ['call', 'say', 'level=debug', 'text=x', '--log-level', 'debug', ...at]), { stderr: '[debug] say: x\n' })
    t.match(await run(t, ['call', 'say', 'level=alert', 'text=x', '--log-level', 'silent', ...at]), { stderr: '' })
    t.match(await run(t, ['call', 'slow', ...at]), { code: 0, stderr: '' })
  })

  t.test('questions are declined in words, because there is no terminal', { buffered: true }, async t => {
    const { code, stdout, stderr } = await run(t, ['call', 'ask_name', '--format', 'text', ...at])
    t.strictSame([code, stdout], [0, 'You chose to decline.\n'])
    t.equal(stderr, 'patchbay: the server asks: What is your name?; declined, because this is no terminal\n')
    t.match(await run(t, ['call', 'ask_roots', '--format', 'text', ...at]), { code: 0, stderr: '' }, 'no folders')
    t.match(await run(t, ['call', 'ask_model', ...at]), { code: 2, stderr: /sampling/ }, 'no model')
  })

  t.test('Ctrl-C cancels the call at the server, and ends the command with 130', { buffered: true }, async t => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const key = `ctrl-c ${revision}`
      const hanging = launch(t, ['call', 'hang', `key=${key}`, '--revision', revision, ...at])
      t.match(await run(t, ['call', 'wait_for', `moment=${key} started`, ...at]), { code: 0 })
      hanging.kill('SIGINT')
      t.match(await hanging.exit(), { code: 130, stdout: '', stderr: '' })
      t.match(await run(t, ['call', 'wait_for', `moment=${key} aborted`, ...at]), { code: 0 }, 'the tool was told')
    }
  })

  t.test('an answer that does not come in time is given up, and the call is cancelled', { buffered: true }, async t => {
    const hanging = launch(t, ['call', 'hang', 'key=late', '--timeout', '10', ...at])
    t.match(await run(t, ['call', 'wait_for', 'moment=late started', ...at]), { code: 0 })
    t.match(await hanging.exit(), {
      code: 3,
      stdout: '',
      stderr: 'patchbay: no answer within 10 s, and the request was cancelled\n'
    })
    t.match(await run(t, ['call', 'wait_for', 'moment=late aborted', ...at]), { code: 0 })
  })
})

t.test('where the command-line client looks for its server', async t => {
  t.jobs = PROCESSES

  t.test('the gateway of this machine is found by its settings, and a view of it by its name', { buffered: true }, async t => {
    const { app } = await listening(t, { views: { some: { tools: ['echo'] } } })
    const port = String((app.server.address() as { port: number }).port)
    t.match(json(await run(t, ['call', 'echo', 'text=x', '--port', port])), { structuredContent: { text: 'x' } })
    const place = await folder(t, { 'patchbay.json': JSON.stringify({ port: Number(port) }) })
    t.match(await run(t, ['call', 'echo', 'text=x', '--config', 'patchbay.json'], { cwd: place }), { code: 0 })
    const viewed = await run(t, ['tools', '--view', 'some'], { env: { PATCHBAY_PORT: port } })
    t.strictSame((JSON.parse(viewed.stdout) as Json[]).map(({ name }) => name), ['echo'])
  })

  t.test('where none answers, it is said how to start one', { buffered: true }, async t => {
    const port = String(await freePort())
    t.match(await run(t, ['tools', '--port', port]), {
      code: 3,
      stdout: '',
      stderr: `patchbay: no gateway answers at http://127.0.0.1:${port}/mcp; start one with "patchbay", or name a server: --url URL, or -- COMMAND\n`
    })
    t.match(await run(t, ['tools', '--url', `http://127.0.0.1:${port}/mcp`]), {
      code: 3,
      stderr: /^patchbay: http:\S+ could not be asked: the connection was refused; /
    })
  })

  t.test('a program that cannot be started, or ends, is named with its last words', { buffered: true }, async t => {
    t.match(await run(t, ['tools', '--', 'no-such-program']), { code: 3, stderr: /^patchbay: no-such-program could not be asked: / })
    const dying = 'console.error("the disk\u001b[2J is full"); process.exit(3)'
    t.match(await run(t, ['tools', '--', process.execPath, '-e', dying]), { code: 3, stderr: /\npatchbay: \| the disk is full\n$/ })
  })

  t.test('a program gets the environment of the user, but for the key', { buffered: true }, async t => {
    const server = [process.execPath, COMMAND, '--stdio', '--ephemeral', '--plugin', FIXTURE]
    const env = { PATCHBAY_PAGE_SIZE: '2', PATCHBAY_KEY: 'secret' }
    const { code, stderr } = await run(t, ['call', 'echo', 'text=x', '--', ...server], { env })
    t.equal(code, 0, stderr)
    t.match(await run(t, ['tools', '--', ...server], { env: { PATCHBAY_PAGE_SIZE: 'x' } }), { code: 1 }, 'our own settings')
  })

  t.test('a key is read from a file or the environment, and is in no message', { buffered: true }, async t => {
    const { url } = await listening(t, { apiKeys: [{ name: 'ci', hash: hashOf(KEY), scopes: ['mcp'] }] })
    const at = ['--url', `${url}/mcp`]
    const place = await folder(t, { key: `${KEY}\n`, headers: `Authorization: Bearer ${KEY}\n`, wrong: 'wrong-key' })
    t.match(await run(t, ['call', 'echo', 'text=x', ...at], { env: { PATCHBAY_KEY: KEY } }), { code: 0, stderr: '' })
    t.match(await run(t, ['call', 'echo', 'text=x', '--key', 'key', ...at], { cwd: place }), { code: 0, stderr: '' })
    t.match(await run(t, ['call', 'echo', 'text=x', '--header', '@headers', ...at], { cwd: place }), { code: 0, stderr: '' })
    t.match(await run(t, ['tools', ...at]), { code: 3, stderr: /^patchbay: http:\S+ needs a credential \(status 401\): / })
    const refused = await run(t, ['tools', '--key', 'wrong', ...at], { cwd: place })
    t.match(refused, { code: 3, stderr: /does not accept this credential/ })
    t.notMatch(refused.stderr, /wrong-key/)
    t.match(await run(t, ['tools', '--key', 'gone', ...at], { cwd: place }), { code: 1, stderr: 'patchbay: --key: gone does not exist\n' })
  })

  for (const [args, stderr] of [
    [['call'], 'patchbay: patchbay call needs the name of a tool; patchbay tools lists them\n'],
    [['tools', '--url', 'nowhere'], 'patchbay: --url must be a URL such as https://example.com/mcp, not "nowhere"\n'],
    [['tools', '--url', 'ftp://x'], 'patchbay: --url must begin with http:, https:, ws: or wss:, not ftp:\n'],
    [['tools', '--url', 'http://x', '--', 'y'], 'patchbay: --url names one server, and what follows -- another; leave one of them out\n'],
    [['tools', '--'], /^patchbay: -- is followed by the command of a server/],
    [['tools', '--key', 'x', '--', 'y'], /^patchbay: --key: x does not exist/],
    [['tools', '--view', 'x', '--', 'y'], /^patchbay: --view is a view of the gateway of this machine/],
    [['tools', '--revision', 'x'], /^patchbay: --revision must be one of 2026-07-28, /],
    [['tools', '--timeout', 'x'], 'patchbay: --timeout must be a number of seconds, not "x"\n'],
    [['tools', '--log-level', 'x'], /^patchbay: --log-level must be one of debug, /],
    [['tools', '--header', 'secret'], 'patchbay: --header must be a header such as "Name: value"\n'],
    [['tools', '--fromat', 'json'], 'patchbay: there is no option --fromat; did you mean --format?\n'],
    [['call', 'x', '--json', '{'], /^patchbay: --json is not JSON: /]
  ] as Array<[string[], string | RegExp]>) {
    t.test(`patchbay ${args.join(' ')} is refused in words`, { buffered: true }, async t => {
      t.match(await run(t, args), { code: 1, stdout: '', stderr })
    })
  }
})
