import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import { encodeRequest } from '../../../protocol/wire/jsonrpc.js'
import { IncomingReply, ReplyBudget } from '../../../transports/client/reply-budget.js'
import { openStdioLink } from '../../../transports/client/stdio.js'
import { takeTime, until } from '../../support/wait.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'
import { answerHandshake, connect, end, event, resultOf, sendJson, startEvents, startRawServer } from './raw-server.js'

const MiB = 1024 * 1024

function reply (budget: ReplyBudget, caller: string): IncomingReply {
  return new IncomingReply(budget, caller, { pause: () => {}, resume: () => {} })
}

/** A clock that stands still, so that a turn lasts until the test ends it. */
const still = (): number => 0
const none = (): number => 0

t.test(
  'beyond the limit of one caller, one of its replies goes on to its end, and others are not concerned',
  async t => {
    const budget = new ReplyBudget(4 * MiB, 100 * MiB, none, still)
    const [first, second, third, other] = [
      reply(budget, 'bob'),
      reply(budget, 'bob'),
      reply(budget, 'bob'),
      reply(budget, 'ada')
    ]
    first.update(2 * MiB)
    second.update(1.5 * MiB)
    third.update(MiB)
    second.update(1.75 * MiB)
    first.update(2.25 * MiB)
    t.strictSame(
      [first, second, third].map(({ isPaused }) => isPaused),
      [true, true, false]
    )
    third.update(10 * MiB)
    t.equal(third.isPaused, false, 'it may finish')
    other.update(3 * MiB)
    t.equal(other.isPaused, false)
    third.update(0)
    await until(() => !first.isPaused && !second.isPaused, 'the others')
    for (const each of [first, second, other]) each.update(0)
    t.equal(budget.bytes, 0)
  }
)

t.test(
  'beyond half of what others leave, one reply goes on to its end, and a caller with little is not concerned',
  async t => {
    const budget = new ReplyBudget(8 * MiB, 10 * MiB, none, still)
    const [bob, cy, small] = [reply(budget, 'bob'), reply(budget, 'cy'), reply(budget, 'ada')]
    bob.update(5 * MiB)
    cy.update(2.5 * MiB)
    t.equal(cy.isPaused, false, 'its share')
    bob.update(7 * MiB)
    cy.update(2.75 * MiB)
    t.strictSame([bob.isPaused, cy.isPaused], [false, true])
    small.update(MiB)
    t.equal(small.isPaused, false)
    bob.update(0)
    await until(() => !cy.isPaused, 'the other')
    cy.update(0)
    small.update(0)
  }
)

t.test('a reply that comes slowly gives its turn to the next, and callers have theirs one after the other', async t => {
  let time = 0
  const budget = new ReplyBudget(100 * MiB, 4 * MiB, none, () => time)
  const slow = Array.from({ length: 10 }, () => reply(budget, 'bob'))
  for (const each of slow) each.update(MiB)
  const next = reply(budget, 'cy')
  next.update(3 * MiB)
  t.equal(slow.filter(({ isPaused }) => !isPaused).length, 3, 'two that have their share, one that has its turn')
  t.equal(next.isPaused, true)
  // Each byte would have been progress to one that only looks for silence.
  const drip = setInterval(() => { for (const each of slow) if (!each.isPaused) each.update(each.size + 1) }, 10)
  t.teardown(() => clearInterval(drip))
  time += 100
  await until(() => !next.isPaused, 'the turn')
  t.equal(slow.filter(({ isPaused }) => isPaused).length >= 8, true)
  const begun = time
  while (time < begun + 1_000) {
    time += 50
    next.update(next.size + MiB / 4)
    await takeTime(10)
    if (next.isPaused) break
  }
  t.equal(next.isPaused, false, 'it makes progress')
  await until(() => {
    time += 50
    return slow.some(({ isPaused }) => !isPaused)
  }, 'the end of the turn')
  clearInterval(drip)
  for (const each of [next, ...slow]) each.update(0)
  t.equal(budget.bytes, 0)
})

