import t from 'tap'
import { encodeRequest } from '../../../protocol/wire/jsonrpc.js'
import { QueueShares, SocketShares } from '../../../transports/client/http/socket-shares.js'
import { connect, resultOf, sendJson, startRawServer, type Got } from './raw-server.js'

t.test('a caller whose calls hang has half of the connections, and others are answered at once', async t => {
  const server = await startRawServer(t, got => got.message.params?.['hangs'] !== true && sendJson(got, resultOf(got)))
  const recorder = await connect(t, 'http', server.url, { connections: 4 })
  const call = (id: string, caller: string, hangs: boolean): void => {
    recorder.link.channelFor({ id, method: 'tools/call', params: { hangs }, caller }).emit(encodeRequest(id, 'tools/call', { hangs }), 'tools/call')
  }
  for (let count = 0; count < 20; count++) call(`bob ${count}`, 'bob', true)
  const held = [await server.got.take('the first'), await server.got.take('the second')]
  call('ada', 'ada', false)
  t.match(await recorder.outcome('ada'), { what: 'message' })
  t.equal(server.got.empty().length, 0, 'no third call of bob was sent')
  for (const got of held) sendJson(got, { jsonrpc: '2.0', id: got.message.id, result: {} })
  t.match([await recorder.outcome('bob 0'), await recorder.outcome('bob 1')], [{ what: 'message' }, { what: 'message' }])
  t.equal((await server.got.take('the next')).message.id, 'bob 2')
})

t.test('a caller whose calls wait is refused at its share of the queue, and others wait in turn', async t => {
  const server = await startRawServer(t)
  const recorder = await connect(t, 'http', server.url, { connections: 2, maxQueue: 16_000 })
  const call = (id: string, caller: string): void => {
    recorder.link.channelFor({ id, method: 'tools/call', params: {}, caller }).emit(encodeRequest(id, 'tools/call', {}), 'tools/call')
  }
  for (let count = 0; count < 20; count++) call(`bob ${count}`, 'bob')
  t.match(await recorder.outcome('bob 19'), { what: 'failed', why: 'too much waits to be sent to it already; try again later' })
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

t.test('each caller has half of what the others leave, and waits in turn', async t => {
  const shares = new SocketShares(8)
  const started: string[] = []
  const request = (name: string): { start: () => void } => ({ start: () => { started.push(name) } })
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1'].map(name => ({ name, caller: name.slice(0, 1), ...request(name) }))
  for (const each of all) shares.begin(each.caller, each)
  t.strictSame(started, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'd1'])
  const end = (name: string): void => { const found = all.find(each => each.name === name); if (found !== undefined) shares.end(found.caller, found) }
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
