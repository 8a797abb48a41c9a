import t, { type Test } from 'tap'
import { createClient, type Client } from '../../../app.js'
import { createAbortController } from '../../../lib/abort.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { addUpstream, type Arrived, type FakeConnection } from './fake-upstream.js'
import { RelayClient } from './relay-client.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const ELICIT = 'elicitation/create'
const FORM = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = createAbortController().signal

interface Early { arrived: Arrived, connection: FakeConnection, id: string, owner: Client }

/** A call to an upstream that was answered early. */
async function early (t: Test, client: string, upstream: string, timeout?: number): Promise<Early> {
  const app = await gateway(t)
  const { connection } = addUpstream(app, upstream, timeout === undefined ? {} : { timeout })
  const found = app.mcp.tools.get('files__tool')
  if (found === undefined) throw new Error('the tool of the upstream is not there')
  app.mcp.tools.replace({ ...found, patience: timeout === undefined ? 100 : 60_000 })
  await app.mcp.additions.settle()
  const { answer } = new RelayClient(app, client, { principal: 'ada' }).call()
  const arrived = await connection.arrived.next()
  const [, id = ''] = /patchbay:\/\/call\/([\w-]{22})/.exec(JSON.stringify((await answer).result)) ?? []
  const owner = await createClient(app, { identity: { principal: 'ada', scopes: 'all' } })
  t.teardown(async () => await owner.close())
  return { arrived, connection, id, owner }
}

const call = async (of: Client, name: string, args: Json): Promise<unknown> =>
  await of.request('tools/call', { name, arguments: args }).catch((error: unknown) => error)

for (const client of [LEGACY, MODERN]) {
  t.test(`a legacy upstream that asks after a client of ${client} was answered hears that it cannot`, async t => {
    const { arrived, owner, id } = await early(t, client, LEGACY)
    t.equal(arrived.call.canAsk(ELICIT, FORM), false)
    await t.rejects(arrived.call.ask(ELICIT, FORM, never), { message: /cannot be asked .* was answered before it ended/ })
    arrived.resolve({ ...DONE, _meta: { 'example.com/kept': 1 } })
    t.match(await call(owner, 'get_result', { id }), { ...DONE, _meta: { 'example.com/kept': 1 } })
  })

  t.test(`a call of a modern upstream that asks after a client of ${client} was answered fails in words`, async t => {
    const { arrived, owner, id } = await early(t, client, MODERN)
    arrived.resolve({
      resultType: 'input_required', inputRequests: { name: { method: ELICIT, params: FORM } }, requestState: 's'
    })
    t.match(await call(owner, 'get_result', { id }), {
      isError: true, content: [{ text: /cannot be asked for elicitation\/create: .* was answered before it ended/ }]
    })
  })

  t.test(`an upstream hears that the caller of ${client} cancelled the call later`, async t => {
    const { connection, owner, id } = await early(t, client, client)
    await call(owner, 'cancel_result', { id })
    await connection.cancelled.next()
    t.match(await call(owner, 'get_result', { id }), { isError: true, content: [{ text: /was cancelled/ }] })
  })
}

t.test('the timeout of a server no longer ends a call that was answered early', async t => {
  const { arrived, connection, owner, id } = await early(t, LEGACY, LEGACY, 300)
  const asked = performance.now()
  t.match(await call(owner, 'get_result', { id, wait: 500 }), { content: [{ text: /still runs/ }] })
  t.ok(performance.now() - asked > 300, 'it waited for longer than the timeout')
  t.equal(connection.cancelled.size, 0)
  arrived.resolve(DONE)
  t.match(await call(owner, 'get_result', { id }), DONE)
})
