import t, { type Test } from 'tap'
import type { Id } from '../../../protocol/wire/jsonrpc.js'
import { OutgoingRequests } from '../../../protocol/peer/outgoing-requests.js'
import { CallsInFlight, type CallOptions } from '../../../upstreams/connection/calls-in-flight.js'
import type { OpenConnection } from '../../../upstreams/ports.js'
import { createEntry, FakeCall, FakeUpstream } from '../../support/fake-upstream.js'
import { until } from '../../support/wait.js'
import { connectTo, type Connecting } from './connecting.js'

const question = { method: 'elicitation/create', params: { message: 'Who?' } }
const ANSWER = { action: 'accept', content: {} }

interface Busy { upstream: FakeUpstream, connection: OpenConnection, ids: Id[] }

/** An upstream that answers none of these calls. */
async function busy (
  t: Test,
  calls: FakeCall[],
  transport: 'stdio' | 'http' = 'stdio',
  given: Connecting = {}
): Promise<Busy> {
  const upstream = new FakeUpstream({ 'tools/call': () => {}, 'tools/list': () => {} }, transport)
  const connection = await connectTo(t, upstream, given)
  for (const call of calls) connection.request({ method: 'tools/call', params: {}, call }).catch(() => {})
  const sent = () => upstream.link.received.filter(({ method }) => method === 'tools/call')
  await until(() => sent().length === calls.length)
  return { upstream, connection, ids: sent().map(({ id }) => id ?? '') }
}

t.test('a question is answered by the client of the only call in flight', async t => {
  const call = new FakeCall('ada')
  const { upstream: { link } } = await busy(t, [call])
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { id: 'q', result: ANSWER })
  t.match(call.asked, [{ method: question.method, params: question.params }])
})

t.test('a question during several calls of one client goes to the latest that can be asked', async t => {
  const client = {}
  const calls = [new FakeCall('ada', client), new FakeCall('ada', client), new FakeCall('ada', client)]
  if (calls[2] !== undefined) calls[2].isAskable = false
  const { upstream: { link } } = await busy(t, calls)
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { result: ANSWER })
  t.strictSame(calls.map(call => call.asked.length), [0, 1, 0])
})

t.test('a question goes to a call whose client waits for it, never to one that is parked besides', async t => {
  const client = {}
  const calls = [new FakeCall('ada', client), new FakeCall('ada', client), new FakeCall('ada', client)]
  const [parked, waiting, late] = calls as [FakeCall, FakeCall, FakeCall]
  parked.isWaiting = late.isWaiting = false
  const { upstream: { link } } = await busy(t, calls)
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { result: ANSWER })
  t.strictSame(calls.map(call => call.asked.length), [0, 1, 0])
  waiting.isWaiting = false
  link.send({ id: 'r', ...question })
  t.match(await link.answers.next(), {
    id: 'r',
    error: { code: -32603, message: /a client that has not come back.*"isolate"/ }
  })
  t.strictSame(calls.map(call => call.asked.length), [0, 1, 0])
})

t.test('a parked call of an anonymous client that is away keeps no other client from being asked', async t => {
  const [parked, waiting] = [new FakeCall(), new FakeCall()] as const
  parked.isWaiting = false
  const { upstream: { link } } = await busy(t, [parked, waiting])
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { id: 'q', result: ANSWER })
  t.strictSame([parked.asked.length, waiting.asked.length], [0, 1])
})

t.test('a question is refused while a parked call of another principal could have asked it', async t => {
  const [parked, waiting] = [new FakeCall('ada'), new FakeCall('bob')] as const
  parked.isWaiting = false
  const { upstream: { link } } = await busy(t, [parked, waiting])
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { error: { code: -32603, message: /several clients/ } })
  t.strictSame([parked.asked.length, waiting.asked.length], [0, 0])
})

t.test('a question during one parked call alone belongs to that call', async t => {
  const call = new FakeCall('ada')
  call.isWaiting = false
  const { upstream: { link } } = await busy(t, [call])
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { result: ANSWER })
})

for (const [who, calls] of Object.entries({
  'two principals': () => [new FakeCall('ada'), new FakeCall('bob')],
  'two principals with one client object': () => {
    const client = {}
    return [new FakeCall('ada', client), new FakeCall('bob', client)]
  },
  'two anonymous clients': () => [new FakeCall(), new FakeCall()],
  'two clients of one principal': () => [new FakeCall('ada'), new FakeCall('ada')]
})) {
  t.test(`a question during calls of ${who} is refused, and none of them hears of it`, async t => {
    const asked = calls()
    const {
      upstream: { link }
    } = await busy(t, asked)
    link.send({ id: 'q', ...question })
    t.match(await link.answers.next(), {
      id: 'q',
      error: { code: -32603, message: /calls of several clients are in flight/ }
    })
    t.strictSame(
      asked.map(call => call.asked.length),
      [0, 0]
    )
  })
}

