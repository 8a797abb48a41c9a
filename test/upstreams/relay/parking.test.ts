import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { McpError } from '../../../app.js'
import { createAbortController } from '../../../lib/abort.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { recordSpans } from '../../support/tracing.js'
import { until } from '../../support/wait.js'
import { addUpstream, type Arrived, type Fake, type FakeConnection } from './fake-upstream.js'
import { RelayClient, type ClientOptions, type Reply } from './relay-client.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const ELICIT = 'elicitation/create'
const SAMPLE = 'sampling/createMessage'
const FORM = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
const MODEL = { messages: [], maxTokens: 5 }
const ACCEPT = { action: 'accept', content: { name: 'Ada', more: true } }
const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = createAbortController().signal

/** A stateless client in front of a stateful upstream. */
async function pair (
  t: Test,
  fake: Fake = {},
  options: ClientOptions = {}
): Promise<
  { client: RelayClient, app: Awaited<ReturnType<typeof gateway>>, secret: string } & ReturnType<typeof addUpstream>
> {
  const secret = randomBytes(32).toString('hex')
  const app = await gateway(t, { secret })
  return { client: new RelayClient(app, MODERN, options), app, secret, ...addUpstream(app, LEGACY, fake) }
}

interface Asked {
  arrived: Arrived
  answers: Array<Promise<object>>
  state: unknown
  keys: string[]
  requests: Record<string, Json>
}

/** One call up to the answer that carries the questions. */
async function ask (
  client: RelayClient,
  connection: FakeConnection,
  ...questions: Array<[method: string, params: Json]>
): Promise<Asked> {
  const { answer } = client.call({ a: 1 })
  const arrived = await connection.arrived.next()
  const answers = questions.map(async ([method, params]) => await arrived.call.ask(method, params, never))
  for (const one of answers) one.catch(() => {})
  return { arrived, answers, ...questionsOf(await answer) }
}

function questionsOf ({ result }: Reply): { state: unknown, keys: string[], requests: Record<string, Json> } {
  const requests = result.inputRequests as Record<string, Json>
  return { state: result.requestState, keys: Object.keys(requests), requests }
}

t.test(
  'a question of a stateful upstream travels to a stateless client and back, and the upstream is called once',
  async t => {
    const { client, connection, parked } = await pair(t)
    const {
      arrived,
      answers: [answered],
      state,
      keys: [key = ''],
      requests
    } = await ask(client, connection, [ELICIT, FORM])
    t.strictSame(requests[key], { method: ELICIT, params: { mode: 'form', ...FORM } })
    const { answer } = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT, extra: 1 } })
    t.strictSame(await answered, ACCEPT)
    arrived.resolve({ ...DONE, resultType: 'odd' })
    t.match(await answer, { result: { ...DONE, resultType: 'complete' } })
    t.equal(connection.arrived.size, 0)
    t.equal(parked.size, 0)
  }
)

t.test('the question is a span of the call that asked, and names it to the client', async t => {
  const spans = recordSpans(t)
  const { client, connection } = await pair(t)
  const { keys: [key = ''], requests, arrived, answers, state } = await ask(client, connection, [ELICIT, FORM])
  const question = spans.find(({ name }) => name === ELICIT)
  const { spanId } = spans.find(({ kind }) => kind === 'SERVER') ?? {}
  t.match(question, { kind: 'CLIENT', parentId: spanId })
  t.match(requests[key], { params: { _meta: { traceparent: `00-${question?.traceId}-${question?.spanId}-01` } } })
  const { answer } = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } })
  t.strictSame(await answers[0], ACCEPT)
  arrived.resolve(DONE)
  t.match(await answer, { result: DONE })
})

t.test('pages lose the id that their revision does not have, models are asked as they are', async t => {
  const { client, connection } = await pair(t)
  const page = { mode: 'url', message: 'Sign in', url: 'https://example.com/', elicitationId: 'page-7' }
  const { requests, keys } = await ask(
    client,
    connection,
    [ELICIT, page],
    [SAMPLE, { ...MODEL, _meta: { progressToken: 1, 'vendor/a': 2 } }]
  )
  t.strictSame(keys.map(key => requests[key]), [
    { method: ELICIT, params: { mode: 'url', message: 'Sign in', url: 'https://example.com/' } },
    { method: SAMPLE, params: { ...MODEL, _meta: { 'vendor/a': 2 } } }
  ])
})

