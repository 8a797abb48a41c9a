import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, type Options } from '../../app.js'
import { callTool, type Json } from '../support/modern.js'
import { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { openSession } from '../support/http-session.js'

const task = (args: object, progressToken?: string) => ({
  name: 'long_running_task',
  arguments: args,
  ...(progressToken === undefined ? {} : { _meta: { progressToken } })
})

/** The progress notifications of three steps. */
const STEPS = [1, 2, 3].map(step => ({
  method: 'notifications/progress',
  params: { progressToken: 'p', progress: step, total: 3, message: `Step ${step} of 3` }
}))
const DONE = {
  content: [{ type: 'text', text: 'Completed 3 steps' }],
  structuredContent: { steps: 3, seconds: Number }
}

/** A gateway that emits an event when the work of a call has ended, answered or not. */
async function watched (t: Test, options: Partial<Options> = {}) {
  const work = new EventEmitter()
  const { app, url } = await listening(t, options)
  app.mcp.use(async (_call, next) => await next().finally(() => work.emit('stopped')))
  return {
    app,
    url,
    stopped: async () => await within(20_000, async signal => await once(work, 'stopped', { signal }))
  }
}

t.test('it takes five steps of a second by default, and returns how long it took', async t => {
  const { app } = await listening(t)
  const { request } = await createClient(app)
  const { tools } = await request('tools/list') as { tools: Json[] }
  t.match(tools.find(({ name }) => name === 'long_running_task'), {
    description: 'Demo tool that shows progress notifications',
    inputSchema: { properties: { steps: { type: 'integer', default: 5 }, delay: { type: 'number', default: 1 } } }
  })
  t.match(await request('tools/call', task({ delay: 0 })), {
    content: [{ text: 'Completed 5 steps' }],
    structuredContent: { steps: 5 }
  })
  const {
    structuredContent: { seconds }
  } = (await request('tools/call', task({ steps: 1 }))) as { structuredContent: { seconds: number } }
  t.ok(seconds > 0.9 && seconds < 10, `${seconds} s`)
})

t.test('invalid arguments are refused', async t => {
  const { app } = await listening(t)
  const { request } = await createClient(app)
  for (const args of [
    { steps: 0 },
    { steps: 1_001 },
    { steps: 1.5 },
    { delay: -1 },
    { delay: 31 },
    { delay: '1' },
    { seconds: 1 }
  ]) {
    t.match(
      await request('tools/call', task(args)),
      { isError: true, content: [{ text: /^Invalid params: / }] },
      JSON.stringify(args)
    )
  }
})

t.test('every step is notified in the same process', async t => {
  const { app } = await listening(t)
  const { request, notifications } = await createClient(app)
  t.match(await request('tools/call', task({ steps: 3, delay: 0.01 }, 'p')), DONE)
  t.strictSame(notifications, STEPS)
  const early = await createClient(app, { protocolVersion: '2024-11-05' })
  t.strictSame(await early.request('tools/call', task({ steps: 3, delay: 0.01 }, 'p')), { content: DONE.content })
  t.strictSame(early.notifications[2], {
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 3, total: 3 }
  })
})

t.test('progress is sent on the HTTP reply, and only the answer without a progress token', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const stream = await session.stream({ id: 1, method: 'tools/call', params: task({ steps: 3, delay: 0.01 }, 'p') })
  t.match(stream.response.headers.get('content-type'), 'text/event-stream')
  for (const step of STEPS) t.match(await stream.message(), step)
  t.match(await stream.message(), { id: 1, result: DONE })
  t.match((await session.post({ id: 2, method: 'tools/call', params: task({ steps: 3, delay: 0 }) })).body, {
    id: 2,
    result: DONE
  })
  const { before, result } = await callTool(
    app,
    'long_running_task',
    { steps: 3, delay: 0.01 },
    { meta: { progressToken: 'p' } }
  )
  t.match(before, STEPS)
  t.match(result, DONE)
})

t.test('every step is notified over WebSocket, and a cancelled task stops there at once', async t => {
  const { url, stopped } = await watched(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  const received: Json[] = []
  const arrivals = new EventEmitter()
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(String(data)) as Json)
    arrivals.emit('message')
  })
  const until = async (count: number) =>
    await within(60_000, async signal => {
      while (received.length < count) await once(arrivals, 'message', { signal })
    })
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))

  await within(60_000, async signal => await once(socket, 'open', { signal }))
  send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  })
  send({ id: 1, method: 'tools/call', params: task({ steps: 3, delay: 0.01 }, 'p') })
  await until(5)
  t.match(received.slice(1), [...STEPS, { id: 1, result: DONE }])

  send({ id: 2, method: 'tools/call', params: task({ steps: 2, delay: 30 }, 'q') })
  const over = stopped()
  send({ method: 'notifications/cancelled', params: { requestId: 2 } })
  await over
  send({ id: 3, method: 'ping' })
  await until(6)
  t.match(received.slice(5), [{ id: 3, result: {} }], 'nothing is answered')
})

t.test('a cancelled task stops at once, in the middle of a step', async t => {
  const { app, stopped } = await watched(t)
  const { request, notified, notifications } = await createClient(app)
  const controller = new AbortController()
  const answer = request('tools/call', task({ steps: 1_000, delay: 0.05 }, 'p'), controller.signal)
  await notified('notifications/progress')
  const over = stopped()
  controller.abort()
  await t.rejects(answer, { message: 'the request was cancelled' })
  await over
  const received = notifications.length
  t.match(await request('tools/call', task({ steps: 3, delay: 0.05 })), DONE)
  t.equal(notifications.length, received, 'no further step is told')
})

t.test('a task ends with its client, and at the end of the grace', async t => {
  for (const end of ['client', 'gateway']) {
    const { app, stopped } = await watched(t, { grace: 100 })
    const { request, close, notified } = await createClient(app)
    const answer = request('tools/call', task({ steps: 1_000, delay: 0.05 }, 'p')).catch(
      (error: Error) => error.message
    )
    await notified('notifications/progress')
    const over = stopped()
    if (end === 'client') close()
    else await app.close()
    await over
    t.equal(await answer, end === 'client' ? 'the client was closed' : 'The server is shutting down')
  }
})
