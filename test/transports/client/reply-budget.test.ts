import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import { encodeRequest } from '../../../protocol/wire/jsonrpc.js'
import { IncomingReply, ReplyBudget } from '../../../transports/client/reply-budget.js'
import { openStdioLink } from '../../../transports/client/stdio.js'
import { until } from '../../support/wait.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'
import { connect, end, event, resultOf, sendJson, startEvents, startRawServer } from './raw-server.js'

const MiB = 1024 * 1024

function reply (budget: ReplyBudget, caller: string): IncomingReply {
  return new IncomingReply(budget, caller, { pause: () => {}, resume: () => {} })
}

t.test('beyond the limit of one caller, one of its replies goes on to its end, and others are not concerned', async t => {
  const budget = new ReplyBudget(4 * MiB, 100 * MiB)
  const [first, second, third, other] = [reply(budget, 'bob'), reply(budget, 'bob'), reply(budget, 'bob'), reply(budget, 'ada')]
  first.update(2 * MiB)
  second.update(1.5 * MiB)
  third.update(MiB)
  t.strictSame([first, second, third].map(({ isPaused }) => isPaused), [false, false, true])
  second.update(1.75 * MiB)
  t.equal(second.isPaused, true)
  first.update(10 * MiB)
  t.equal(first.isPaused, false, 'it may finish')
  other.update(3 * MiB)
  t.equal(other.isPaused, false)
  first.update(0)
  await until(() => !second.isPaused && !third.isPaused, 'the others')
  for (const each of [second, third, other]) each.update(0)
  t.equal(budget.bytes, 0)
})

t.test('beyond the limit of all, the reply of the caller with the least goes on, and a caller with little is not concerned', async t => {
  const budget = new ReplyBudget(8 * MiB, 10 * MiB)
  const [bob, cy, small] = [reply(budget, 'bob'), reply(budget, 'cy'), reply(budget, 'ada')]
  bob.update(7 * MiB)
  cy.update(4 * MiB)
  t.equal(cy.isPaused, false)
  bob.update(7.5 * MiB)
  t.equal(bob.isPaused, true)
  small.update(MiB)
  t.equal(small.isPaused, false)
  cy.update(0)
  await until(() => !bob.isPaused, 'the other')
  bob.update(0)
  small.update(0)
})

t.test('a reply that may be read and stands still gives its place to the next', async t => {
  const budget = new ReplyBudget(100 * MiB, 4 * MiB)
  const [slow, next] = [reply(budget, 'bob'), reply(budget, 'cy')]
  slow.update(2 * MiB)
  next.update(3 * MiB)
  t.strictSame([slow.isPaused, next.isPaused], [false, true])
  const awake = setInterval(() => {}, 50)
  await until(() => !next.isPaused, 'the place')
  clearInterval(awake)
  next.update(0)
  slow.update(0)
})

t.test('what clients have not read counts with the bytes of all', async t => {
  let queued = 10 * MiB
  const budget = new ReplyBudget(100 * MiB, 8 * MiB, () => queued)
  const [first, second] = [reply(budget, 'ada'), reply(budget, 'bob')]
  first.update(2 * MiB)
  second.update(3 * MiB)
  t.equal(second.isPaused, true)
  queued = 0
  const awake = setInterval(() => {}, 50)
  await until(() => !second.isPaused, 'the client')
  clearInterval(awake)
  first.update(0)
  second.update(0)
})

const TEXT = 'x'.repeat(3 * MiB)
const LIMITS = { maxMessage: 4 * MiB }

/** Links to servers that answer `tools/call` with 3 MiB. */
const servers: Record<string, (t: Test, replies: ReplyBudget) => Promise<LinkRecorder>> = {
  'an HTTP reply': async (t, replies) => {
    const { url } = await startRawServer(t, got => sendJson(got, resultOf(got, { TEXT })))
    return await connect(t, 'http', url, { ...LIMITS, replies })
  },
  'an event of a reply': async (t, replies) => {
    const { url } = await startRawServer(t, got => startEvents(got).end(event(resultOf(got, { TEXT }))) !== undefined)
    return await connect(t, 'http', url, { ...LIMITS, replies })
  },
  'HTTP+SSE': async (t, replies) => {
    let stream: ReturnType<typeof startEvents> | undefined
    const { url } = await startRawServer(t, got => {
      if (got.method === 'GET') (stream = startEvents(got)).write('event: endpoint\ndata: /post\n\n')
      else stream?.write(event(resultOf(got, { TEXT })))
      return got.method === 'GET' || end(got, 202)
    })
    return await connect(t, 'sse', url, { ...LIMITS, replies })
  },
  'a WebSocket': async (t, replies) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    t.teardown(() => { server.close() })
    await once(server, 'listening')
    server.on('connection', socket => socket.on('message', data => { socket.send(JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: number }).id, result: { TEXT } })) }))
    return await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { ...LIMITS, replies })
  },
  'a line of a process': async (t, replies) => {
    const [recorder, stdin, stdout] = [new LinkRecorder(), new PassThrough(), new PassThrough()]
    stdin.on('data', data => {
      const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: number }).id, result: { TEXT } })}\n`)
      for (let at = 0; at < line.length; at += 65_536) stdout.write(line.subarray(at, at + 65_536))
    })
    const child = { stdin, stdout, ended: new Promise<string>(() => {}), stop: async () => {} }
    await recorder.dial(async events => openStdioLink(child, events, { ...OPTIONS, ...LIMITS, replies, onNoise: () => {} }))
    t.teardown(() => recorder.link.close())
    return recorder
  }
}

for (const [what, open] of Object.entries(servers)) {
  t.test(`${what} waits while too much is held, and is read to its end afterwards`, async t => {
    const budget = new ReplyBudget(100 * MiB, 2 * MiB)
    const recorder = await open(t, budget)
    const other = reply(budget, 'bob')
    other.update(2.25 * MiB)
    const moves = setInterval(() => other.update(other.size + 1), 100)
    t.teardown(() => clearInterval(moves))
    const answer = recorder.ask('tools/call')
    let most = 0
    await until(() => {
      most = Math.max(most, budget.bytes - other.size)
      return most > MiB
    }, 'the pause')
    t.ok(most < 1.5 * MiB, `${most} bytes are held`)
    clearInterval(moves)
    other.update(0)
    t.match(await answer, { what: 'message', message: { result: { TEXT } } })
    await until(() => budget.bytes === 0, 'the end of the count')
  })
}

t.test('a call that is given up while its reply waits frees what it held', async t => {
  const { url } = await startRawServer(t, got => sendJson(got, resultOf(got, { TEXT })))
  const budget = new ReplyBudget(MiB, 2 * MiB)
  const recorder = await connect(t, 'http', url, { ...LIMITS, replies: budget })
  const other = reply(budget, 'bob')
  other.update(2.25 * MiB)
  const moves = setInterval(() => other.update(other.size + 1), 100)
  t.teardown(() => clearInterval(moves))
  const channel = recorder.link.channelFor({ id: 'big', method: 'tools/call', params: {}, caller: 'ada' })
  channel.emit(encodeRequest('big', 'tools/call', {}), 'tools/call')
  await until(() => budget.bytes > 3.25 * MiB, 'the pause')
  channel.emit('', 'notifications/cancelled')
  t.equal(budget.bytes, other.size)
  clearInterval(moves)
  other.update(0)
})