t.test('two questions at once are asked together, two in a row one after the other', async t => {
  const { client, connection } = await pair(t)
  const { arrived, answers, state, keys } = await ask(client, connection, [ELICIT, FORM], [SAMPLE, MODEL])
  t.equal(keys.length, 2)
  const second = client.call(
    { a: 1 },
    { requestState: state, inputResponses: { [String(keys[0])]: ACCEPT, [String(keys[1])]: SAMPLED } }
  )
  t.strictSame(await Promise.all(answers), [ACCEPT, SAMPLED])
  arrived.call.progress({ progress: 1 })
  const third = arrived.call.ask(ELICIT, FORM, never)
  const again = questionsOf(await second.answer)
  t.equal(again.keys.length, 1)
  t.notOk(keys.includes(String(again.keys[0])), 'no key is used twice')
  const last = client.call(
    { a: 1 },
    { requestState: again.state, inputResponses: { [String(again.keys[0])]: { action: 'decline' } } }
  )
  t.strictSame(await third, { action: 'decline' })
  arrived.resolve(DONE)
  t.match(await last.answer, { result: DONE })
})

t.test('a missing answer is asked for again, and the others are taken', async t => {
  const { client, connection } = await pair(t)
  const { arrived, answers, state, keys: [form = '', model = ''] } = await ask(client, connection, [ELICIT, FORM], [SAMPLE, MODEL])
  const again = questionsOf(
    await client.call({ a: 1 }, { requestState: state, inputResponses: { [model]: SAMPLED } }).answer
  )
  t.strictSame(again.keys, [form])
  t.strictSame(await answers[1], SAMPLED)
  const none = questionsOf(await client.call({ a: 1 }, { requestState: again.state }).answer)
  t.strictSame(none.keys, [form], 'without any answer')
  const { answer } = client.call({ a: 1 }, { requestState: none.state, inputResponses: { [form]: ACCEPT } })
  t.strictSame(await answers[0], ACCEPT)
  arrived.resolve(DONE)
  t.match(await answer, { result: DONE })
})

t.test('a malformed answer is refused and the call stays parked', async t => {
  const { client, connection } = await pair(t)
  const {
    arrived,
    answers,
    state,
    keys: [form = '', model = '']
  } = await ask(client, connection, [ELICIT, FORM], [SAMPLE, MODEL])
  const malformed = [
    { [form]: 'Ada' },
    { [form]: null },
    { [form]: { action: 'yes' } },
    { [form]: { action: 'accept', content: [] } },
    { [form]: ACCEPT, [model]: { role: 'assistant' } },
    { [model]: { ...SAMPLED, content: 'Hi' } }
  ]
  for (const inputResponses of malformed) {
    t.match(
      await client.call({ a: 1 }, { requestState: state, inputResponses }).answer,
      { error: { code: -32602, message: /inputResponses/ } },
      JSON.stringify(inputResponses)
    )
  }
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: 3 }).answer, { error: { code: -32602 } })
  const { answer } = client.call(
    { a: 1 },
    { requestState: state, inputResponses: { [form]: ACCEPT, [model]: SAMPLED } }
  )
  t.strictSame(await Promise.all(answers), [ACCEPT, SAMPLED])
  arrived.resolve(DONE)
  t.match(await answer, { result: DONE })
})

t.test('of two answers at the same time one is served and the other refused', async t => {
  const { client, connection } = await pair(t)
  const { arrived, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  const retries = [1, 2].map(
    async () => await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer
  )
  arrived.resolve(DONE)
  const [first, second] = await Promise.all(retries)
  t.match(first, { result: DONE })
  t.match(second, {
    error: {
      code: -32602,
      message: /upstream server files does not wait/,
      data: { upstream: 'files', reason: /answered already/ }
    }
  })
  t.match(
    await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer,
    { error: { code: -32602 } },
    'later, too'
  )
  t.equal(connection.arrived.size, 0, 'the upstream was not called again')
})

t.test('answers are refused for other arguments and callers, and the call stays parked', async t => {
  const { client, connection, app } = await pair(t, {}, { principal: 'ada' })
  const { arrived, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  const inputResponses = { [key]: ACCEPT }
  t.match(await client.call({ a: 2 }, { requestState: state, inputResponses }).answer, { error: { code: -32602 } })
  t.match(
    await new RelayClient(app, MODERN, { principal: 'ben' }).call({ a: 1 }, { requestState: state, inputResponses })
      .answer,
    { error: { code: -32602 } }
  )
  const { answer } = new RelayClient(app, MODERN, { principal: 'ada' }).call(
    { a: 1 },
    { requestState: state, inputResponses }
  )
  arrived.resolve(DONE)
  t.match(await answer, { result: DONE }, 'on another connection of the same caller')
})

t.test('another process refuses the answer in words and does not call the upstream', async t => {
  const { client, connection, secret } = await pair(t)
  const { state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  const app = await gateway(t, { secret })
  const other = addUpstream(app, LEGACY)
  const { answer } = new RelayClient(app, MODERN).call(
    { a: 1 },
    { requestState: state, inputResponses: { [key]: ACCEPT } }
  )
  t.match(await answer, {
    error: {
      code: -32602,
      message: /send the request again without requestState/,
      data: { reason: 'not here any more' }
    }
  })
  t.equal(other.connection.arrived.size, 0)
})

t.test('when the client does not come back, the upstream hears of it and nothing is left', async t => {
  const { client, connection, parked } = await pair(t, { limits: { parkedCallLifetime: 30 } })
  const { answers, state, keys: [form = ''] } = await ask(client, connection, [ELICIT, FORM], [SAMPLE, MODEL])
  t.strictSame(await answers[0], { action: 'cancel' })
  await t.rejects(answers[1] as Promise<object>, { code: -32603, message: /did not answer in time/ })
  t.match(await connection.cancelled.next(), { params: { name: 'tool' } })
  t.equal(parked.size, 0)
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: { [form]: ACCEPT } }).answer, {
    error: { code: -32602 }
  })
  t.equal(connection.arrived.size, 0)
})

