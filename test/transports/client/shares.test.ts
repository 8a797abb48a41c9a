import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { WebSocketServer, type WebSocket } from 'ws'
import { encodeRequest } from '../../../protocol/wire/jsonrpc.js'
import { SocketShares } from '../../../transports/client/http/socket-shares.js'
import { PipeShares, QueueShares } from '../../../transports/client/queue-shares.js'
import { openStdioLink } from '../../../transports/client/stdio.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'
import { connect, resultOf, sendJson, startRawServer, type Got } from './raw-server.js'

t.test('a caller whose calls hang has half of the connections, and others are answered at once', async t => {
  const server = await startRawServer(t, got => got.message.params?.['hangs'] !== true && sendJson(got, resultOf(got)))
  const recorder = await connect(t, 'http', server.url, { connections: 4 })
  const call = (id: string, caller: string, hangs: boolean): void => {
    recorder.link
      .channelFor({ id, method: 'tools/call', params: { hangs }, caller })
      .emit(encodeRequest(id, 'tools/call', { hangs }), 'tools/call')
  }
  for (let count = 0; count < 20; count++) call(`bob ${count}`, 'bob', true)
  const held = [await server.got.take('the first'), await server.got.take('the second')]
  call('ada', 'ada', false)
  t.match(await recorder.outcome('ada'), { what: 'message' })
  t.equal(server.got.empty().length, 0, 'no third call of bob was sent')
  for (const got of held) sendJson(got, { jsonrpc: '2.0', id: got.message.id, result: {} })
  t.match(
    [await recorder.outcome('bob 0'), await recorder.outcome('bob 1')],
    [{ what: 'message' }, { what: 'message' }]
  )
  t.equal((await server.got.take('the next')).message.id, 'bob 2')
})

t.test('a caller whose calls wait is refused at its share of the queue, and others wait in turn', async t => {
  const server = await startRawServer(t)
  const recorder = await connect(t, 'http', server.url, { connections: 2, maxQueue: 16_000 })
  const call = (id: string, caller: string): void => {
    recorder.link
      .channelFor({ id, method: 'tools/call', params: {}, caller })
      .emit(encodeRequest(id, 'tools/call', {}), 'tools/call')
  }
  for (let count = 0; count < 20; count++) call(`bob ${count}`, 'bob')
  t.match(await recorder.outcome('bob 19'), {
    what: 'failed',
    why: 'too much waits to be sent to it already; try again later'
  })
  const held = await server.got.take('the first of bob')
  for (const id of ['ada 0', 'ada 1', 'cy 0']) call(id, id.slice(0, -2))
  const order: unknown[] = []
  const answer = (got: Got): void => {
    order.push(got.message.id)
    sendJson(got, resultOf(got))
  }
  answer(await server.got.take('the first of ada'))
  t.match(await recorder.outcome('ada 0'), { what: 'message' })
  answer(held)
  while (order.length < 6) answer(await server.got.take(`call ${order.length}`))
  t.match([await recorder.outcome('ada 1'), await recorder.outcome('cy 0')], [{ what: 'message' }, { what: 'message' }])
  t.ok(order.indexOf('ada 1') < order.indexOf('bob 2'), String(order))
})

t.test('one request of a caller may always wait, and a large one takes nothing from the others', async t => {
  const queue = new QueueShares(1_000)
  t.equal(queue.enter('bob', 5_000), 500, 'it counts as the share')
  t.equal(queue.enter('bob', 1), undefined)
  t.equal(queue.enter('ada', 200), 200)
  t.equal(queue.enter('ada', 51), undefined)
  t.equal(queue.enter('ada', 50), 50)
  t.equal(queue.enter(undefined, 250), 250, 'the gateway itself has what is left')
  t.equal(queue.enter('cy', 70), 0)
  t.equal(queue.enter('cy', 1), undefined)
  queue.leave('bob', 500)
  t.equal(queue.enter('cy', 250), 250)
})