t.test('a reply that drips does not delay that of another caller, over HTTP', async t => {
  const head = '{"jsonrpc":"2.0","result":{"TEXT":"'
  const drips = new Set<NodeJS.Timeout>()
  t.teardown(() => { for (const drip of drips) clearInterval(drip) })
  let dripped = 0
  const { url } = await startRawServer(t, got => {
    if (got.message.params?.['drips'] !== true) return sendJson(got, resultOf(got, { TEXT }))
    got.response.writeHead(200, { 'content-type': 'application/json' })
    got.response.write(head + 'x'.repeat(2.5 * MiB))
    drips.add(setInterval(() => { dripped++; got.response.write('x') }, 10))
    return true
  })
  const budget = new ReplyBudget(4 * MiB, 4 * MiB)
  const recorder = await connect(t, 'http', url, { ...LIMITS, replies: budget })
  const call = (id: string, caller: string, drips: boolean): void => {
    recorder.link
      .channelFor({ id, method: 'tools/call', params: { drips }, caller })
      .emit(encodeRequest(id, 'tools/call', { drips }), 'tools/call')
  }
  for (const id of ['bob 1', 'bob 2']) call(id, 'bob', true)
  await until(() => dripped > 0 && budget.bytes > 3.5 * MiB, 'the drip')
  call('ada', 'ada', false)
  t.match(await recorder.outcome('ada'), { what: 'message', message: { result: { TEXT } } })
  const before = dripped
  await until(() => dripped > before, 'the drip goes on')
  t.equal(recorder.reports.empty().length, 0, 'no reply of bob is complete, and none failed')
})

t.test('what clients have not read counts with the bytes of all', async t => {
  let queued = 10 * MiB
  const budget = new ReplyBudget(100 * MiB, 8 * MiB, () => queued, still)
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

t.test('how much clients have not read is looked up once in a turn, however many replies wait', async t => {
  let lookups = 0
  const budget = new ReplyBudget(100 * MiB, 8 * MiB, () => { lookups++; return 8 * MiB }, still)
  const replies = Array.from({ length: 300 }, (_, index) => reply(budget, `caller ${index}`))
  for (let size = 2 * MiB; size < 2.5 * MiB; size += 65_536) {
    for (const each of replies) if (!each.isPaused) each.update(size)
  }
  t.equal(replies.filter(({ isPaused }) => isPaused).length, 299)
  t.equal(lookups, 1)
  const awake = setInterval(() => {}, 50)
  await until(() => lookups > 1, 'the next turn')
  clearInterval(awake)
  t.ok(lookups < 10, `${lookups} times`)
  for (const each of replies) each.update(0)
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
    server.on('connection', socket =>
      socket.on('message', data => {
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: number }).id, result: { TEXT } })
        )
      })
    )
    return await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      ...LIMITS,
      replies
    })
  },
  'a line of a process': async (t, replies) => {
    const [recorder, stdin, stdout] = [new LinkRecorder(), new PassThrough(), new PassThrough()]
    stdin.on('data', data => {
      const line = Buffer.from(
        `${JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: number }).id, result: { TEXT } })}\n`
      )
      for (let at = 0; at < line.length; at += 65_536) stdout.write(line.subarray(at, at + 65_536))
    })
    const child = { stdin, stdout, ended: new Promise<string>(() => {}), stop: async () => {} }
    await recorder.dial(async events =>
      openStdioLink(child, events, { ...OPTIONS, ...LIMITS, replies, onNoise: () => {} })
    )
    t.teardown(() => recorder.link.close())
    return recorder
  }
}

for (const [what, open] of Object.entries(servers)) {
  t.test(`${what} waits while too much is held, and is read to its end afterwards`, async t => {
    const budget = new ReplyBudget(100 * MiB, 2 * MiB, none, still)
    const recorder = await open(t, budget)
    const other = reply(budget, 'bob')
    other.update(2.25 * MiB)
    const answer = recorder.ask('tools/call')
    let most = 0
    await until(() => {
      most = Math.max(most, budget.bytes - other.size)
      return most > MiB
    }, 'the pause')
    t.ok(most < 1.5 * MiB, `${most} bytes are held`)
    other.update(0)
    t.match(await answer, { what: 'message', message: { result: { TEXT } } })
    await until(() => budget.bytes === 0, 'the end of the count')
  })
}

t.test('a call that is given up while its reply waits frees what it held', async t => {
  const { url } = await startRawServer(t, got => sendJson(got, resultOf(got, { TEXT })))
  const budget = new ReplyBudget(MiB, 2 * MiB, none, still)
  const recorder = await connect(t, 'http', url, { ...LIMITS, replies: budget })
  const other = reply(budget, 'bob')
  other.update(2.25 * MiB)
  const channel = recorder.link.channelFor({ id: 'big', method: 'tools/call', params: {}, caller: 'ada' })
  channel.emit(encodeRequest('big', 'tools/call', {}), 'tools/call')
  await until(() => budget.bytes > 3.25 * MiB, 'the pause')
  channel.emit('', 'notifications/cancelled')
  t.equal(budget.bytes, other.size)
  other.update(0)
})

