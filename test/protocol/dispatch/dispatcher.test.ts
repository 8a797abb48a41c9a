import { Type } from '@sinclair/typebox'
import t from 'tap'
import { McpError } from '../../../protocol/wire/errors.js'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import { client, dispatcher, modern, revision, type Json } from '../../support/recorder.js'

const Anything = Type.Object({})

function serving (
  name: string,
  handle: () => unknown
): { mcp: Dispatcher, logged: Array<{ correlation?: string, err?: unknown }> } {
  const mcp = dispatcher()
  const logged: Array<{ correlation?: string, err?: unknown }> = []
  mcp.observers.log.add((_level, data) => {
    logged.push(data as { correlation?: string })
  })
  mcp.method(name, Anything, handle as () => object)
  return { mcp, logged }
}

t.test('a request is answered with its own id, whatever its type', async t => {
  const { mcp } = serving('m', () => ({ ok: true }))
  const { send, channel } = client(mcp)
  for (const id of [0, '', 1, '1']) {
    send({ jsonrpc: '2.0', id, method: 'm' })
    t.strictSame(await channel.next(), { jsonrpc: '2.0', id, result: { ok: true } })
  }
})

t.test('four ids that look alike are four calls at once', async t => {
  const { mcp } = serving('m', async () => { await null; return {} })
  const { send, channel, peer } = client(mcp)
  for (const id of [0, '0', 1, '1', '']) send({ jsonrpc: '2.0', id, method: 'm' })
  t.equal(peer.inbound.size, 5)
  await channel.until(() => channel.sent.length === 5)
  t.strictSame(channel.sent.map(text => (JSON.parse(text) as Json).id), [0, '0', 1, '1', ''])
})

t.test('an id that is still being answered is refused, and the first call is untouched', async t => {
  const { promise, resolve } = withResolvers()
  const { mcp } = serving('m', async () => await promise)
  const { send, channel } = client(mcp)
  send({ jsonrpc: '2.0', id: 1, method: 'm' })
  send({ jsonrpc: '2.0', id: 1, method: 'm' })
  t.match(await channel.next(), { id: 1, error: { code: -32600, message: /still being answered/ } })
  resolve({ first: true })
  t.match(await channel.next(), { id: 1, result: { first: true } })
  t.match(await client(mcp).request('m'), { result: {} }, 'and another client may use the same id')
})

const UNSPEAKABLE: Record<string, () => unknown> = {
  'a cycle': () => { const a: Json = {}; a.a = a; return a },
  'a BigInt': () => ({ n: 1n }),
  nothing: () => undefined,
  null: () => null,
  text: () => 'hello',
  'a number': () => 7,
  'a list': () => [1, 2],
  'a function': () => () => 1,
  'something that cannot be written': () => ({ toJSON () { throw new Error('secret detail') } }),
  'something that is written as text': () => new Date(),
  'a getter that throws': () => ({ get a () { throw new Error('secret detail') } })
}

for (const version of ['2025-06-18', '2026-07-28']) {
  for (const [what, handle] of Object.entries(UNSPEAKABLE)) {
    t.test(`${version}: a handler that gives ${what} is an internal error with a number to ask about`, async t => {
      const { mcp, logged } = serving('m', handle)
      const answer = await client(mcp).request('m', version === '2026-07-28' ? modern() : {})
      t.match(answer, { id: 1, error: { code: -32603, data: { correlation: String } } })
      t.notMatch(JSON.stringify(answer), /secret detail/)
      t.equal(logged[0]?.correlation, (answer as { error: { data: { correlation: string } } }).error.data.correlation)
    })
  }
}

const THROWN: unknown[] = [
  new Error('secret detail'),
  'secret detail',
  undefined,
  null,
  7,
  { message: 'secret detail' },
  Object.assign(new Error('secret detail'), { code: -1 })
]

for (const thrown of THROWN) {
  t.test(`a handler that throws ${String(thrown)} is an internal error whose text stays here`, async t => {
    for (const handle of [() => { throw thrown }, async () => await Promise.reject(thrown)]) {
      const { mcp, logged } = serving('m', handle)
      const answer = await client(mcp).request('m')
      t.match(answer, { error: { code: -32603, data: { correlation: String } } })
      t.notMatch(JSON.stringify(answer), /secret detail/)
      t.equal(logged[0]?.err, thrown)
    }
  })
}

