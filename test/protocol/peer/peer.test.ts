import { once } from 'node:events'
import t from 'tap'
import { errors } from '../../../protocol/wire/errors.js'
import { Peer } from '../../../protocol/peer/peer.js'
import { until, within } from '../../support/wait.js'
import { Recorder, type Json } from '../../support/recorder.js'

const { signal: neverAborted } = new AbortController()

function asking () {
  const channel = new Recorder()
  const peer = new Peer({ channel })
  return {
    peer,
    channel,
    ask: (method = 'm', signal = neverAborted) =>
      peer.request(method, { method }, channel, { signal, toError: error => errors.clientFailed(method, error) })
  }
}

t.test('answers find their questions, in whatever order they come', async t => {
  const { peer, ask, channel } = asking()
  const answers = [ask('a'), ask('b'), ask('c')]
  const ids = channel.sent.map(text => (JSON.parse(text) as { id: number }).id)
  t.equal(new Set(ids).size, 3)
  for (const id of ids.toReversed()) peer.settle({ kind: 'response', id, result: { to: id } })
  t.strictSame(await Promise.all(answers), ids.map(id => ({ to: id })))
})

t.test('a question is sent with its method and params', async t => {
  const { ask, channel } = asking()
  void ask('sampling/createMessage')
  t.match(await channel.next(), {
    jsonrpc: '2.0',
    id: Number,
    method: 'sampling/createMessage',
    params: { method: 'sampling/createMessage' }
  })
})

t.test('an error is an answer too', async t => {
  const { peer, ask } = asking()
  const answer = ask()
  peer.settle({ kind: 'response', id: 1, error: { code: -1, message: 'the user said no', data: { why: 1 } } })
  await t.rejects(answer, {
    name: 'McpError',
    code: -32603,
    message: 'The client could not answer m: the user said no',
    cause: { name: 'McpError', code: -1, message: 'the user said no', data: { why: 1 } }
  })
})

t.test('only the first answer counts, and only one with the very same id', async t => {
  const { peer, ask } = asking()
  const answer = ask()
  for (const id of ['1', 2, undefined]) peer.settle({ kind: 'response', id, result: 'wrong' })
  peer.settle({ kind: 'response', id: 1, result: 'first' })
  peer.settle({ kind: 'response', id: 1, result: 'second' })
  t.equal(await answer, 'first')
})

t.test('a client cannot answer a question to another', async t => {
  const [ada, bob] = [asking(), asking()]
  const answers = [ada.ask(), bob.ask()]
  bob.peer.settle({ kind: 'response', id: 1, result: 'of bob' })
  ada.peer.settle({ kind: 'response', id: 1, result: 'of ada' })
  t.strictSame(await Promise.all(answers), ['of ada', 'of bob'])
})

t.test('a question that is given up is cancelled on the wire', async t => {
  const { ask, channel, peer } = asking()
  const controller = new AbortController()
  const answer = ask('m', controller.signal)
  await channel.next()
  controller.abort(new Error('cancelled'))
  await t.rejects(answer, { cause: { message: 'cancelled' } })
  t.match(await channel.next(), { method: 'notifications/cancelled', params: { requestId: 1 } })
  t.doesNotThrow(() => peer.settle({ kind: 'response', id: 1, result: 'too late' }))
})

t.test('a question on behalf of a call that is over already is not sent', async t => {
  const { ask, channel } = asking()
  await within(
    1_000,
    async deadline =>
      await t.rejects(Promise.race([ask('m', AbortSignal.abort(new Error('over'))), once(deadline, 'abort')]))
  )
  t.strictSame(channel.sent, [])
})

t.test('no listener stays on the signal when a question is settled', async t => {
  const { peer, ask } = asking()
  const { signal } = new AbortController()
  let listening = 0
  t.intercept(signal, 'addEventListener', { value: () => { listening++ } })
  t.intercept(signal, 'removeEventListener', { value: () => { listening-- } })
  const answers = [ask('a', signal), ask('b', signal).catch(() => {})]
  t.equal(listening, 1, 'one for all of them')
  peer.settle({ kind: 'response', id: 1, result: {} })
  peer.settle({ kind: 'response', id: 2, error: { code: 1, message: 'x' } })
  await Promise.all(answers)
  t.equal(listening, 0)
})

t.test('when the client disconnects, its questions are given up, and it is asked no more', async t => {
  const { peer, ask } = asking()
  const answers = [ask(), ask()]
  peer.close(new Error('the socket was closed'))
  for (const answer of answers) await t.rejects(answer, { message: 'the socket was closed' })
  await t.rejects(ask())
})

t.test('a peer that is gone gets no more messages', async t => {
  const { peer, channel } = asking()
  peer.notify('notifications/a', { n: 1 })
  peer.close(new Error('gone'))
  peer.notify('notifications/b')
  t.strictSame(channel.sent.map(text => (JSON.parse(text) as Json).method), ['notifications/a'])
})

t.test('a listener of the drain that is added during the drain runs at once', async t => {
  const { peer } = asking()
  await peer.drain(10)
  let calls = 0
  peer.onDrain(() => { calls++ })
  t.equal(calls, 1)
})

t.test('an idle peer has no collections of its own, and peers do not share what they get', async t => {
  const [one, other] = [new Peer(), new Peer()]
  t.equal(one.inbound, other.inbound)
  t.equal(one.subscriptions, other.subscriptions)
  one.setSubscribed('test://a', true)
  t.strictSame(
    [[...one.subscriptions], [...other.subscriptions], [...new Peer().subscriptions]],
    [['test://a'], [], []]
  )
  other.setSubscribed('test://a', false)
  one.close(new Error('gone'))
  await other.drain(0)
})

t.test('of a huge error only the beginning is repeated', async t => {
  const { peer, ask } = asking()
  const answer = ask()
  peer.settle({ kind: 'response', id: 1, error: { code: -1, message: 'x'.repeat(4_000_000) } })
  const error = await answer.catch((error: unknown) => error) as Error & { cause: Error }
  t.ok(error.message.length < 400 && error.message.endsWith('…'))
  t.ok(error.cause.message.length < 5_000)
})

t.test('many questions on one signal print no warning, and all are taken back with it', async t => {
  const { channel, ask } = asking()
  const warnings: Error[] = []
  const note = (warning: Error) => { warnings.push(warning) }
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const controller = new AbortController()
  const answers = Array.from(
    { length: 25 },
    async () => await ask('m', controller.signal).catch((error: Error) => error.message)
  )
  controller.abort()
  t.strictSame(await Promise.all(answers), Array.from({ length: 25 }, () => 'the request was cancelled'))
  t.equal(channel.sent.filter(text => text.includes('notifications/cancelled')).length, 25)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(warnings, [])
})

for (const [how, answered] of [
  ['is answered', async () => {}],
  [
    'fails in a way that nothing foresees',
    async () => {
      throw new Error('unforeseen')
    }
  ]
] as const) {
  t.test(`what waits for initialize is received when that ${how}`, async t => {
    const peer = new Peer()
    const received: string[] = []
    peer.queueUntil(answered())
    const { handshakeQueue: queue } = peer
    for (const method of ['a', 'b']) {
      t.equal(
        queue?.add(
          () => {
            received.push(method)
          },
          { kind: 'notification', method, params: {} },
          10
        ),
        true
      )
    }
    await until(() => received.length === 2, 'the messages')
    t.strictSame(received, ['a', 'b'])
    t.equal(peer.handshakeQueue, undefined)
  })
}
