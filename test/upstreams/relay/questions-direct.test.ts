import t, { type Test } from 'tap'
import { createAbortController } from '../../../lib/abort.js'
import { McpError } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { addUpstream, type FakeConnection } from './fake-upstream.js'
import { RelayClient, type ClientOptions } from './relay-client.js'

const FORM = {
  message: 'Name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  extra: 1
}
const PAGE = { mode: 'url', message: 'Sign in', url: 'https://example.com/', elicitationId: 'page-7' }
const METHOD = 'elicitation/create'

const never = createAbortController().signal

async function pair (
  t: Test,
  version = '2025-11-25',
  options: ClientOptions = {}
): Promise<{ client: RelayClient, connection: FakeConnection }> {
  const app = await gateway(t)
  return { client: new RelayClient(app, version, options), connection: addUpstream(app, '2025-11-25').connection }
}

t.test(
  'a question of a stateful upstream reaches the client of its call, and the answer goes back as it is',
  async t => {
    const { client, connection } = await pair(t)
    client.call()
    const { call } = await connection.arrived.next()
    t.equal(call.canAsk(METHOD, FORM), true)
    const answer = call.ask(METHOD, { ...FORM, _meta: { progressToken: 5, 'vendor/a': 1 } }, never)
    const { id, params } = await client.requests.next()
    t.strictSame(params, { mode: 'form', ...FORM, _meta: { 'vendor/a': 1 } })
    client.reply(id, { result: { action: 'accept', content: { name: 3 }, more: true, _meta: { a: 1 } } })
    t.strictSame(await answer, { action: 'accept', content: { name: 3 }, more: true, _meta: { a: 1 } })
  }
)

t.test('the error of the client goes back with its code, message and data', async t => {
  const { client, connection } = await pair(t)
  client.call()
  const { call } = await connection.arrived.next()
  const answer = call.ask('sampling/createMessage', { messages: [], maxTokens: 1 }, never)
  const { id } = await client.requests.next()
  client.reply(id, { error: { code: -1, message: 'User rejected it', data: { a: 1 } } })
  await t.rejects(answer, { code: -1, message: 'User rejected it', data: { a: 1 } })
})

t.test('a question that the upstream takes back is taken back from the client', async t => {
  const { client, connection } = await pair(t)
  client.call()
  const { call } = await connection.arrived.next()
  const controller = createAbortController()
  const answer = call.ask(METHOD, FORM, controller.signal)
  const { id } = await client.requests.next()
  controller.abort(new Error('not any more'))
  t.match(await client.notifications.next(), { method: 'notifications/cancelled', params: { requestId: id } })
  await t.rejects(answer)
})

t.test('the question of a call that is over is taken back', async t => {
  const { client, connection } = await pair(t)
  const { answer } = client.call()
  const { call, resolve } = await connection.arrived.next()
  const asked = call.ask(METHOD, FORM, never)
  const { id } = await client.requests.next()
  resolve({ content: [] })
  await answer
  t.match(await client.notifications.next(), { method: 'notifications/cancelled', params: { requestId: id } })
  await t.rejects(asked)
})

t.test('a client that cannot be asked is not, and the upstream is refused at once', async t => {
  const cases: Array<[string, ClientOptions, string]> = [
    ['2025-11-25', { capabilities: {} }, 'did not declare'],
    ['2025-11-25', { streams: false }, 'no stream'],
    ['2025-03-26', {}, 'no such question']
  ]
  for (const [version, options, why] of cases) {
    const { client, connection } = await pair(t, version, options)
    const { answer } = client.call()
    const { call, resolve } = await connection.arrived.next()
    t.equal(call.canAsk(METHOD, FORM), false)
    await t.rejects(call.ask(METHOD, FORM, never), { code: -32603, message: new RegExp(why) })
    t.equal(client.requests.size, 0)
    resolve({ content: [{ type: 'text', text: 'without you' }] })
    t.match(await answer, { result: { content: [{ text: 'without you' }] } })
  }
})

t.test('other requests of an upstream are not relayed', async t => {
  const { client, connection } = await pair(t)
  client.call()
  const { call } = await connection.arrived.next()
  t.equal(call.canAsk('tools/call', {}), false)
  await t.rejects(call.ask('tools/call', {}, never), { code: -32601 })
})

t.test('an answer that is no object is refused', async t => {
  const { client, connection } = await pair(t)
  client.call()
  const { call } = await connection.arrived.next()
  const answer = call.ask(METHOD, FORM, never)
  const { id } = await client.requests.next()
  client.reply(id, { result: 'Ada' })
  await t.rejects(answer, { code: -32602 })
})

t.test('only the client that got a page hears that it was completed, also after its call', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, '2025-11-25')
  const [client, other] = [new RelayClient(app, '2025-11-25'), new RelayClient(app, '2025-11-25')]
  const { answer } = client.call()
  const { call, resolve } = await connection.arrived.next()
  const asked = call.ask(METHOD, PAGE, never)
  const { id, params } = await client.requests.next()
  t.strictSame(params, PAGE)
  client.reply(id, { result: { action: 'accept' } })
  await asked
  connection.announce('notifications/elicitation/complete', { elicitationId: 'unknown' })
  connection.announce('notifications/elicitation/complete', { elicitationId: 'page-7' })
  t.match(await client.notifications.next(), {
    method: 'notifications/elicitation/complete',
    params: { elicitationId: 'page-7' }
  })
  resolve({ content: [] })
  await answer
  const second = client.call()
  ;(await connection.arrived.next()).reject(
    new McpError(-32042, 'Open a page first', { elicitations: [{ ...PAGE, elicitationId: 'page-8' }] })
  )
  t.match(await second.answer, { error: { code: -32042, data: { elicitations: [{ elicitationId: 'page-8' }] } } })
  connection.announce('notifications/elicitation/complete', { elicitationId: 'page-8' })
  t.match(await client.notifications.next(), { params: { elicitationId: 'page-8' } })
  t.equal(client.notifications.size + other.notifications.size, 0)
})

t.test('the clock of a call stops while its client is asked', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, '2025-11-25', { timeout: 500 })
  const client = new RelayClient(app, '2025-11-25')
  const { answer } = client.call()
  const { call, resolve } = await connection.arrived.next()
  const asked = call.ask(METHOD, FORM, never)
  const { id } = await client.requests.next()
  // Another call runs into the same timeout meanwhile.
  t.match(await client.call().answer, { error: { message: /given up/ } })
  client.reply(id, { result: { action: 'decline' } })
  await asked
  resolve({ content: [] })
  t.match(await answer, { result: { content: [] } })
})