t.test('an McpError crosses as it is, and so does one of another copy of this package', async t => {
  const { mcp } = serving('m', () => { throw new McpError(-32001, 'no clipboard', { why: 'headless' }) })
  t.match(await client(mcp).request('m'), {
    error: { code: -32001, message: 'no clipboard', data: { why: 'headless' } }
  })
  const foreign = serving('m', () => {
    throw Object.assign(new Error('elsewhere'), { name: 'McpError', code: -32001 })
  })
  t.match(await client(foreign.mcp).request('m'), { error: { code: -32001, message: 'elsewhere' } })
})

t.test('an McpError whose data cannot be written is still answered', async t => {
  const { mcp } = serving('m', () => { throw new McpError(-32001, 'x', { n: 1n }) })
  t.match(await client(mcp).request('m'), { id: 1, error: { code: -32603 } })
})

t.test('a log that fails costs no answer', async t => {
  const { mcp } = serving('m', () => { throw new Error('secret detail') })
  mcp.observers.log.add(() => { throw new Error('the disk is full') })
  t.match(await client(mcp).request('m'), { id: 1, error: { code: -32603 } })
})

t.test('params that do not fit never reach the handler', async t => {
  const mcp = dispatcher()
  mcp.method('m', Type.Object({ n: Type.Integer() }), () => t.fail('it ran') as never)
  t.match(await client(mcp).request('m', { n: 'x' }), { error: { code: -32602, message: /n must be integer/ } })
})

t.test('an invalid or unknown notification, or one whose handler throws, is not answered', async t => {
  const mcp = dispatcher()
  const logged: unknown[] = []
  const received: unknown[] = []
  mcp.observers.log.add((_level, data) => { logged.push(data) })
  mcp.notification('n', Type.Object({ n: Type.Integer() }), ({ n }) => {
    received.push(n)
    if (n === 13) throw new Error('unlucky')
  })
  const { send, channel } = client(mcp)
  for (const params of [{ n: 1 }, { n: 'x' }, { n: 13 }, { n: 2 }]) send({ jsonrpc: '2.0', method: 'n', params })
  send({ jsonrpc: '2.0', method: 'unheard/of' })
  t.strictSame(received, [1, 13, 2])
  t.equal(channel.ends, 5)
  t.strictSame(channel.sent, [])
  t.match(logged, [{ err: { message: 'unlucky' }, notification: 'n' }])
})

t.test('an answer to nothing is taken without a word', async t => {
  const { send, channel } = client(dispatcher())
  send({ jsonrpc: '2.0', id: 99, result: {} })
  send({ jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } })
  t.equal(channel.ends, 2)
  t.strictSame(channel.sent, [])
})

t.test('a method is registered once', async t => {
  const { mcp } = serving('m', () => ({}))
  t.throws(() => mcp.method('m', Anything, () => ({})), /method m is registered already/)
  mcp.notification('n', Anything, () => {})
  t.throws(() => mcp.notification('n', Anything, () => {}), /notification n is registered already/)
})

t.test('methods named like members of every object do not exist', async t => {
  for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '']) {
    t.match(await client(dispatcher()).request(method), { error: { code: -32601 } })
  }
})

t.test('an unreadable message is answered without a known id, in the way of the era last spoken', async t => {
  const { mcp } = serving('m', () => ({}))
  const { send, channel, request } = client(mcp)
  send('{')
  t.strictSame(Object.keys(await channel.next()), ['jsonrpc', 'id', 'error'])
  await request('m', modern())
  send('{')
  t.strictSame(Object.keys(await channel.next()), ['jsonrpc', 'error'])
})

t.test('before the handshake only the handshake and ping are served', async t => {
  const { mcp } = serving('m', () => ({}))
  mcp.method('ping', Anything, () => ({}))
  const { peer, request } = client(mcp)
  peer.revision = undefined
  t.match(await request('m'), { error: { code: -32600, message: /initialize first/ } })
  t.match(await request('ping'), { result: {} })
  t.match(
    await request('m', modern()),
    { result: { resultType: 'complete' } },
    'a request that describes itself needs none'
  )
})

t.test('a self-describing request in between does not take batches away from a client that has them', async t => {
  const { mcp } = serving('m', () => ({ ok: true }))
  const { send, channel, request } = client(mcp, { revision: revision('2025-03-26') })
  await request('m', modern())
  send([{ jsonrpc: '2.0', id: 'a', method: 'm' }, { jsonrpc: '2.0', id: 'b', method: 'm' }] as object)
  t.match(await channel.next(), [{ id: 'a', result: { ok: true } }, { id: 'b', result: { ok: true } }])
})

function withResolvers (): { promise: Promise<object>, resolve: (value: object) => void } {
  let resolve: (value: object) => void = () => {}
  const promise = new Promise<object>(_resolve => { resolve = _resolve })
  return { promise, resolve }
}
