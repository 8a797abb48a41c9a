import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { serveStdio, tool } from '../../app.js'
import { frame, OPCODE, openSocket } from '../support/websocket-client.js'
import { gateway, listening } from '../support/gateway.js'
import { modernMeta, type Json } from '../support/modern.js'
import { until } from '../support/wait.js'

// A write is a call of the operating system, and costs more than the call of a tool that it answers.

type Write = (this: Socket, ...args: unknown[]) => void
interface Written { _write: Write, _writev: Write }

/** How often a server has written to a socket so far. */
function writes (app: FastifyInstance): () => number {
  let count = 0
  app.server.on('connection', (socket: Socket) => {
    const written = socket as unknown as Written
    for (const way of ['_write', '_writev'] as const) {
      const write = written[way]
      written[way] = function (...args) { count++; write.apply(this, args) }
    }
  })
  return () => count
}

const call = (id: number, name: string, args: Json = {}, meta: Json = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta } })

/** Answers when the test decides. */
function gate (app: FastifyInstance): { open: () => void, waiting: () => number } {
  let [open, waiting] = [() => {}, 0]
  const opened = new Promise<void>(resolve => { open = resolve })
  app.mcp.tools.add(
    tool({
      name: 'gate',
      description: 'd',
      run: async () => {
        waiting++
        await opened
        return 'open'
      }
    })
  )
  return { open, waiting: () => waiting }
}

t.test('64 requests that come together over stdio are answered in one write', async t => {
  const app = await gateway(t, { http: false })
  /** How many answers each write had. */
  const answers: number[] = []
  const input = new PassThrough()
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      const count = String(chunk).split('"id":').length - 1
      // The lists may be announced meanwhile.
      if (count > 0) answers.push(count)
      done()
    }
  })
  serveStdio(app.mcp, { input, output, maxMessage: 100_000 })
  input.write('{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}\n')
  const total = () => answers.reduce((sum, count) => sum + count, 0)
  await until(() => total() === 1)
  const round = async () => {
    const before = total()
    input.write(Array.from({ length: 64 }, (_, id) => `${call(id, 'echo', { text: 'x' })}\n`).join(''))
    await until(() => total() === before + 64)
  }
  // What is loaded when it is first used may take more than a turn.
  await round()
  answers.length = 0
  for (let rounds = 0; rounds < 5; rounds++) await round()
  t.strictSame(answers, [64, 64, 64, 64, 64])
})

t.test('eight messages in one segment over WebSocket', async t => {
  const { app, url } = await listening(t)
  const { open, waiting } = gate(app)
  const count = writes(app)
  const socket = await openSocket(Number(new URL(url).port))
  t.teardown(async () => await socket.close())
  socket.send('{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}')
  await socket.inbox.next()
  const send = (name: string, args: Json = {}) =>
    socket.write(
      Buffer.concat(Array.from({ length: 8 }, (_, id) => frame({ opcode: OPCODE.text, payload: call(id, name, args) })))
    )
  const answers = async () => {
    const ids: unknown[] = []
    while (ids.length < 8) ids.push((await socket.inbox.next() as Json).id)
    return ids
  }

  t.test('are answered in one write', async t => {
    const before = count()
    send('echo', { text: 'x' })
    t.strictSame(await answers(), [0, 1, 2, 3, 4, 5, 6, 7])
    t.equal(count() - before, 1)
  })

  t.test('are answered in one write when their tools end together', async t => {
    const before = count()
    send('gate')
    await until(() => waiting() === 8)
    t.equal(count(), before)
    open()
    t.strictSame(await answers(), [0, 1, 2, 3, 4, 5, 6, 7])
    t.equal(count() - before, 1)
  })
})

t.test('an answer over HTTP', async t => {
  const { app, url } = await listening(t)
  const count = writes(app)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const post = async (body: string, headers: Record<string, string> = {}, path = '/mcp') => {
    const sent = request(`${url}${path}`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
    })
    const [response] = await once(sent.end(body), 'response') as [IncomingMessage]
    return { response, body: JSON.parse(await text(response)) as Json }
  }
  const { response } = await post('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}')
  const session = String(response.headers['mcp-session-id'])
  app.mcp.tools.add(tool({ name: 'later', description: 'd', run: async () => { await turn(); return 'later' } }))

  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  const big = 'x'.repeat(100_000)
  const cases: Array<[what: string, body: string, headers?: Record<string, string>, path?: string]> = [
    ['in a session', call(1, 'echo', { text: 'x' }), { 'mcp-session-id': session }],
    ['of much', call(1, 'echo', { text: big }), { 'mcp-session-id': session }],
    ['without a session', call(1, 'echo', { text: 'x' }, modernMeta()), modern],
    [
      'of a call with progress that reports none',
      call(1, 'later', {}, { progressToken: 1 }),
      { 'mcp-session-id': session }
    ],
    ['that is an error', call(1, 'nothing'), { 'mcp-session-id': session }],
    ['of /message', call(1, 'echo', { text: 'x' }), {}, '/message']
  ]
  for (const [what, body, headers, path] of cases) {
    t.test(`${what} is JSON, and head and body are one write`, async t => {
      const before = count()
      const { response, body: answer } = await post(body, headers, path)
      t.match(answer, { id: 1 })
      t.match(response.headers, {
        'content-type': /^application\/json/,
        'content-length': /^\d+$/,
        'transfer-encoding': undefined
      })
      t.equal(count() - before, 1)
    })
  }
})