t.test('pings and pongs of a server do not count, however many come', async t => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const budget = new ReplyBudget(100 * MiB, 100 * MiB)
  let most = 0
  server.on('connection', socket => socket.on('message', data => {
    for (let count = 0; count < 1_000; count++) {
      socket.ping('x'.repeat(125))
      socket.pong('x'.repeat(125))
    }
    socket.ping('last')
    socket.once('pong', () => {
      most = budget.bytes
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: number }).id, result: {} }))
    })
  }))
  const recorder = await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    replies: budget,
    maxPings: 10_000
  })
  t.match(await recorder.ask('tools/call'), { message: { result: {} } })
  t.equal(most, 0)
})

/**
 * A message of 1 MB in one event of many lines, which cost enough for the stream to be paused again and again, also
 * before the last of them.
 */
const LINES = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"list":[\n${`data: "${'x'.repeat(40)}",\n`.repeat(20_000)}data: "end"]}}\n\n`
const SLOWLY = { ...LIMITS, maxUnasked: 1_000 }

/** Links to servers, and what sends `LINES` on a stream that stays open. */
const streams: Record<string, (t: Test, replies: ReplyBudget) => Promise<[LinkRecorder, send: () => void]>> = {
  'an HTTP+SSE stream': async (t, replies) => {
    let stream: ReturnType<typeof startEvents> | undefined
    const { url } = await startRawServer(
      t,
      got => got.method === 'GET' && (stream = startEvents(got)).write('event: endpoint\ndata: /post\n\n')
    )
    return [await connect(t, 'sse', url, { ...SLOWLY, replies }), () => stream?.write(LINES)]
  },
  'the stream of a reply': async (t, replies) => {
    const { url, got } = await startRawServer(t)
    const recorder = await connect(t, 'http', url, { ...SLOWLY, replies })
    recorder.send('tools/call')
    const stream = startEvents(await got.take('the call'))
    return [recorder, () => stream.write(LINES)]
  },
  'the standalone stream of a session': async (t, replies) => {
    const { url, got } = await startRawServer(t, item => answerHandshake(item, { listens: true }))
    const recorder = await connect(t, 'http', url, { ...SLOWLY, replies })
    await recorder.initialize()
    const stream = startEvents(await got.take('GET'))
    return [recorder, () => stream.write(LINES)]
  },
  'the output of a process': async (t, replies) => {
    const [recorder, stdout] = [new LinkRecorder(), new PassThrough({ highWaterMark: MiB })]
    const child = {
      stdin: new PassThrough().resume(),
      stdout,
      ended: new Promise<string>(() => {}),
      stop: async () => {}
    }
    await recorder.dial(async events =>
      openStdioLink(child, events, { ...OPTIONS, ...LIMITS, replies, onNoise: () => {} })
    )
    t.teardown(() => recorder.link.close())
    return [
      recorder,
      () =>
        stdout.write(
          `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/y' })}\n`.repeat(4_000) +
            `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })}\n`
        )
    ]
  }
}

for (const [what, open] of Object.entries(streams)) {
  t.test(`what ${what} kept while it was paused counts until it is passed on, and no longer`, async t => {
    const budget = new ReplyBudget(100 * MiB, 100 * MiB)
    const [recorder, send] = await open(t, budget)
    send()
    await until(() => budget.bytes > 65_536, 'the count')
    await recorder.message('notifications/x')
    await until(() => budget.bytes === 0, 'the end of the count')
  })
}

t.test('the end of a session frees what its standalone stream held', async t => {
  const { url, got } = await startRawServer(t, item => answerHandshake(item, { listens: true }))
  const budget = new ReplyBudget(100 * MiB, 100 * MiB)
  const recorder = await connect(t, 'http', url, { ...LIMITS, replies: budget })
  await recorder.initialize()
  startEvents(await got.take('GET')).write(`data: ${'x'.repeat(MiB)}`)
  await until(() => budget.bytes > MiB / 2, 'the count')
  await recorder.link.close()
  t.equal(budget.bytes, 0)
})