t.test('what waits for one reader is divided, too, and counts until it is read', async t => {
  const pipe = new PipeShares(1_000)
  t.equal(pipe.enter('bob', 400, 0), true)
  t.equal(pipe.enter('bob', 100, 400), true)
  t.equal(pipe.enter('bob', 1, 500), false)
  t.equal(pipe.enter('ada', 250, 500), true)
  t.equal(pipe.enter('ada', 1, 750), false)
  t.equal(pipe.enter('bob', 300, 751), false, 'other bytes may wait behind')
  t.equal(pipe.enter('bob', 250, 350), true, 'the first 400 are read')
  t.equal(pipe.enter('bob', 500, 0), true, 'all are read')
})

for (const kind of ['websocket', 'stdio'] as const) {
  t.test(
    `a caller that fills the queue of a server that does not read is refused at its share, and others wait: ${kind}`,
    async t => {
      const { recorder, readOn } = await (kind === 'stdio' ? stoppedProcess(t) : stoppedSocket(t))
      const text = 'x'.repeat(100_000)
      const call = (id: string, caller: string): void => {
        recorder.link
          .channelFor({ id, method: 'tools/call', params: { text }, caller })
          .emit(encodeRequest(id, 'tools/call', { text }), 'tools/call')
      }
      let count = 0
      let refused: unknown
      while (refused === undefined) {
        call(`bob ${count++}`, 'bob')
        await new Promise(resolve => setImmediate(resolve))
        refused = recorder.reports.empty()[0]
      }
      t.match(refused, { what: 'failed', why: /^it does not read/ })
      call('ada', 'ada')
      await new Promise(resolve => setImmediate(resolve))
      t.strictSame(recorder.reports.empty(), [], 'it waits')
      readOn()
      t.match(await recorder.outcome('ada'), { what: 'message' })
    }
  )
}

t.test('each caller has half of what the others leave, and waits in turn', async t => {
  const shares = new SocketShares(8)
  const started: string[] = []
  const request = (name: string): { start: () => void } => ({ start: () => { started.push(name) } })
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1'].map(name => ({
    name,
    caller: name.slice(0, 1),
    ...request(name)
  }))
  for (const each of all) shares.begin(each.caller, each)
  t.strictSame(started, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'd1'])
  const end = (name: string): void => {
    const found = all.find(each => each.name === name)
    if (found !== undefined) shares.end(found.caller, found)
  }
  end('a5')
  for (const name of ['a1', 'a2', 'b1']) end(name)
  t.strictSame(started.slice(8), ['b3'], 'what was given up is not started, and b is below its share before a is')
  for (const name of ['a3', 'a4', 'b2', 'b3', 'c1', 'd1']) end(name)
  t.strictSame(started.slice(9).sort(), ['a6', 'c2'])
})

t.test('requests that fail while they are started do not end in a call inside of a call', async t => {
  const shares = new SocketShares(2)
  let started = 0
  const waiting = Array.from({ length: 20_000 }, () => {
    const request = { start: () => { if (++started > 1) shares.end('ada', request) } }
    return request
  })
  for (const request of waiting) shares.begin('ada', request)
  shares.end('ada', waiting[0] as { start: () => void })
  t.equal(started, 20_000)
})

interface Stopped { readonly recorder: LinkRecorder, readOn: () => void }

/** A process that reads nothing until it is told to, and answers each request. */
async function stoppedProcess (t: Test): Promise<Stopped> {
  const [recorder, stdin, stdout] = [new LinkRecorder(), new PassThrough(), new PassThrough()]
  const child = { stdin, stdout, ended: new Promise<string>(() => {}), stop: async () => {} }
  await recorder.dial(async events => openStdioLink(child, events, { ...OPTIONS, onNoise: () => {} }))
  t.teardown(() => recorder.link.close())
  const readOn = (): void => {
    createInterface(stdin).on('line', line => {
      stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(line) as { id: string }).id, result: {} })}\n`)
    })
  }
  return { recorder, readOn }
}

/** The same as a WebSocket server. */
async function stoppedSocket (t: Test): Promise<Stopped> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const connected = once(server, 'connection') as Promise<[WebSocket]>
  const recorder = await connect(t, 'websocket', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = await connected
  socket.pause()
  socket.on('message', data => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(String(data)) as { id: string }).id, result: {} }))
  })
  return { recorder, readOn: () => socket.resume() }
}
