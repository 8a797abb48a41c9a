import { Type } from '@sinclair/typebox'
import t from 'tap'
import { splitBatch } from '../../../protocol/dispatch/batch.js'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import { client, dispatcher, modern, revision } from '../../support/recorder.js'
import { takeTime } from '../../support/wait.js'

function served (): Dispatcher {
  const mcp = dispatcher()
  mcp.method('wait', Type.Object({ ms: Type.Optional(Type.Integer()) }), async ({ ms = 0 }, call) => {
    await takeTime(ms, call.signal)
    call.progress(1)
    return { ms }
  })
  mcp.method('initialize', Type.Object({}), () => ({}))
  mcp.notification('cancel', Type.Object({ id: Type.Integer() }), ({ id }, peer) => {
    peer.inbound.get(id)?.cancel(new Error('cancelled'))
  })
  return mcp
}

const request = (id: number, ms = 0, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'wait',
  params: { ms, ...more }
})
const batcher = (mcp = served()) => client(mcp, { revision: revision('2025-03-26') })

t.test('a batch is answered as one list, in the order it was asked', async t => {
  const { send, channel } = batcher()
  send([request(1, 30), request(2, 0), request(3, 15)])
  t.match(await channel.next(), [
    { id: 1, result: { ms: 30 } },
    { id: 2, result: { ms: 0 } },
    { id: 3, result: { ms: 15 } }
  ])
  t.strictSame(channel.statuses, [200])
})

t.test('notifications and cancelled requests have no place in the list', async t => {
  const { send, channel } = batcher()
  send([
    request(1, 60_000),
    request(2),
    { jsonrpc: '2.0', method: 'unheard/of' },
    { jsonrpc: '2.0', method: 'cancel', params: { id: 1 } }
  ])
  const answers = await channel.next()
  t.match(answers, [{ id: 2 }])
  t.equal((answers as unknown as object[]).length, 1)
})

t.test('a batch of notifications is answered by nothing', async t => {
  const { send, channel } = batcher()
  send([{ jsonrpc: '2.0', method: 'a' }, { jsonrpc: '2.0', method: 'b' }])
  t.equal(channel.ends, 1)
  t.strictSame(channel.sent, [])
})

t.test('the error of one message has the place of that message in the batch', async t => {
  const { send, channel } = batcher()
  send([request(1), 7 as unknown as object, { jsonrpc: '2.0', id: 2, method: 'unheard/of' }, request(3)])
  t.match(await channel.next(), [
    { id: 1, result: {} },
    { id: null, error: { code: -32600 } },
    { id: 2, error: { code: -32601 } },
    { id: 3, result: {} }
  ])
})

t.test('an id that is used twice in a batch is served once and refused once', async t => {
  const { send, channel } = batcher()
  send([request(1, 10), request(1, 10)])
  t.match(await channel.next(), [{ id: 1, result: { ms: 10 } }, { id: 1, error: { code: -32600 } }])
})

t.test('the handshake and self-describing requests cannot be part of a batch', async t => {
  const { send, channel } = batcher()
  send([{ jsonrpc: '2.0', id: 1, method: 'initialize' }, request(2, 0, modern()), request(3)])
  t.match(await channel.next(), [
    { id: 1, error: { code: -32600 } },
    { id: 2, error: { code: -32600 } },
    { id: 3, result: {} }
  ])
})

t.test('requests and answers do not mix', async t => {
  const { send, channel } = batcher()
  send([request(1), { jsonrpc: '2.0', id: 5, result: {} }])
  t.match(await channel.next(), { id: null, error: { code: -32600, message: /not both/ } })
})

t.test('progress comes before the list', async t => {
  const { send, channel } = batcher()
  send([request(1, 0, { _meta: { progressToken: 'a' } }), request(2)])
  t.match(await channel.next(), { method: 'notifications/progress', params: { progressToken: 'a' } })
  t.match(await channel.next(), [{ id: 1 }, { id: 2 }])
})

for (const version of ['2025-06-18', '2025-11-25']) {
  t.test(`${version} has no batches: one refusal, and nothing runs`, async t => {
    const { send, channel, peer } = client(served(), { revision: revision(version) })
    send([request(1, 60_000), request(2)])
    t.match(await channel.next(), { id: null, error: { code: -32600 } })
    t.equal(peer.inbound.size, 0)
  })
}

t.test('what is not to be kept is not kept inside of a batch, either', async t => {
  const written: string[] = []
  const channel = {
    streams: true,
    respond: () => {},
    end: () => {},
    emit: () => {
      written.push('kept')
    },
    emitTransient: () => {
      written.push('unkept')
    }
  }
  const [[, slot] = []] = splitBatch([{ kind: 'notification', method: 'a', params: {} }], channel)
  slot?.emitTransient?.('{}', 'a')
  slot?.emit('{}', 'a')
  t.strictSame(written, ['unkept', 'kept'])
  const [[, plain] = []] = splitBatch([{ kind: 'notification', method: 'a', params: {} }], {
    streams: true,
    respond: () => {},
    end: () => {},
    emit: () => {}
  })
  t.equal(plain?.emitTransient, undefined)
})
