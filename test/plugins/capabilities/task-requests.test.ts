import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { tool, type Options } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { settable } from '../../support/clocks.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { gateway } from '../../support/gateway.js'
import { ADA, apiKeys, bearer } from '../../support/keys.js'
import { modernMeta } from '../../support/modern.js'
import type { Json } from '../../support/recorder.js'
import { Speaker, type Speaks } from '../../support/speaker.js'
import { recordSpans } from '../../support/tracing.js'
import { inTime, until } from '../../support/wait.js'

const EXTENSION = { 'io.modelcontextprotocol/tasks': {} }
const CAPABILITIES = { extensions: EXTENSION, elicitation: {} }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const ANSWER = { action: 'accept', content: { name: 'Ada' } }
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

/** Tools that are tasks: one asks, one ends when the test says so, or when it is aborted. */
class Works {
  readonly calls: Call[] = []
  finish = (_: unknown): void => {}

  plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    tools.add(tool({
      name: 'ask',
      description: 'd',
      task: 'must',
      run: async (_, call) => {
        this.calls.push(call)
        return String((await call.elicit('who', { message: 'Who?', requestedSchema: FORM })).content?.name)
      }
    }))
    tools.add(tool({
      name: 'hang',
      description: 'd',
      task: 'must',
      run: async (_, call) => {
        this.calls.push(call)
        return await new Promise<string>((resolve, reject) => {
          this.finish = resolve as (value: unknown) => void
          call.signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
      }
    }))
  }
}

async function withWorks (t: Test, options: Partial<Options> = {}, server = {}) {
  const works = new Works()
  const app = await gateway(t, { tools: false, ...options, plugins: [works.plugin] }, server)
  return { app, works, tasks: await app.mcp.storedTasks() }
}

interface Reply { status: number, body: Json & { result?: Json, error?: Json } }

/** One request over HTTP, as a client of 2026-07-28; headers of `more` replace those that it needs. */
async function post (
  app: FastifyInstance,
  method: string,
  params: Json,
  more: Json = {},
  capabilities: Json = CAPABILITIES
): Promise<Reply> {
  const { meta, ...headers } = more
  const all = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': String(params.taskId ?? params.name), ...headers }
  const sent = Object.entries(all).filter(([, value]) => value !== undefined)
  const reply = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: Object.fromEntries(sent) as Record<string, string>,
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...modernMeta(capabilities), ...meta as Json } }
    }
  })
  return { status: reply.statusCode, body: JSON.parse(reply.body) as Reply['body'] }
}

const start = async (app: FastifyInstance, name: string, more: Json = {}): Promise<string> =>
  String((await post(app, 'tools/call', { name, arguments: {} }, more)).body.result?.taskId)

const speaker = (app: FastifyInstance, speaks: Speaks = {}): Speaker =>
  new Speaker(app, { version: '2026-07-28', principal: 'ada', capabilities: CAPABILITIES, ...speaks })

t.test('a client that did not declare tasks gets 400 for each request about them', async t => {
  const { app } = await withWorks(t)
  for (const [method, params] of [
    ['tasks/get', { taskId: 'x' }],
    ['tasks/cancel', { taskId: 'x' }],
    ['tasks/update', { taskId: 'x', inputResponses: {} }],
    ['subscriptions/listen', { notifications: { taskIds: ['x'] } }]
  ] as const) {
    const headers = method === 'subscriptions/listen' ? { 'mcp-name': undefined } : {}
    t.match(await post(app, method, params, headers, {}), {
      status: 400,
      body: { error: { code: -32021, data: { requiredCapabilities: { extensions: EXTENSION } } } }
    }, method)
  }
})