t.test('ten thousand clients that do not come back leave nothing', async t => {
  const { client, connection, parked } = await pair(t, { limits: { parkedCallLifetime: 400 } })
  for (let count = 0; count < 10_000; count++) await ask(client, connection, [ELICIT, FORM])
  await until(() => parked.size === 0 && connection.cancelled.size === 10_000)
  t.equal(client.notifications.size, 0)
})

t.test('a result that came while the call was parked is given to the next request', async t => {
  const { client, connection, parked } = await pair(t)
  const { arrived, answers, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  arrived.resolve(DONE)
  t.strictSame(await answers[0], { action: 'cancel' }, 'its question is over')
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer, {
    result: DONE
  })
  t.equal(parked.size, 0)
})

t.test('an error that came while the call was parked is given to the next request', async t => {
  const { client, connection } = await pair(t)
  const { arrived, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  arrived.reject(new McpError(-32603, 'The upstream server files was lost before it answered'))
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer, {
    error: { code: -32603, message: /files was lost/ }
  })
})

t.test('a question that the upstream took back need not be answered', async t => {
  const { client, connection } = await pair(t)
  const { answer } = client.call({ a: 1 })
  const arrived = await connection.arrived.next()
  const controller = createAbortController()
  const asked = arrived.call.ask(ELICIT, FORM, controller.signal)
  const { state, keys: [key = ''] } = questionsOf(await answer)
  controller.abort(new Error('it gave up'))
  await t.rejects(asked)
  const retry = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } })
  arrived.resolve(DONE)
  t.match(await retry.answer, { result: DONE })
})

t.test('progress while the call is parked is sent with the next request, the latest only', async t => {
  const { client, connection } = await pair(t)
  const { answer } = client.call({ a: 1 }, { meta: { progressToken: 'one' } })
  const arrived = await connection.arrived.next()
  arrived.call.progress({ progress: 1 })
  const asked = arrived.call.ask(ELICIT, FORM, never)
  const { state, keys: [key = ''] } = questionsOf(await answer)
  arrived.call.progress({ progress: 2 })
  arrived.call.progress({ progress: 3, message: 'waiting' })
  const retry = client.call(
    { a: 1 },
    { requestState: state, inputResponses: { [key]: ACCEPT }, meta: { progressToken: 'two' } }
  )
  await asked
  arrived.call.progress({ progress: 4 })
  arrived.resolve(DONE)
  await retry.answer
  t.strictSame(client.notifications.take().map(({ params }) => params), [
    { progressToken: 'one', progress: 1 },
    { progressToken: 'two', progress: 3, message: 'waiting' },
    { progressToken: 'two', progress: 4 }
  ])
})

t.test('the time of a call does not run while it is parked, and does when it goes on', async t => {
  const { client, connection } = await pair(t, { timeout: 500 })
  const { state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  t.match(await client.call({ a: 2 }).answer, { error: { message: /given up/ } }, 'the timeout of another call')
  await connection.arrived.next()
  await connection.cancelled.next()
  const { answer } = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } })
  t.match(await answer, { error: { message: /given up after \d+ ms without an answer of the upstream server files/ } })
  t.match(await connection.cancelled.next(), { params: { arguments: { a: 1 } } })
})

t.test('a cancelled request cancels the call at the upstream, before and after a question', async t => {
  const { client, connection, parked } = await pair(t)
  const { arrived, answers, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  const { id } = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } })
  await answers[0]
  client.cancel(id)
  await connection.cancelled.next()
  t.ok(arrived)
  await until(() => parked.size === 0)
})

