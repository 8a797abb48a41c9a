import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { createClient } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { callTool, type Json } from '../support/modern.js'

const ANSWER = { user_name: { action: 'accept', content: { name: 'Ada' } } }
const REFUSED = { error: { code: -32602, message: /requestState/ } }

/** The state of a first round of `ask_name`, which asks for a name. */
async function started (t: Test, secret?: string): Promise<{ app: FastifyInstance, state: string }> {
  const app = await gateway(t, secret === undefined ? {} : { secret })
  const { result } = await callTool(app, 'ask_name')
  t.equal(result.resultType, 'input_required')
  return { app, state: result.requestState as string }
}

t.test('a state that was changed is refused', async t => {
  const { app, state } = await started(t)
  const middle = state.length >> 1
  const flipped = `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`
  for (const requestState of [flipped, `${state}A`, state.slice(1), `${state}=`, '', 'x', 7, null, {}]) {
    t.match(
      await callTool(app, 'ask_name', {}, { requestState, inputResponses: ANSWER }),
      REFUSED,
      JSON.stringify(requestState)
    )
  }
})

t.test('a state is refused when it is too old', async t => {
  const { app, state } = await started(t)
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now + 11 * 60_000 })
  t.match(await callTool(app, 'ask_name', {}, { requestState: state, inputResponses: ANSWER }), {
    error: { code: -32602, message: /expired/ }
  })
})

t.test('a state of another tool, of other arguments or of another server is refused', async t => {
  const { app, state } = await started(t)
  t.match(await callTool(app, 'ask_model', {}, { requestState: state, inputResponses: ANSWER }), REFUSED)
  t.match(await callTool(app, 'ask_name', { other: 1 }, { requestState: state, inputResponses: ANSWER }), REFUSED)
  const other = await started(t)
  t.match(await callTool(other.app, 'ask_name', {}, { requestState: state, inputResponses: ANSWER }), REFUSED)
})

t.test('a state is understood by every instance that shares the secret', async t => {
  const secret = 'shared between instances'
  const { state } = await started(t, secret)
  const { app } = await started(t, secret)
  t.match(await callTool(app, 'ask_name', {}, { requestState: state, inputResponses: ANSWER }), {
    result: { content: [{ text: 'Hello, Ada!' }] }
  })
})

t.test('a refused state is refused before the tool runs', async t => {
  const { app } = await started(t)
  t.match(await callTool(app, 'boom', {}, { requestState: 'x' }), REFUSED)
})

t.test('a legacy client has no request state: what it sends under that name is ignored', async t => {
  const { app } = await started(t)
  const { request } = await createClient(app)
  t.match(
    await request('tools/call', { name: 'echo', arguments: { text: 'hi' }, requestState: 'x', inputResponses: 7 }),
    { structuredContent: { text: 'hi' } }
  )
})

const NEEDS: Array<[tool: string, method: string, required: Json]> = [
  ['ask_name', 'elicitation/create', { elicitation: { form: {} } }],
  ['ask_model', 'sampling/createMessage', { sampling: {} }],
  ['ask_roots', 'roots/list', { roots: {} }]
]

for (const [name, method, requiredCapabilities] of NEEDS) {
  t.test(`${name}: the error for a client without the capability names it`, async t => {
    const app = await gateway(t)
    t.match(await callTool(app, name, {}, { capabilities: {} }), {
      status: 400,
      error: { code: -32021, data: { requiredCapabilities } }
    })
    const { request } = await createClient(app, { protocolVersion: '2025-06-18' })
    await t.rejects(request('tools/call', { name }), { code: -32603, message: new RegExp(method) })
  })
}

t.test('a client of 2025-11-25 that cannot be asked gets an error with the reason', async t => {
  const { request } = await createClient(await gateway(t))
  const answer = await request('tools/call', { name: 'ask_name' }).catch((error: Error) => error)
  t.match(
    answer instanceof Error ? answer.message : JSON.stringify(answer),
    /elicitation\/create: it did not declare the capability/
  )
})

t.test('the reason why a client cannot be asked is the one that holds', async t => {
  const app = await gateway(t)
  const { request } = await createClient(app, { protocolVersion: '2025-03-26', capabilities: { elicitation: {} } })
  await t.rejects(request('tools/call', { name: 'ask_name' }), {
    message: /its protocol revision 2025-03-26 has no such question/
  })
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask_model' } }
  t.match((await app.inject({ method: 'POST', url: '/message', payload })).json(), {
    error: { message: /no stream on which it could be asked/ }
  })
})