t.test('a request about a task names it in its header, plainly or encoded', async t => {
  const { app, tasks } = await withWorks(t)
  const id = await start(app, 'ask')
  await until(async () => (await tasks.get(id))?.status === 'input_required', 'the question')
  const encoded = `=?base64?${Buffer.from(id).toString('base64')}?=`
  for (const [method, more] of [['tasks/get', {}], ['tasks/update', { inputResponses: { who: ANSWER } }], ['tasks/cancel', {}]] as const) {
    for (const name of [undefined, 'another', `=?base64?${Buffer.from('another').toString('base64')}?=`]) {
      t.match(await post(app, method, { taskId: id, ...more }, { 'mcp-name': name }), { status: 400, body: { error: { code: -32020 } } })
    }
    t.equal((await tasks.get(id))?.status, method === 'tasks/cancel' ? 'completed' : 'input_required')
    t.match(await post(app, method, { taskId: id, ...more }, { 'mcp-name': encoded }), { status: 200, body: { error: undefined } })
    if (method === 'tasks/update') await until(async () => (await tasks.get(id))?.status === 'completed', 'the end')
  }
})

t.test('the task of a caller without a name is found by its id without a name only, and the other way round', async t => {
  const { app, works } = await withWorks(t)
  const unnamed = speaker(app, { principal: undefined } as unknown as Speaks)
  const ada = speaker(app)
  for (const [owner, other] of [[unnamed, ada], [ada, unnamed]] as const) {
    const { taskId } = (await owner.tool('hang')).result
    const unknown = (await other.request('tasks/get', { taskId: 'x'.repeat(22) })).error
    for (const [method, more] of [['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: {} }]] as const) {
      t.strictSame((await other.request(method, { taskId, ...more })).error, unknown, method)
    }
    other.send('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    t.match(await other.next('notifications/subscriptions/acknowledged'), { notifications: { taskIds: [] } })
    t.match((await owner.request('tasks/get', { taskId })).result, { status: 'working' })
    works.finish('done')
  }
})

t.test('a task goes on when the session is deleted that created it, and when its request is cancelled late', async t => {
  const { app, works } = await withWorks(t, { apiKeys })
  const headers = { ...bearer(ADA), accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
  const send = async (session: string | undefined, payload: Json) => await app.inject({
    method: 'POST', url: '/mcp', headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) }, payload: { jsonrpc: '2.0', ...payload }
  })
  const open = async (): Promise<string> => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const id = String((await send(undefined, { id: 0, method: 'initialize', params })).headers['mcp-session-id'])
    await send(id, { method: 'notifications/initialized' })
    return id
  }
  const first = await open()
  const call = { id: 7, method: 'tools/call', params: { name: 'hang', arguments: {}, task: {} } }
  const { result } = (await send(first, call)).json<{ result: { task: { taskId: string } } }>()
  const { taskId } = result.task
  await send(first, { method: 'notifications/cancelled', params: { requestId: 7 } })
  t.equal((await app.inject({ method: 'DELETE', url: '/mcp', headers: { ...headers, 'mcp-session-id': first } })).statusCode < 300, true)
  const second = await open()
  const get = async (): Promise<Json> => (await send(second, { id: 8, method: 'tasks/get', params: { taskId } })).json<Json>()
  t.match(await get(), { result: { status: 'working' } })
  t.equal(works.calls[0]?.signal.aborted, false)
  works.finish('done')
  await until(async () => (await app.mcp.storedTasks().then(async tasks => await tasks.get(taskId)))?.status === 'completed', 'the end')
  t.match(await get(), { result: { status: 'completed' } })
})

t.test('a client that is gone while it is asked for a task is asked again over its next connection', async t => {
  const { app, tasks } = await withWorks(t)
  const client = (): Speaker => new Speaker(app, { principal: 'ada', capabilities: { elicitation: {} } })
  const [first, second] = [client(), client()]
  const { taskId } = (await first.request('tools/call', { name: 'ask', arguments: {}, task: {} })).result.task as Json
  first.send('tasks/result', { taskId })
  await first.until(() => first.asked.length === 1)
  first.close()
  t.match(await tasks.get(String(taskId)), { status: 'input_required' })
  second.send('tasks/result', { taskId })
  await second.until(() => second.asked.length === 1)
  const third = new Speaker(app, {
    principal: 'ada', capabilities: { elicitation: {} }, answers: { 'elicitation/create': () => ANSWER }
  })
  t.match((await third.request('tasks/result', { taskId })).result, { content: [{ text: 'Ada' }] })
})

t.test('the time of the last change of a task never goes back, though the clock does', async t => {
  const { app, works } = await withWorks(t)
  const ada = speaker(app)
  const { taskId, lastUpdatedAt } = (await ada.tool('hang')).result
  settable(t).later = -3_600_000
  works.finish('done')
  let task: Json = {}
  await until(async () => {
    task = (await ada.request('tasks/get', { taskId })).result
    return task.status === 'completed'
  }, 'the end')
  t.ok(String(task.lastUpdatedAt) >= String(lastUpdatedAt))
  t.ok(Number.isInteger(task.ttlMs))
})

t.test('the audit log has a line for the call that creates a task and one for each round', async t => {
  const lines: Json[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      const { audit } = JSON.parse(String(chunk)) as { audit?: Json }
      if (audit?.tool === 'ask') lines.push(audit)
      done()
    }
  })
  const { app, tasks } = await withWorks(t, {}, { loggerInstance: pino({}, out) })
  const ada = speaker(app)
  const { taskId } = (await ada.tool('ask')).result as { taskId: string }
  await until(async () => (await tasks.get(taskId))?.status === 'input_required', 'the question')
  await ada.request('tasks/update', { taskId, inputResponses: { who: ANSWER } })
  await until(() => lines.length === 3, 'three lines')
  t.match(lines[0], { principal: 'ada', method: 'tools/call', task: taskId, isTaskRun: undefined, outcome: 'ok', ms: Number })
  for (const line of lines.slice(1)) {
    t.match(line, { principal: 'ada', method: 'tools/call', task: taskId, isTaskRun: true, outcome: 'ok', ms: Number })
  }
})

