import t, { type Test } from 'tap'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { addUpstream, type FakeConnection } from './fake-upstream.js'
import { RelayClient, type ClientOptions } from './relay-client.js'

const MODERN = '2026-07-28'
const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Name?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'Ada' },
        sizes: { type: 'array', items: { type: 'string', enum: ['S', 'M'] } }
      }
    }
  }
}
const PAGE = { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in', url: 'https://example.com/' } }
const MODEL = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 }
}
const ROOTS = { method: 'roots/list' }
const ACCEPT = { action: 'accept', content: { name: 'Ada' } }
const DONE = { content: [], resultType: 'complete', ttlMs: 5 }

async function pair (
  t: Test,
  version: string,
  options: ClientOptions = {}
): Promise<{ client: RelayClient, connection: FakeConnection }> {
  const app = await gateway(t)
  return { client: new RelayClient(app, version, options), connection: addUpstream(app, MODERN).connection }
}

const ask = (inputRequests: Json | undefined, requestState?: string): Json => ({
  resultType: 'input_required',
  ...(inputRequests === undefined ? {} : { inputRequests }),
  ...(requestState === undefined ? {} : { requestState })
})

t.test('questions of a stateless upstream become requests to a client of 2025-11-25, all at once', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { answer } = client.call({ a: 1 })
  ;(await connection.arrived.next()).resolve(ask({ form: FORM, page: PAGE, model: MODEL, roots: ROOTS }, 'its state'))
  const requests = [
    await client.requests.next(),
    await client.requests.next(),
    await client.requests.next(),
    await client.requests.next()
  ]
  const [form, page, model, roots] = requests
  t.strictSame(form?.params, FORM.params)
  t.match(page, { method: 'elicitation/create', params: { ...PAGE.params, elicitationId: /^[0-9a-f-]{36}$/ } })
  t.strictSame(model?.params, MODEL.params)
  t.equal(roots?.method, 'roots/list')
  const answers = [
    ACCEPT,
    { action: 'decline' },
    { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm', extra: 1 },
    { roots: [] }
  ]
  for (const [index, result] of answers.entries()) client.reply(requests[index]?.id ?? 0, { result })
  const { params, resolve } = await connection.arrived.next()
  t.strictSame(params, {
    name: 'tool',
    arguments: { a: 1 },
    inputResponses: { form: answers[0], page: answers[1], model: answers[2], roots: answers[3] },
    requestState: 'its state'
  })
  resolve(DONE)
  t.strictSame((await answer).result, { content: [] })
})

t.test('a client of 2025-06-18 is asked in the words of its revision, and its answer is translated back', async t => {
  const { client, connection } = await pair(t, '2025-06-18', { capabilities: { elicitation: {} } })
  const { answer } = client.call()
  ;(await connection.arrived.next()).resolve(ask({ form: FORM }))
  const { id, params } = await client.requests.next()
  t.notOk('mode' in params)
  t.match(params, {
    message: 'Name?',
    requestedSchema: { properties: { name: { type: 'string' }, sizes: { type: 'string', description: /S, M/ } } }
  })
  client.reply(id, { result: { action: 'accept', content: { name: 'Ada', sizes: 'S, M' } } })
  const retry = await connection.arrived.next()
  t.strictSame(retry.params.inputResponses, { form: { action: 'accept', content: { name: 'Ada', sizes: ['S', 'M'] } } })
  t.notOk('requestState' in retry.params)
  retry.resolve(DONE)
  t.ok((await answer).result)
})

