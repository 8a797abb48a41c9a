import { setImmediate as turn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Limits } from '../../../protocol/wire/limits.js'
import { stopTime } from '../../support/clocks.js'
import { client, dispatcher, modern, revision, type Json } from '../../support/recorder.js'

const Anything = Type.Object({})
const IT = { method: 'ask/it', params: {} }

/** A client whose calls of `m` run `handle`, which may ask the client for `ask/it`. */
function asked (limits: Partial<Limits>, handle: (call: Call) => Promise<object>) {
  const mcp = dispatcher({ limits })
  mcp.clientRequestKinds.add('ask/it', {
    needs: () => ({}),
    known: () => true,
    params: params => params,
    answer: answer => answer
  })
  mcp.method('m', Anything, async (_params, call) => await handle(call))
  mcp.method('tools/list', Anything, () => ({ tools: [] }))
  const connected = client(mcp)
  return { mcp, ...connected, answer: ({ id }: Json, result: object) => connected.send({ jsonrpc: '2.0', id, result }) }
}

t.test('the deadline of a call stands still while its client is asked', async t => {
  const { pass } = stopTime(t)
  const { ask, channel, answer } = asked(
    { callTimeout: 40, callTimeoutMax: 10_000 },
    async call => await call.ask({ q: IT })
  )
  ask('m')
  const question = await channel.next()
  await pass(150)
  answer(question, { name: 'Ada' })
  t.match(await channel.next(), { id: 1, result: { q: { name: 'Ada' } } })
})

t.test('with two questions at once the deadline stands still until the later answer', async t => {
  const { pass } = stopTime(t)
  const { ask, channel, answer } = asked({ callTimeout: 40, callTimeoutMax: 10_000 }, async call => {
    const [a, b] = await Promise.all([call.ask({ q: IT }), call.ask({ q: IT })])
    return { a, b }
  })
  ask('m')
  const questions = [await channel.next(), await channel.next()] as const
  answer(questions[0], {})
  await pass(150)
  answer(questions[1], {})
  t.match(await channel.next(), { id: 1, result: { a: {}, b: {} } })
})

t.test('the deadline runs on after the answer', async t => {
  const { ask, channel, answer } = asked({ callTimeout: 40, callTimeoutMax: 60_000 }, async call => {
    await call.ask({ q: IT })
    return await new Promise<never>(() => {})
  })
  ask('m')
  answer(await channel.next(), {})
  t.match(await channel.next(), { id: 1, error: { code: -32603, message: /given up/ } })
})

t.test('a call that waits for its client ends at the hard limit, and takes its question back first', async t => {
  const { ask, channel, answer, request } = asked(
    { callTimeout: 20, callTimeoutMax: 80 },
    async call => await call.ask({ q: IT })
  )
  ask('m')
  const question = await channel.next()
  t.match(await channel.next(), { method: 'notifications/cancelled', params: { requestId: question.id } })
  t.match(await channel.next(), { id: 1, error: { code: -32603, message: /given up/ } })
  answer(question, { name: 'too late' })
  t.match(await request('tools/list'), { id: 2, result: {} }, 'a late answer is ignored')
  t.equal(channel.sent.length, 4)
})

t.test('a client request that is not awaited any more is cancelled before the answer', async t => {
  const { ask, channel, answer, request } = asked(
    {},
    async call => await Promise.race([call.ask({ q: IT }), turn({ gaveUp: true })])
  )
  ask('m')
  const question = await channel.next()
  t.match(await channel.next(), { method: 'notifications/cancelled', params: { requestId: question.id } })
  t.match(await channel.next(), { id: 1, result: { gaveUp: true } })
  answer(question, { name: 'too late' })
  t.match(await request('tools/list'), { id: 2, result: {} })
})

t.test('a question that was answered is not taken back', async t => {
  const { ask, channel, answer } = asked({}, async call => await call.ask({ q: IT }))
  ask('m')
  answer(await channel.next(), {})
  t.match(await channel.next(), { id: 1, result: {} })
  t.equal(channel.sent.length, 2)
})

t.test('in a revision without requests to clients, a list method cannot ask', async t => {
  const { mcp, request, peer } = asked({}, async () => ({ ok: true }))
  peer.revision = undefined
  mcp.use(async (call, next) => {
    await call.ask({ q: IT })
    return await next()
  })
  t.match(await request('tools/list', modern()), { id: 1, error: { code: -32603 } })
  t.match(await request('m', modern()), { id: 2, result: { resultType: 'input_required' } }, 'a method of a plugin may')
})

t.test('a question and a log message name their call to a client that wants it, and to no other', async t => {
  const says = async (call: Call) => {
    call.log('info', 'now')
    return await call.ask({ q: IT })
  }
  const conversed = async (capabilities: Json) => {
    const { ask, channel, answer, peer } = asked({}, says)
    peer.open(revision('2025-06-18'), { name: 'c', version: '1' }, capabilities)
    peer.logLevel = 'info'
    const id = ask('m')
    const heard = [await channel.next(), await channel.next()]
    answer(heard[1] as Json, {})
    await channel.next()
    return { id, metas: heard.map(({ params }) => (params as Json | undefined)?._meta) }
  }
  const { id, metas } = await conversed({ experimental: { 'patchbay/questions': {} } })
  t.strictSame(metas, [{ 'patchbay/requestId': id }, { 'patchbay/requestId': id }])
  t.strictSame((await conversed({ experimental: { other: {} } })).metas, [undefined, undefined])
})