t.test('the rounds of a task are in the trace of the call that created it', async t => {
  const spans = recordSpans(t)
  const { app, tasks } = await withWorks(t)
  const rounds = async (meta: Json): Promise<Array<string | undefined>> => {
    spans.splice(0)
    const id = await start(app, 'ask', { meta })
    await until(async () => (await tasks.get(id))?.status === 'input_required', 'the question')
    await post(app, 'tasks/update', { taskId: id, inputResponses: { who: ANSWER } })
    await until(async () => (await tasks.get(id))?.status === 'completed', 'the end')
    return spans.filter(({ name }) => name === 'tools/call ask').map(({ traceId }) => traceId)
  }
  t.strictSame(await rounds({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }), [TRACE, TRACE, TRACE])
  const own = await rounds({})
  t.equal(own.length, 3)
  t.notOk(own.includes(TRACE))
})

t.test('a hundred tasks have no timers of their own', async t => {
  const { app } = await withWorks(t)
  const ada = speaker(app)
  const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  for (const name of ['ask', 'hang']) await ada.tool(name)
  const before = timers()
  for (let count = 0; count < 50; count++) for (const name of ['ask', 'hang']) await ada.tool(name)
  t.ok(timers() <= before + 5, `${before} timers became ${timers()}`)
})

t.test('at shutdown a task that ends within the grace period is completed, and no new one begins', async t => {
  const data = await dataFolder(t)
  const { app, works } = await withWorks(t, { data, grace: 30_000 })
  const ada = speaker(app)
  const { taskId } = (await ada.tool('hang')).result as { taskId: string }
  const closing = app.close()
  await until(() => app.mcp.dispatcher.lifecycle.isDraining, 'the drain')
  const refused = await ada.tool('hang').catch((error: Error) => ({ error }))
  t.ok(refused.error)
  t.equal(works.calls.length, 1)
  works.finish('in time')
  await inTime(closing, 'the end')
  const next = await gateway(t, { data })
  const stored = await next.mcp.storedTasks()
  t.match(await stored.get(taskId), { status: 'completed' })
  t.match(await stored.result(taskId), { content: [{ text: 'in time' }] })
})
