import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { createClient, tool } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { within } from '../../support/wait.js'
import { client } from '../../support/recorder.js'

/** A gateway whose tool `wait` reports why it was aborted. */
async function waiting (t: Test) {
  const calls = new EventEmitter()
  const wait = tool({
    name: 'wait',
    description: 'd',
    run: async (_input, { signal }) => {
      await once(signal, 'abort')
      calls.emit('aborted', signal.reason)
      return 'too late'
    }
  })
  const app = await gateway(t, { http: false, plugins: [async ({ mcp: { tools } }) => { tools.add(wait) }] })
  const aborted = async (): Promise<unknown> =>
    (await within(60_000, async signal => await once(calls, 'aborted', { signal })))[0]
  return { app, aborted }
}

const cancel = (requestId: unknown, reason?: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, ...(reason === undefined ? {} : { reason }) }
})

t.test('a call that is cancelled is aborted with the reason given, and never answered', async t => {
  const { app, aborted } = await waiting(t)
  const { ask, send, channel } = client(app.mcp.dispatcher)
  const id = ask('tools/call', { name: 'wait' })
  const reason = aborted()
  send(cancel(id, 'the user left'))
  t.match(await reason, { message: 'the user left' })
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(channel.sent, [])
})

t.test('to cancel a request that is finished, unknown or of another type has no effect', async t => {
  const { app, aborted } = await waiting(t)
  const { ask, send, request, channel } = client(app.mcp.dispatcher)
  await request('ping')
  const reason = aborted()
  const id = ask('tools/call', { name: 'wait' })
  for (const other of [1, 99, String(id), null, {}, undefined]) send(cancel(other))
  const { request: another } = client(app.mcp.dispatcher)
  await another('ping')
  t.equal(channel.sent.length, 1, 'nothing was said')
  send(cancel(id))
  t.match(await reason, { message: /cancelled/ })
})

t.test('a client cannot cancel the call of another', async t => {
  const { app } = await waiting(t)
  const [ada, bob] = [client(app.mcp.dispatcher), client(app.mcp.dispatcher)]
  const id = ada.ask('tools/call', { name: 'wait' })
  bob.send(cancel(id))
  t.equal(ada.peer.inbound.size, 1)
  ada.send(cancel(id))
  t.equal(ada.peer.inbound.size, 0)
})

t.test('a question of a cancelled call is cancelled', async t => {
  const app = await gateway(t, { http: false })
  const { ask, send, channel, peer } = client(app.mcp.dispatcher)
  peer.capabilities = { elicitation: {} }
  const id = ask('tools/call', { name: 'ask_name' })
  const question = await channel.next()
  t.match(question, { method: 'elicitation/create' })
  send(cancel(id))
  t.match(await channel.next(), { method: 'notifications/cancelled', params: { requestId: question.id } })
})

t.test('an id can be used again once its call was cancelled', async t => {
  const { app } = await waiting(t)
  const { request, notify } = await createClient(app)
  const gone = request('tools/call', { name: 'wait' })
  gone.catch(() => {})
  notify('notifications/cancelled', { requestId: 2 })
  t.match(await request('ping'), {})
})