t.test('a question after the cancellation of a call is not put to the client of another call', async t => {
  const cancelled = new FakeCall('ada')
  const running = new FakeCall('bob')
  const { upstream: { link }, connection } = await busy(t, [running])
  const end = new AbortController()
  const request = connection.request({ method: 'tools/call', params: {}, call: cancelled, signal: end.signal })
  await until(() => link.received.filter(({ method }) => method === 'tools/call').length === 2)
  const { id } = link.last('tools/call')
  end.abort()
  await t.rejects(request)
  link.send({ id: 'q', ...question })
  t.match(
    await link.answers.next(),
    { id: 'q', error: { code: -32603, message: /several clients/ } },
    'the server may still work on the cancelled call'
  )
  t.strictSame([cancelled.asked.length, running.asked.length], [0, 0])
  link.send({ method: 'notifications/message', params: { level: 'error', data: 'of whom?' } })
  link.send({ id: id ?? '', result: {} })
  link.send({ id: 'r', ...question })
  t.match(await link.answers.next(), { id: 'r', result: ANSWER }, 'after a late answer it does not')
  t.strictSame([running.asked.length, running.logged.length], [1, 0])
})

t.test('a question after the cancellation of a call is put to the same client during its next call', async t => {
  const client = {}
  const { upstream: { link }, connection } = await busy(t, [new FakeCall('ada', client)])
  const end = new AbortController()
  const request = connection.request({
    method: 'tools/call',
    params: {},
    call: new FakeCall('ada', client),
    signal: end.signal
  })
  await until(() => link.received.filter(({ method }) => method === 'tools/call').length === 2)
  end.abort()
  await t.rejects(request)
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { id: 'q', result: ANSWER })
})

t.test('many cancelled calls leave little behind, and their questions reach no other client', async t => {
  const requests = new OutgoingRequests<CallOptions>()
  const calls = new CallsInFlight(requests)
  for (let id = 0; id < 5_000; id++) calls.abandon(id, new FakeCall())
  void requests.send(
    'tools/call',
    {},
    { streams: true, respond: () => {}, emit: () => {}, end: () => {} },
    { call: new FakeCall('bob') }
  )
  t.equal(calls.findAsked(question.method, question.params, undefined), 'ambiguous')
  for (let id = 0; id < 1_000; id++) calls.answeredLate(id)
  t.equal(
    calls.findAsked(question.method, question.params, undefined),
    'ambiguous',
    'those beyond the limit count as well'
  )
})

t.test('over HTTP a question belongs to the call on whose stream it comes, whoever else is calling', async t => {
  const calls = [new FakeCall('ada'), new FakeCall('bob')]
  const { upstream: { link }, ids } = await busy(t, calls, 'http')
  link.send({ id: 'q', ...question }, ids[1])
  t.match(await link.answers.next(), { id: 'q', result: ANSWER })
  t.strictSame(calls.map(call => call.asked.length), [0, 1])
  link.send({ id: 'r', ...question })
  t.match(await link.answers.next(), { id: 'r', error: { code: -32603 } }, 'on the stream of none of them')
})

t.test('a question outside of any call is refused', async t => {
  const { upstream: { link }, connection } = await busy(t, [])
  connection.request({ method: 'tools/list', params: {} }).catch(() => {})
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { error: { code: -32603, message: /no call is in flight/ } })
})

t.test('over HTTP a question on the stream of a request of our own is refused, though a call is in flight', async t => {
  const call = new FakeCall('ada')
  const { upstream: { link }, connection } = await busy(t, [call], 'http')
  connection.request({ method: 'tools/list', params: {} }).catch(() => {})
  await until(() => link.received.some(({ method }) => method === 'tools/list'))
  link.send({ id: 'q', ...question }, link.last('tools/list').id)
  t.match(await link.answers.next(), { error: { code: -32603 } })
  t.equal(call.asked.length, 0)
})

t.test('an answered call is not asked any more', async t => {
  const calls = [new FakeCall('ada'), new FakeCall('bob')]
  const { upstream: { link }, ids } = await busy(t, calls)
  link.send({ id: ids[0], result: {} })
  await until(() => calls.length === 2)
  await new Promise(resolve => setImmediate(resolve))
  link.send({ id: 'q', ...question })
  t.match(await link.answers.next(), { result: ANSWER })
  t.strictSame(calls.map(call => call.asked.length), [0, 1])
})

t.test('the gateway answers ping and, where roots are configured, roots/list; other requests do not exist', async t => {
  const call = new FakeCall()
  const {
    upstream: { link }
  } = await busy(t, [call], 'stdio', { entry: createEntry({ roots: ['file:///a', 'file:///b'] }) })
  link.send({ id: 1, method: 'ping' })
  t.match(await link.answers.next(), { id: 1, result: {} })
  link.send({ id: 2, method: 'roots/list' })
  t.strictSame((await link.answers.next()).result, { roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] })
  for (const method of ['sampling/createMessage', 'tools/list', 'x']) {
    link.send({ id: 3, method })
    t.match(await link.answers.next(), { error: { code: -32601 } }, method)
  }
  const { upstream } = await busy(t, [call], 'stdio', { entry: createEntry({ elicitation: false }) })
  for (const method of ['roots/list', 'elicitation/create']) {
    upstream.link.send({ id: 4, method })
    t.match(await upstream.link.answers.next(), { error: { code: -32601 } }, method)
  }
  t.equal(call.asked.length, 0)
})

