import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { settable } from '../../support/clocks.js'
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
    requestedSchema: { type: 'object', properties: { name: { type: 'string', format: 'odd' } } },
    extra: 1
  }
}
const ANSWER = { action: 'accept', content: { name: 'Ada', more: [1] }, _meta: { 'vendor/a': 1 } }
const DONE = { content: [], resultType: 'complete' }

/** A client and an upstream that are both stateless. */
async function pair (
  t: Test,
  options: ClientOptions = {}
): Promise<{
  client: RelayClient
  connection: FakeConnection
  secret: string
  app: Awaited<ReturnType<typeof gateway>>
}> {
  const secret = randomBytes(32).toString('hex')
  const app = await gateway(t, { secret })
  return { client: new RelayClient(app, MODERN, options), connection: addUpstream(app, MODERN).connection, secret, app }
}

/** One call up to its question. */
async function asked (
  client: RelayClient,
  connection: FakeConnection,
  state?: string,
  args: Json = {}
): Promise<string> {
  const { answer } = client.call(args)
  const { resolve } = await connection.arrived.next()
  resolve({
    resultType: 'input_required',
    inputRequests: { 'its key': FORM },
    ...(state === undefined ? {} : { requestState: state })
  })
  return (await answer).result.requestState as string
}

t.test(
  'questions and answers of stateless sides are passed on as they are, and the state comes back to the byte',
  async t => {
    const { client, connection } = await pair(t)
    for (const state of ['', 'plain', 'x"é'.repeat(40_000), '{"alg":"none"}.\n\u0000\ud800', undefined]) {
      const first = client.call({ a: 1 })
      const { params, resolve } = await connection.arrived.next()
      t.strictSame(params, { name: 'tool', arguments: { a: 1 } })
      resolve({
        resultType: 'input_required',
        inputRequests: { 'its key/é': FORM },
        ...(state === undefined ? {} : { requestState: state }),
        _meta: { mine: 1 }
      })
      const { result } = await first.answer
      t.match(result, { resultType: 'input_required', _meta: { mine: 1 } })
      t.strictSame(result.inputRequests, { 'its key/é': FORM })
      const second = client.call(
        { a: 1 },
        { inputResponses: { 'its key/é': ANSWER, extra: 3 }, requestState: result.requestState }
      )
      const retry = await connection.arrived.next()
      t.strictSame(retry.params, {
        name: 'tool',
        arguments: { a: 1 },
        inputResponses: { 'its key/é': ANSWER, extra: 3 },
        ...(state === undefined ? {} : { requestState: state })
      })
      retry.resolve(DONE)
      t.match(await second.answer, { result: { resultType: 'complete' } })
    }
  }
)

t.test('a state without questions is passed on, too', async t => {
  const { client, connection } = await pair(t)
  const { answer } = client.call()
  ;(await connection.arrived.next()).resolve({ resultType: 'input_required', requestState: 'later' })
  const { result } = await answer
  t.notOk('inputRequests' in result)
  client.call({}, { requestState: result.requestState })
  t.strictSame((await connection.arrived.next()).params, { name: 'tool', arguments: {}, requestState: 'later' })
})

t.test('answers without a state are forwarded as they are', async t => {
  const { client, connection } = await pair(t)
  client.call({}, { inputResponses: { early: ANSWER } })
  t.strictSame((await connection.arrived.next()).params, {
    name: 'tool',
    arguments: {},
    inputResponses: { early: ANSWER }
  })
})

t.test(
  'a state is refused for other arguments, callers and upstreams, when it was changed, and when it is old',
  async t => {
    const { client, connection, app } = await pair(t, { principal: 'ada' })
    const other = addUpstream(app, MODERN, { alias: 'mail' })
    const requestState = await asked(client, connection, 'its state', { a: 1 })
    const inputResponses = { 'its key': ANSWER }
    const refused = { error: { code: -32602, message: /requestState/ } }
    t.match(await client.call({ a: 2 }, { inputResponses, requestState }).answer, refused, 'arguments')
    t.match(await client.call({ a: 1 }, { inputResponses, requestState, alias: 'mail' }).answer, refused, 'upstream')
    t.match(
      await new RelayClient(app, MODERN, { principal: 'ben' }).call({ a: 1 }, { inputResponses, requestState }).answer,
      refused,
      'principal'
    )
    t.match(
      await new RelayClient(app, MODERN).call({ a: 1 }, { inputResponses, requestState }).answer,
      refused,
      'anonymous'
    )
    const flipped = `${requestState.slice(0, 20)}${requestState[20] === 'A' ? 'B' : 'A'}${requestState.slice(21)}`
    for (const state of [flipped, requestState.slice(0, -1), `${requestState}A`, '', 'its state', 7]) {
      t.match(
        await client.call({ a: 1 }, { inputResponses, requestState: state }).answer,
        refused,
        String(state).slice(0, 20)
      )
    }
    settable(t).later = 11 * 60_000
    t.match(await client.call({ a: 1 }, { inputResponses, requestState }).answer, {
      error: { code: -32602, message: /expired/ }
    })
    t.equal(connection.arrived.size + other.connection.arrived.size, 0, 'no upstream was called')
  }
)

t.test('a state of one view is refused on another where a tool has the same name', async t => {
  const { client, connection, app } = await pair(t)
  const requestState = await asked(client, connection)
  app.mcp.tools.remove('files__tool')
  const local = addUpstream(app, MODERN, { alias: 'files' })
  const { answer } = client.call({}, { requestState, inputResponses: {} })
  ;(await local.connection.arrived.next()).resolve(DONE)
  t.match(await answer, { result: {} }, 'the same alias')
})

t.test('a retry is served by another process with the same secret', async t => {
  const { client, connection, secret } = await pair(t)
  const requestState = await asked(client, connection, 'its state')
  const app = await gateway(t, { secret })
  const other = addUpstream(app, MODERN)
  const { answer } = new RelayClient(app, MODERN).call({}, { requestState, inputResponses: { 'its key': ANSWER } })
  const { params, resolve } = await other.connection.arrived.next()
  t.match(params, { requestState: 'its state', inputResponses: { 'its key': ANSWER } })
  resolve(DONE)
  t.match(await answer, { result: { resultType: 'complete' } })
})

t.test('questions that the client did not declare, and malformed ones, are errors that name the upstream', async t => {
  const { client, connection } = await pair(t, { capabilities: { elicitation: { form: {} } } })
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in', url: 'https://example.com' } }
  const wrong: Json[] = [
    { inputRequests: { a: url } },
    { inputRequests: { a: FORM, b: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } } },
    { inputRequests: { a: { method: 'tools/list' } } },
    { inputRequests: { a: 3 } },
    { inputRequests: { a: { method: 'roots/list', params: [] } } },
    { inputRequests: [] },
    { inputRequests: {} },
    { inputRequests: { a: FORM }, requestState: 3 },
    {}
  ]
  for (const result of wrong) {
    const { answer } = client.call()
    ;(await connection.arrived.next()).resolve({ resultType: 'input_required', ...result })
    t.match(
      await answer,
      { error: { code: -32603, message: /upstream server files/, data: { upstream: 'files' } } },
      JSON.stringify(result)
    )
  }
})
