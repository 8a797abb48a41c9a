import { getEventListeners } from 'node:events'
import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { build, createClient, tool } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { untilAborted, within } from '../support/wait.js'

t.test('a client in the same process needs no port, and shakes hands by itself', async t => {
  const app = await build({ name: 'mine', instructions: 'be kind', http: false })
  t.teardown(async () => await app.close())
  const { server, request } = await createClient(app)
  t.match(server, {
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'mine' },
    instructions: 'be kind',
    capabilities: { tools: {} }
  })
  t.match(await request('tools/call', { name: 'calculate', arguments: { operation: 'add', a: 5, b: 3 } }), {
    content: [{ text: '5 + 3 = 8' }],
    structuredContent: { result: 8 }
  })
})

t.test('it speaks the revision that is set', async t => {
  const app = await gateway(t)
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const { server, request } = await createClient(app, { protocolVersion })
    t.equal(server.protocolVersion, protocolVersion)
    t.equal(
      'structuredContent' in (await request('tools/call', { name: 'echo', arguments: { text: 'x' } })),
      protocolVersion >= '2025-06-18'
    )
  }
})

t.test('an error of the server is an McpError of the client', async t => {
  const { request } = await createClient(await gateway(t))
  await t.rejects(request('unheard/of'), { name: 'McpError', code: -32601, message: 'Method not found: unheard/of' })
})

t.test('requests run side by side, and each gets its own answer', async t => {
  const { request } = await createClient(await gateway(t))
  const order: string[] = []
  const slow = request('tools/call', { name: 'slow', arguments: { steps: 1, delay: 30 } }).then(() => {
    order.push('slow')
  })
  const fast = request('ping').then(() => { order.push('fast') })
  await Promise.all([slow, fast])
  t.strictSame(order, ['fast', 'slow'])
})

t.test('it gets notifications while a call is in flight', async t => {
  const client = await createClient(await gateway(t))
  await client.request('tools/call', { name: 'slow', arguments: { steps: 2, delay: 1 }, _meta: { progressToken: 'p' } })
  t.match(await within(60_000, async () => await client.notified('notifications/progress')), {
    progressToken: 'p',
    progress: 1,
    total: 2
  })
  t.match(await within(60_000, async () => await client.notified('notifications/progress')), { progress: 2 })
})

t.test('it answers what the server asks', async t => {
  const { request } = await createClient(await gateway(t), {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    answers: {
      'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada' } }),
      'sampling/createMessage': async () => ({
        role: 'assistant',
        model: 'm',
        content: { type: 'text', text: 'Paris' }
      }),
      'roots/list': () => ({ roots: [{ uri: 'file:///a' }] })
    }
  })
  t.match(await request('tools/call', { name: 'ask_name' }), { content: [{ text: 'Hello, Ada!' }] })
  t.match(await request('tools/call', { name: 'ask_model' }), { content: [{ text: 'Paris' }] })
  t.match(await request('tools/call', { name: 'ask_roots' }), { content: [{ text: 'file:///a' }] })
})

t.test('an answer that fails is an error to the server, not an unhandled rejection', async t => {
  const { request } = await createClient(await gateway(t), {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => { throw new Error('no user') } }
  })
  await within(60_000, async signal => {
    await t.rejects(Promise.race([request('tools/call', { name: 'ask_name' }), expired(signal)]), { name: 'McpError' })
  })
})

t.test('a request that is given up is cancelled on the server', async t => {
  const app = await gateway(t)
  let reason: unknown
  app.mcp.tools.add(
    tool({
      name: 'wait',
      description: 'd',
      run: async (_input, { signal }) =>
        await untilAborted(signal).catch(() => {
          reason = signal.reason
        })
    })
  )
  const { request } = await createClient(app)
  const controller = new AbortController()
  const answer = request('tools/call', { name: 'wait' }, controller.signal)
  await request('ping')
  controller.abort(new Error('enough'))
  await t.rejects(answer, { cause: { message: 'enough' } })
  await turn()
  t.match(reason, { message: /cancelled/ })
})

t.test('a request that is given up before it is sent is not sent', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(tool({ name: 'never', description: 'd', run: () => t.fail('it ran') }))
  const { request } = await createClient(app)
  await within(60_000, async signal => {
    await t.rejects(
      Promise.race([
        request('tools/call', { name: 'never' }, AbortSignal.abort(new Error('no'))),
        expired(signal, 'answered')
      ])
    )
  })
})

t.test('closing the client settles what it still waits for', async t => {
  const { request, close } = await createClient(await gateway(t))
  const answer = request('tools/call', { name: 'slow', arguments: { steps: 1, delay: 60_000 } })
  close()
  await within(60_000, async signal => await t.rejects(Promise.race([answer, expired(signal, 'forgotten')]), /closed/))
})

t.test('closing the client settles those that wait for a notification, now and later', async t => {
  const { notified, close } = await createClient(await gateway(t))
  const waiting = Array.from({ length: 12 }, async () => await notified('notifications/late'))
  close()
  await within(60_000, async signal => {
    const forgotten = expired(signal, 'forgotten')
    for (const one of [...waiting, notified('notifications/late')]) {
      await t.rejects(Promise.race([one, forgotten]), /closed/)
    }
  })
})

t.test('a client that was closed sends nothing more', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(tool({ name: 'never', description: 'd', run: () => t.fail('it ran') }))
  const { request, close } = await createClient(app)
  close()
  await within(
    60_000,
    async signal =>
      await t.rejects(Promise.race([request('tools/call', { name: 'never' }), expired(signal, 'forgotten')]), /closed/)
  )
})

t.test('requests that share a signal leave nothing on it', async t => {
  const { request, close } = await createClient(await gateway(t))
  const { signal } = new AbortController()
  for (let count = 0; count < 20; count++) await request('ping', {}, signal)
  await t.rejects(request('unheard/of', {}, signal))
  t.equal(getEventListeners(signal, 'abort').length, 0)
  const answer = request('tools/call', { name: 'slow', arguments: { steps: 1, delay: 60_000 } }, signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  close()
  await t.rejects(answer, /closed/)
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test('closing the app answers what is in flight first', async t => {
  const app = await gateway(t)
  const { request } = await createClient(app)
  const answer = request('tools/call', { name: 'slow', arguments: { steps: 1, delay: 50 } })
  await app.close()
  t.match(await answer, { content: [{ text: '1 steps' }] })
})

t.test('what is not JSON does not arrive', async t => {
  const { request } = await createClient(await gateway(t))
  t.match(await request('tools/call', { name: 'echo', arguments: { text: 'x', extra: undefined } }), {
    structuredContent: { text: 'x' }
  })
})

async function expired (signal: AbortSignal, value = 'expired'): Promise<string> {
  return await new Promise(resolve => { signal.addEventListener('abort', () => resolve(value), { once: true }) })
}
