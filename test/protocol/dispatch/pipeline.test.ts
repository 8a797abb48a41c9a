import { setImmediate as turn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { Target } from '../../../protocol/dispatch/target.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { client, dispatcher } from '../../support/recorder.js'

const Anything = Type.Object({})
const granted = (...scopes: string[]): { identity: Identity } => ({
  identity: { principal: 'ada', scopes: new Set(scopes) }
})

t.test('a method without scopes of its own requires the basic scope', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, () => ({ done: true }))
  t.match(await client(mcp, granted('mcp')).request('m'), { result: { done: true } })
  t.match(await client(mcp, granted('notes')).request('m'), { error: { code: -32601 } }, 'and is not there for others')
  t.match(await client(mcp).request('m'), { result: { done: true } }, 'unless nobody has to say who they are')
})

t.test('the HTTP refusal names all missing scopes at once', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, () => ({}), { scopes: ['a', 'b'] })
  const { peer } = client(mcp, granted('a'))
  const answered: unknown[] = []
  const channel = {
    streams: true,
    hasStatus: true,
    respond: (...all: unknown[]) => answered.push(...all),
    emit: () => {},
    end: () => {}
  }
  mcp.receive(mcp.decode('{"jsonrpc":"2.0","id":1,"method":"m"}'), peer, channel)
  t.match(JSON.parse(String(answered[0])), {
    error: { code: -32600, message: /a b/, data: { requiredScopes: ['a', 'b'] } }
  })
  t.strictSame(answered.slice(1), [403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="a b"' }])
})

t.test('the scopes of a single request count, not those of its connection', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, (_params, { principal }) => ({ principal }))
  const { peer, channel } = client(mcp, granted())
  mcp.receive(mcp.decode('{"jsonrpc":"2.0","id":1,"method":"m"}'), peer, channel, {
    principal: 'ada',
    scopes: new Set(['mcp'])
  })
  t.match(await channel.next(), { result: { principal: 'ada' } })
})

t.test('gates run in order, after scopes and before middleware, and end what they refuse', async t => {
  const mcp = dispatcher()
  const seen: string[] = []
  mcp.use(async (_call, next) => { seen.push('middleware'); return await next() })
  mcp.gate(() => { seen.push('first') })
  mcp.gate(async () => { await turn(); seen.push('second') })
  mcp.gate(({ params }) => {
    seen.push('third')
    if (params.stop === true) throw errors.tooFast('of this kind', 2, 'rate')
  })
  mcp.method('m', Anything, () => { seen.push('handler'); return {} })
  const { request } = client(mcp, granted('mcp'))
  t.match(await request('m'), { result: {} })
  t.strictSame(seen.splice(0), ['first', 'second', 'third', 'middleware', 'handler'])
  t.match(await request('m', { stop: true }), { error: { code: -32603, data: { retryAfter: 2 } } })
  t.strictSame(seen.splice(0), ['first', 'second', 'third'])
  await client(mcp, granted()).request('m')
  t.strictSame(seen, [], 'a call that may not be made costs its caller nothing')
})

t.test('a gate that rejects refuses, too, and one that throws gives no reason', async t => {
  const mcp = dispatcher()
  mcp.gate(async ({ params }) => {
    throw params.known === true ? errors.overloaded('memory') : new Error('secret detail')
  })
  mcp.method('m', Anything, () => ({}))
  const { request } = client(mcp)
  t.match(await request('m', { known: true }), { error: { message: /overloaded \(memory\)/ } })
  const answer = await request('m')
  t.match(answer, { error: { code: -32603, data: { correlation: String } } })
  t.notMatch(JSON.stringify(answer), /secret/)
})

t.test('a call that waits for nothing is answered at once, gates or not', async t => {
  const mcp = dispatcher()
  mcp.gate(() => {})
  mcp.method('m', Anything, () => ({}))
  const { ask, channel } = client(mcp)
  ask('m')
  t.equal(channel.sent.length, 1)
})

t.test('calls beyond the limit of a peer are refused, and pings are always answered', async t => {
  const mcp = dispatcher({ limits: { maxInFlight: 2 } })
  const open: Array<() => void> = []
  mcp.method('wait', Anything, async () => await new Promise(resolve => open.push(() => resolve({}))))
  mcp.method('ping', Anything, () => ({}))
  const { ask, request, channel } = client(mcp)
  ask('wait')
  ask('wait')
  t.match(await request('wait'), { id: 3, error: { code: -32603, message: /at most 2/, data: { max: 2 } } })
  t.equal(channel.statuses.at(-1), 429)
  t.match(await request('ping'), { result: {} })
  const other = client(mcp)
  other.ask('wait')
  for (const finish of open) finish()
  await Promise.all([
    channel.until(() => channel.sent.length === 4),
    other.channel.until(() => other.channel.sent.length === 1)
  ])
  ask('wait')
  t.equal(open.length, 4, 'and there is room again')
})

t.test('an id that is in use is refused without harm to the call that has it', async t => {
  const mcp = dispatcher()
  let finish = () => {}
  mcp.method('wait', Anything, async () => await new Promise(resolve => { finish = () => resolve({ first: true }) }))
  const { send, channel, peer } = client(mcp)
  send({ jsonrpc: '2.0', id: 'x', method: 'wait', params: {} })
  send({ jsonrpc: '2.0', id: 'x', method: 'wait', params: {} })
  t.match(await channel.next(), { error: { code: -32600, message: /still being answered/ } })
  t.ok(peer.inbound.has('x'), 'the first can still be cancelled')
  finish()
  t.match(await channel.next(), { id: 'x', result: { first: true } })
})

t.test('the handler gets the item whose scopes were checked, not one that came while the call waited', async t => {
  for (const before of [undefined, { scopes: ['mcp'], item: 'open' }]) {
    const mcp = dispatcher()
    let target: Target<string> | undefined = before
    const lookups: unknown[] = []
    mcp.gate(async () => { await turn(); target = { scopes: ['vault'], item: 'locked' } })
    mcp.method('m', Anything, (_params, _call, item: string | undefined) => ({ item: item ?? 'none' }), {
      target: () => {
        lookups.push(target)
        return target
      }
    })
    t.match(await client(mcp, granted('mcp')).request('m'), { result: { item: before?.item ?? 'none' } })
    t.strictSame(lookups, [before], 'it is looked up once')
  }
})

t.test('a long name of nothing is not sent back in full', async t => {
  const { error } = await client(dispatcher()).request('x'.repeat(100_000)) as { error: { message: string } }
  t.ok(error.message.length < 300)
  t.match(error.message, /^Method not found: xxx.*…$/)
})
