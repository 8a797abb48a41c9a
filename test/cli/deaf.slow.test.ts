import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { inTime, pause } from '../support/wait.js'
import { folder } from '../support/process.js'

/** Sends large notifications again and again, or one large answer. */
const TALKER = `
import { setTimeout as sleep } from 'node:timers/promises'
import { tool } from 'mcp-patchbay'
export default async function talker (fastify) {
  fastify.mcp.tools.add(tool({ name: 'talk', description: 'd', run: async (_input, call) => {
    for (let said = 0; said < 600; said++) {
      call.log('error', 'x'.repeat(10_000))
      await sleep(5)
    }
  } }))
  fastify.mcp.tools.add(tool({ name: 'large', description: 'd', run: () => 'x'.repeat(3_000_000) }))
}`

/** A process whose standard output is not read until the test starts to. */
async function deaf (t: Test, tool: string) {
  const cwd = await folder(t, { 'talker.mjs': TALKER })
  const child = spawn(process.execPath, [COMMAND, '--stdio', '--ephemeral', '--plugin', 'talker.mjs'], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      PATCHBAY_LIMITS: 'maxQueue=100000,writeDeadline=300',
      PATCHBAY_GRACE: '1000',
      MCP_LOG_JSON: 'true'
    }
  })
  t.teardown(() => child.kill('SIGKILL'))
  let logged = ''
  child.stderr.on('data', (chunk: Buffer) => { logged += String(chunk) })
  const exited = once(child, 'exit')
  for (const message of [
    { id: 0, method: 'initialize', params: {} },
    { id: 1, method: 'tools/call', params: { name: tool } }
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  return { child, exited, logged: () => logged }
}

t.test('a client that reads nothing while tools write is given up: the process logs it and ends', async t => {
  const { exited, logged } = await deaf(t, 'talk')
  t.strictSame(await inTime(exited, 'the end', 60_000), [0, null])
  t.match(logged(), /standard output is not read/)
})

t.test('a client that reads a large answer late gets all of it', async t => {
  const { child, exited, logged } = await deaf(t, 'large')
  await pause(1_500, 'another process must not give its client up, for several times its deadline of 300 ms')
  t.equal(child.exitCode, null)
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => { text += String(chunk) })
  const ended = once(child.stdout, 'end')
  child.stdin.end()
  await inTime(Promise.all([exited, ended]), 'the end', 60_000)
  t.match(JSON.parse(text.trim().split('\n').at(-1) ?? ''), {
    id: 1,
    result: { content: [{ text: 'x'.repeat(3_000_000) }] }
  })
  t.notMatch(logged(), /is not read/)
})

t.test('with a client that reads nothing and closes stdin the process ends after the grace', async t => {
  const { child, exited } = await deaf(t, 'large')
  child.stdin.end()
  t.strictSame(await inTime(exited, 'the end', 60_000), [0, null])
})