t.test('an upstream asks ten times during one call, and no more', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { answer } = client.call()
  for (let round = 1; round <= 10; round++) {
    ;(await connection.arrived.next()).resolve(ask({ model: MODEL }, String(round)))
    const { id } = await client.requests.next()
    client.reply(id, { result: { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' } })
  }
  ;(await connection.arrived.next()).resolve(ask({ model: MODEL }, '11'))
  t.match(await answer, { error: { code: -32603, message: /upstream server files .*more than 10 times/ } })
  t.equal(client.requests.size, 0)
})

for (const version of ['2025-11-25', MODERN]) {
  t.test(`a client of ${version} is asked up to 64 questions at once, and none of more`, async t => {
    const { client, connection } = await pair(t, version)
    const { answer } = client.call()
    const forms = Array.from({ length: 65 }, (_, index) => [`q${index}`, FORM])
    ;(await connection.arrived.next()).resolve(ask(Object.fromEntries(forms)))
    t.match(await answer, { error: { code: -32603, message: /files failed: it asks more than 64 questions at once/ } })
    t.equal(client.requests.size, 0)
  })
}

t.test('an upstream may ask for another round without a question three times in a row', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { answer } = client.call()
  for (let round = 1; round <= 3; round++) {
    const { params, resolve } = await connection.arrived.next()
    t.equal(params.requestState, round === 1 ? undefined : String(round - 1))
    resolve(ask(undefined, String(round)))
  }
  ;(await connection.arrived.next()).resolve(ask(undefined, '4'))
  t.match(await answer, { error: { code: -32603, message: /without a question/ } })
})

t.test('the client is not asked again for a page that it agreed to open', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { answer } = client.call()
  ;(await connection.arrived.next()).resolve(ask({ page: PAGE }, '1'))
  const { id } = await client.requests.next()
  client.reply(id, { result: { action: 'accept' } })
  const second = await connection.arrived.next()
  const askedAt = performance.now()
  second.resolve(ask({ again: PAGE }, '2'))
  const third = await connection.arrived.next()
  t.ok(performance.now() - askedAt > 900, 'it waited')
  t.strictSame(third.params.inputResponses, { again: { action: 'accept' } })
  third.resolve(DONE)
  t.ok((await answer).result)
  t.equal(client.requests.size, 0)
})

t.test('the error of a client is the end of the call, and its other questions are taken back', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { answer } = client.call()
  ;(await connection.arrived.next()).resolve(ask({ form: FORM, model: MODEL }))
  const [form, model] = [await client.requests.next(), await client.requests.next()]
  client.reply(form.id, { error: { code: -1, message: 'User rejected it' } })
  t.match(await answer, { error: { code: -32603, message: /User rejected it/ } })
  t.match(await client.notifications.next(), { method: 'notifications/cancelled', params: { requestId: model.id } })
  t.equal(connection.arrived.size, 0)
})

t.test('a client that goes ends the rounds', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  client.call()
  ;(await connection.arrived.next()).resolve(ask({ form: FORM }))
  await client.requests.next()
  client.close()
  await new Promise(setImmediate)
  t.equal(connection.arrived.size, 0)
})

t.test('a cancelled call takes its questions back and is not repeated', async t => {
  const { client, connection } = await pair(t, '2025-11-25')
  const { id } = client.call()
  ;(await connection.arrived.next()).resolve(ask({ form: FORM }))
  const question = await client.requests.next()
  client.cancel(id)
  t.match(await client.notifications.next(), { method: 'notifications/cancelled', params: { requestId: question.id } })
  client.reply(question.id, { result: ACCEPT })
  await new Promise(setImmediate)
  t.equal(connection.arrived.size, 0)
})

t.test('a question that the client did not declare is an error that names the upstream', async t => {
  for (const [version, capabilities] of [
    ['2025-11-25', {}],
    ['2025-03-26', { elicitation: {} }],
    ['2025-06-18', { elicitation: { url: {} } }]
  ] as const) {
    const { client, connection } = await pair(t, version, { capabilities })
    const { answer } = client.call()
    ;(await connection.arrived.next()).resolve(ask({ form: version === '2025-06-18' ? PAGE : FORM }))
    t.match(await answer, { error: { code: -32603, message: /upstream server files .*did not declare/ } }, version)
    t.equal(client.requests.size, 0)
  }
})

t.test(
  'a message to the model with several blocks becomes several messages in revisions that have one in each',
  async t => {
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' }
    ]
    const params = {
      messages: [
        { role: 'user', content: blocks },
        { role: 'assistant', content: blocks[0] }
      ],
      maxTokens: 5
    }
    for (const version of ['2025-06-18', '2025-11-25']) {
      const { client, connection } = await pair(t, version)
      client.call()
      ;(await connection.arrived.next()).resolve(ask({ model: { method: 'sampling/createMessage', params } }))
      const { messages } = (await client.requests.next()).params
      t.strictSame(
        messages,
        version === '2025-11-25'
          ? params.messages
          : [{ role: 'user', content: blocks[0] }, { role: 'user', content: blocks[1] }, params.messages[1]]
      )
    }
  }
)
