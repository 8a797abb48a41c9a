import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { encode, modernParams } from '../load/transports/transport.js'
import { modernHeaders } from '../load/transports/post.js'
import { HttpConnection } from '../support/http-connection.js'
import { within } from '../support/wait.js'
import type { Json } from '../support/modern.js'
import type { Trail } from './trail-plugin.js'

// Memory that is not in use any more costs nothing to collect; what seems to be is copied, and copied again. A table of
// a Map or a Set that has become old refers to the one that took its place, and that to the next: without a remedy, no
// finished call is ever collected. So tables are made old on purpose, and then it is counted what of thousands of calls
// is still there whenever memory is full.

const PLUGIN = fileURLToPath(new URL('trail-plugin.js', import.meta.url))
const IN_FLIGHT = 64
const DEADLINE = 60_000

/** Calls a tool as one of many clients, or callers, and gives the text it answers with. */
type CallTool = (caller: number, name: string, args?: Json) => Promise<string>

function command (t: Test, ...args: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--max-semi-space-size=16', COMMAND, '--ephemeral', '--plugin', PLUGIN, ...args],
    { cwd: tmpdir(), env: { PATH: process.env['PATH'] } }
  )
  const ended = once(child, 'close')
  t.teardown(async () => { child.kill('SIGKILL'); await ended })
  return child
}

const textOf = (answer: string): string =>
  (JSON.parse(answer) as { result: { content: Array<{ text: string }> } }).result.content[0]?.text ?? ''

async function overStdio (t: Test): Promise<CallTool> {
  const { stdin, stdout, stderr } = command(t, '--stdio')
  stderr.resume()
  const waiting = new Map<string, (answer: string) => void>()
  createInterface({ input: stdout }).on('line', line => waiting.get(/"id":(\d+)/.exec(line)?.[1] ?? '')?.(line))
  // What is asked in one turn is sent in one piece.
  let text = ''
  const send = () => { stdin.write(text); text = '' }
  return async (caller, name, args = {}) => await new Promise(resolve => {
    waiting.set(String(caller), answer => resolve(textOf(answer)))
    if (text === '') setImmediate(send)
    text += `${encode(caller, 'tools/call', modernParams({ name, arguments: args }))}\n`
  })
}

async function overHttp (t: Test): Promise<CallTool> {
  const { stderr } = command(t, '--port', '0')
  let output = ''
  await within(DEADLINE, async signal => {
    while (!/MCP +http/.test(output)) output += String((await once(stderr, 'data', { signal }))[0])
  })
  stderr.resume()
  const port = Number(/MCP +http:\/\/\S+:(\d+)/.exec(output)?.[1])
  const connections = Array.from({ length: IN_FLIGHT + 1 }, () => new HttpConnection(port))
  t.teardown(() => { for (const { socket } of connections) socket.destroy() })
  return async (caller, name, args = {}) => {
    const params = modernParams({ name, arguments: args })
    const headers = modernHeaders({ method: 'tools/call', params })
    return textOf(
      (
        await (connections[caller] as HttpConnection).exchange({
          method: 'POST',
          path: '/mcp',
          headers,
          body: encode(caller, 'tools/call', params)
        })
      ).body
    )
  }
}

/** What so many calls leave behind, of which some are always in flight. */
async function trailOf (call: CallTool, calls: number): Promise<Trail> {
  const flood = async (count: number): Promise<void> => {
    const work = async (caller: number): Promise<void> => {
      while (count-- > 0) await call(caller, 'later', { text: 'x'.repeat(32) })
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, async (_, caller) => await work(caller)))
  }
  await flood(calls / 5)
  const held = Array.from({ length: IN_FLIGHT }, async (_, caller) => await call(caller, 'hold'))
  for (let aged = 0; aged < IN_FLIGHT;) aged += Number(await call(IN_FLIGHT, 'age'))
  await Promise.all(held)
  await call(IN_FLIGHT, 'start')
  await flood(calls)
  return JSON.parse(await call(IN_FLIGHT, 'stop')) as Trail
}

async function giveUp (signal: AbortSignal): Promise<never> {
  await once(signal, 'abort')
  throw signal.reason
}

// At most as much as calls in flight need, be they all begun when memory is full: a few times what is seen. With a
// trail it is an eighth or more.
for (const [transport, open, calls, most] of [
  ['stdio', overStdio, 20_000, 5],
  ['HTTP', overHttp, 3_000, 10]
] as const) {
  t.test(`of thousands of calls over ${transport} only those in flight survive a collection`, async t => {
    const { collections, used, survived } = await within(
      DEADLINE,
      async signal => await Promise.race([trailOf(await open(t), calls), giveUp(signal)])
    )
    const share = (100 * survived) / used
    t.ok(collections >= 2 && used / calls > 500, `${collections} collections of ${(used / 2 ** 20).toFixed()} MiB`)
    t.ok(share < most, `${share.toFixed(2)} % survived`)
  })
}