t.test(
  'a question that the client cannot answer is refused to the upstream, and the client learns what it lacks',
  async t => {
    const { client, connection, parked } = await pair(t, {}, { capabilities: { sampling: {} } })
    for (const fails of ['an error', 'a failure', 'no failure']) {
      const { answer } = client.call()
      const { call, resolve, reject } = await connection.arrived.next()
      t.equal(call.canAsk(ELICIT, FORM), false)
      await t.rejects(call.ask(ELICIT, FORM, never), { code: -32603, message: /did not declare/ })
      if (fails === 'an error') reject(new McpError(-32603, 'cannot go on'))
      else resolve({ ...DONE, isError: fails === 'a failure' })
      t.match(
        await answer,
        fails === 'no failure'
          ? { result: DONE }
          : { error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
        fails
      )
    }
    t.equal(parked.size, 0)
  }
)

t.test('questions over a limit are refused to the upstream', async t => {
  const { client, connection } = await pair(t, { limits: { maxParkedCalls: 1 } })
  await ask(client, connection, [ELICIT, FORM])
  const { answer } = client.call()
  const { call, resolve } = await connection.arrived.next()
  await t.rejects(call.ask(ELICIT, FORM, never), { code: -32603, message: /limit maxParkedCalls/ })
  resolve(DONE)
  t.match(await answer, { result: DONE })
})

t.test('what is kept for a parked call is bounded: its questions, its progress and its result', async t => {
  const { client, connection, parked } = await pair(t, { limits: { maxParkedBytes: 2_000 } })
  const long = 'x'.repeat(2_000)
  const { answer } = client.call()
  const { call: asking, resolve: finish } = await connection.arrived.next()
  await t.rejects(asking.ask(ELICIT, { ...FORM, message: long }, never), {
    code: -32603,
    message: /limit maxParkedBytes/
  })
  finish(DONE)
  t.match(await answer, { result: DONE }, 'a result that a client waits for may have any length')

  const { state, keys: [key = ''], answers, arrived: { call, resolve } } = await ask(client, connection, [ELICIT, FORM])
  call.progress({ progress: 1, message: long })
  resolve({ content: [{ type: 'text', text: long }] })
  t.strictSame(await answers[0], { action: 'cancel' }, 'its question is over')
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer, {
    error: { code: -32603, message: /files.*limit maxParkedBytes/ }
  })
  t.equal(parked.size, 0)
})

t.test('parked calls end when their upstream is removed', async t => {
  const { client, connection, parked } = await pair(t)
  const { answers, state, keys: [key = ''] } = await ask(client, connection, [ELICIT, FORM])
  parked.end('the server was removed', 'files')
  t.strictSame(await answers[0], { action: 'cancel' })
  await connection.cancelled.next()
  t.match(await client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: ACCEPT } }).answer, {
    error: { code: -32602 }
  })
})

t.test(
  'an error that demands pages becomes questions for a stateless client, and the next request is a new call',
  async t => {
    const { client, connection, parked } = await pair(t)
    const { answer } = client.call({ a: 1 })
    const elicitations = [{ mode: 'url', message: 'Sign in', url: 'https://example.com/', elicitationId: 'page-7' }]
    ;(await connection.arrived.next()).reject(new McpError(-32042, 'Open a page first', { elicitations }))
    const {
      state,
      keys: [key = ''],
      requests
    } = questionsOf(await answer)
    t.strictSame(requests[key], {
      method: ELICIT,
      params: { mode: 'url', message: 'Sign in', url: 'https://example.com/' }
    })
    t.equal(parked.size, 0)
    const retry = client.call({ a: 1 }, { requestState: state, inputResponses: { [key]: { action: 'accept' } } })
    const { params, resolve } = await connection.arrived.next()
    t.strictSame(params, { name: 'tool', arguments: { a: 1 } })
    resolve(DONE)
    t.match(await retry.answer, { result: DONE })
  }
)

t.test('an error that demands pages never reaches a stateless client as it is', async t => {
  const page = { mode: 'url', message: 'Sign in', url: 'https://example.com/' }
  const cases: Array<[ClientOptions, Json | undefined, number]> = [
    [{ capabilities: { elicitation: {} } }, { elicitations: [page] }, -32021],
    [{}, { elicitations: [] }, -32603],
    [{}, { elicitations: Array.from({ length: 65 }, () => page) }, -32603],
    [{}, { elicitations: [{ ...page, url: 3 }] }, -32603],
    [{}, undefined, -32603]
  ]
  for (const [options, data, code] of cases) {
    const { client, connection } = await pair(t, {}, options)
    const { answer } = client.call()
    ;(await connection.arrived.next()).reject(new McpError(-32042, 'Open a page first', data))
    t.equal((await answer).error.code, code, JSON.stringify(data))
  }
})

t.test('a question that comes while a parked call is being ended is refused, and counts no more', async t => {
  const { client, connection, parked } = await pair(t)
  const { arrived, answers: [answered] } = await ask(client, connection, [ELICIT, FORM])
  parked.end('the client did not answer in time')
  await t.rejects(arrived.call.ask(ELICIT, FORM, never), { message: /the call is over/ })
  t.strictSame(await answered, { action: 'cancel' })
  await connection.cancelled.next()
  t.equal(parked.size, 0)
})