t.test(
  'what the client answers with an error reaches the upstream as that error, and nothing of other failures does',
  async t => {
    const call = new FakeCall()
    const {
      upstream: { link }
    } = await busy(t, [call])
    call.answer = () => {
      throw Object.assign(new Error('not now'), { name: 'McpError', code: -1 })
    }
    link.send({ id: 1, ...question })
    t.match((await link.answers.next()).error, { code: -1, message: 'not now' })
    call.answer = () => {
      throw new Error('a secret')
    }
    link.send({ id: 2, ...question })
    t.notMatch((await link.answers.next()).error, { message: /secret/ })
  }
)

t.test('a question that the upstream takes back is aborted, and so are all when it ends', async t => {
  const call = new FakeCall()
  call.answer = async () =>
    await new Promise((_resolve, reject) => {
      call.asked.at(-1)?.signal.addEventListener('abort', reject)
    })
  const { upstream: { link } } = await busy(t, [call])
  link.send({ id: 'a', ...question })
  link.send({ id: 'b', ...question })
  await until(() => call.asked.length === 2)
  link.send({ method: 'notifications/cancelled', params: { requestId: 'a' } })
  t.strictSame(call.asked.map(({ signal }) => signal.aborted), [true, false])
  link.send({ id: 'c', method: 'ping' })
  t.match(await link.answers.next(), { id: 'c' }, 'the one that was taken back is not answered')
  link.end('it exited with code 0')
  t.strictSame(call.asked.map(({ signal }) => signal.aborted), [true, true])
})

t.test('an upstream has a bounded number of questions open, each with an id of its own', async t => {
  const call = new FakeCall()
  let answer = (_answer: object): void => {}
  call.answer = async () => await new Promise(resolve => { answer = resolve })
  const { upstream: { link } } = await busy(t, [call], 'stdio', { maxQuestions: 1 })
  link.send({ id: 'a', ...question })
  link.send({ id: 'a', ...question })
  t.match(await link.answers.next(), { error: { code: -32600, message: /in use/ } })
  link.send({ id: 'b', ...question })
  t.match(await link.answers.next(), { id: 'b', error: { message: /1 questions are open already/ } })
  answer(ANSWER)
  t.match(await link.answers.next(), { id: 'a', result: ANSWER })
  link.send({ id: 'c', ...question })
  await until(() => call.asked.length === 2)
})

t.test('log messages reach the call they belong to, and otherwise the log of the gateway', async t => {
  const lines: object[] = []
  const log = { debug: (data: object) => { lines.push(data) }, warn: () => {} }
  const calls = [new FakeCall('ada'), new FakeCall('bob')]
  const message = (data: string): object => ({ method: 'notifications/message', params: { level: 'info', data } })
  const { upstream: { link }, ids } = await busy(t, calls, 'http', { log })
  link.send(message('one'), ids[0])
  link.send(message('two'))
  t.strictSame(calls.map(call => call.logged.map(({ data }) => data)), [['one'], []])
  t.strictSame(lines, [{ upstream: 'fake', level: 'info', data: 'two' }])
  const only = new FakeCall()
  const { upstream } = await busy(t, [only])
  upstream.link.send(message('three'))
  t.match(only.logged, [{ data: 'three' }])
})

t.test('other notifications reach the listeners until they are removed', async t => {
  const heard: string[] = []
  const { upstream: { link }, connection } = await busy(t, [])
  const off = connection.onNotification((method, params) => heard.push(`${method} ${JSON.stringify(params)}`))
  link.send({ method: 'notifications/tools/list_changed' })
  link.send({ method: 'notifications/resources/updated', params: { uri: 'a:b' } })
  off()
  link.send({ method: 'notifications/tools/list_changed' })
  t.strictSame(heard, ['notifications/tools/list_changed {}', 'notifications/resources/updated {"uri":"a:b"}'])
})

t.test('over HTTP progress counts on the stream of its own call only', async t => {
  const calls = [new FakeCall('ada'), new FakeCall('bob')]
  const upstream = new FakeUpstream({ 'tools/call': () => {} }, 'http')
  const connection = await connectTo(t, upstream)
  for (const call of calls) {
    connection.request({ method: 'tools/call', params: {}, call, wantsProgress: true }).catch(() => {})
  }
  const sent = () => upstream.link.received.filter(({ method }) => method === 'tools/call')
  await until(() => sent().length === 2)
  const [first, second] = sent().map(({ id = '', params }) => ({
    id,
    progressToken: (params['_meta'] as Record<string, unknown>)['progressToken']
  }))
  const progress = (progressToken: unknown) => ({
    method: 'notifications/progress',
    params: { progressToken, progress: 1 }
  })
  upstream.link.send(progress(second?.progressToken), first?.id)
  upstream.link.send(progress(first?.progressToken), first?.id)
  t.strictSame(calls.map(({ progressed }) => progressed.length), [1, 0])
})
