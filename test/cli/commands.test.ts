import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../support/wait.js'
import { forked, FORKS, isAlive, scripts } from '../support/environment/scripts.js'
import { folder, initialize, launch, PROCESSES, toolCall, type Json } from '../support/process.js'

const execute = (id: number, command: string, args?: string[]) =>
  toolCall(id, 'execute_command', { command, ...(args === undefined ? {} : { args }) })

const launched = async (
  t: Parameters<typeof launch>[0],
  commands: object,
  more: Record<string, string> = {},
  args: string[] = []
) =>
  launch(t, ['--stdio', '--log-level', 'silent', ...args], {
    env: { PATCHBAY_COMMANDS: JSON.stringify(commands), XDG_DATA_HOME: await folder(t, {}), ...more }
  })

t.test('execute_command of the command', async t => {
  t.jobs = PROCESSES

  t.test('ls runs over stdio as it is written in the protocol reference', { buffered: true }, async t => {
    const files = await folder(t, { 'seen.txt': 'x' })
    const gateway = await launched(t, {
      ls: { program: '/bin/ls', args: ['-la?', '/tmp(/[\\w.-]+)*'], maxArgs: 8, folder: '/tmp', timeout: 10_000 }
    })
    gateway.send(
      initialize,
      execute(1, 'ls', ['-la', '/tmp']),
      execute(2, 'ls', ['-la', '/etc']),
      execute(3, 'ls', ['-l', '/tmp/no-such-file'])
    )
    await gateway.next()
    const answers = new Map<unknown, Json>()
    for (let count = 0; count < 3; count++) {
      const { id, ...answer } = await gateway.next()
      answers.set(id, answer)
    }
    const { content: [{ text }] } = answers.get(1)?.result as { content: [{ text: string }] }
    t.match(text, /^total \d+\nd/)
    t.ok(
      readdirSync(join(files, '..')).length > 0 && text.includes(files.split('/').at(-1) as string),
      'what is there is listed'
    )
    t.strictSame(answers.get(2)?.result, {
      content: [
        {
          type: 'text',
          text: 'argument 2 of ls, "/etc", is not allowed; allowed are arguments that match -la? or /tmp(/[\\w.-]+)*'
        }
      ],
      isError: true
    })
    t.match(answers.get(3)?.result, {
      content: [{ text: /^Command failed: exit code \d+\n.*no-such-file/ }],
      isError: true
    })
  })

  t.test('one process serves it over stdio and refuses it over HTTP', { buffered: true }, async t => {
    const gateway = await launched(t, { echo: { args: ['\\w+'] } }, {}, ['--port', '0'])
    const url = await gateway.url()
    const message = JSON.stringify({ jsonrpc: '2.0', ...execute(1, 'echo', ['hello']) })
    const reply = await fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: message
    })
    t.match(await reply.json(), {
      result: { isError: true, content: [{ text: /only over stdio, or with authentication/ }] }
    })
    gateway.send(initialize, execute(1, 'echo', ['hello']))
    await gateway.next()
    t.match(await gateway.next(), { id: 1, result: { content: [{ text: 'hello\n' }] } })
  })

  t.test('no secret of the gateway reaches a program', { buffered: true }, async t => {
    const gateway = await launched(t, { env: {} }, { CANARY: 'canary-secret', PATCHBAY_SECRET: 'canary-secret-of-16' })
    gateway.send(initialize, execute(1, 'env'))
    await gateway.next()
    const answer = JSON.stringify(await gateway.next())
    t.match(answer, /LANG=C\.UTF-8/)
    t.notMatch(answer, /canary/)
  })

  t.test('a mistake in the list is one line that names the option', { buffered: true }, async t => {
    for (const [commands, expected] of [
      ['{"ls":{"args":["("]}}', /^patchbay: option commands\.ls\.args\.0 must be a regular expression/],
      ['ls', /^patchbay: PATCHBAY_COMMANDS must be JSON/]
    ] as const) {
      const { code, stderr } = await launch(t, ['--stdio'], {
        env: { PATCHBAY_COMMANDS: commands, XDG_DATA_HOME: await folder(t, {}) }
      }).exit()
      t.equal(code, 1)
      t.match(stderr, expected)
      t.equal(stderr.trim().split('\n').length, 1)
    }
  })

  t.test('a gateway that is stopped takes its programs along', { buffered: true }, async t => {
    const path = await scripts(t, { it: `${FORKS}; sleep 600` })
    const gateway = await launched(t, { it: { program: join(path, 'it'), folder: path } }, { PATCHBAY_GRACE: '100' })
    gateway.send(initialize, execute(1, 'it'))
    const pids = await forked(path)
    t.ok(pids.every(isAlive))
    gateway.kill('SIGTERM')
    const { code, stdout } = await gateway.exit()
    t.equal(code, 0)
    t.match(stdout, /The server is shutting down/)
    await until(() => !pids.some(isAlive))
  })
})
