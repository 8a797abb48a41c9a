import t from 'tap'
import matrixFixture from '../../matrix/fixture.js'
import { COMMAND } from '../../support/command.js'
import fixture, { listening } from '../../support/gateway.js'
import { FIXTURE, launch, PROCESSES } from '../../support/process.js'
import { revisions } from '../../support/specification/revisions.js'

const PROGRAM = [process.execPath, COMMAND, '--stdio', '--ephemeral', '--plugin', FIXTURE]

t.test('the command-line client speaks every revision over every transport', async t => {
  t.jobs = PROCESSES
  const { url } = await listening(t, { plugins: [fixture, matrixFixture] })
  const targets: Record<string, string[]> = {
    HTTP: ['--url', `${url}/mcp`],
    WebSocket: ['--url', `${url.replace('http', 'ws')}/mcp`],
    'HTTP+SSE': ['--url', `${url}/sse`],
    'a program': ['--', ...PROGRAM]
  }
  for (const [name, target] of Object.entries(targets)) {
    for (const { version, modern, elicitation } of revisions) {
      // HTTP+SSE is the transport of revisions with a handshake.
      if (modern && name === 'HTTP+SSE') continue
      t.test(`${version} over ${name}`, { buffered: true }, async t => {
        const run = async (...args: string[]): Promise<{ code: number | null, stdout: string, stderr: string }> => {
          const launched = launch(t, [...args, '--revision', version, '--format', 'text', ...target])
          launched.end()
          return await launched.exit()
        }
        t.match(await run('tools', 'echo'), { code: 0, stdout: /text {2}string, required/, stderr: '' })
        t.match(await run('call', 'say', 'level=error', 'text=x'), { code: 0, stderr: '[error] say: x\n' })
        t.match(await run('call', 'ask_name'), elicitation
          ? { code: 0, stdout: 'You chose to decline.\n', stderr: /^patchbay: the server asks: What is your name\?; declined/ }
          : { code: 2, stdout: '', stderr: /^patchbay: the server answered with error/ })
        // What follows is the same over every transport, once a call with a log message and a question is.
        if (name !== 'HTTP') return
        t.match(await run('call', 'echo', 'text=é'), { code: 0, stdout: 'é\n', stderr: '' })
        t.match(await run('call', 'slow', 'steps=2'), { code: 0, stdout: '2 steps\n', stderr: '' })
        t.match(await run('call', 'refuse'), { code: 1, stdout: 'not today\n' })
        t.match(await run('call', 'ask_roots'), { code: 0, stderr: '' })
        t.match(await run('read', 'test://text'), { code: 0, stdout: 'hello', stderr: '' })
        t.match(await run('prompt', 'introduce', 'who=Ada'), { code: 0, stdout: 'user: Introduce Ada.\n', stderr: '' })
      })
    }
  }
})
