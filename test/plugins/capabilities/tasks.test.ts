import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, ToolError, type Options } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { McpError } from '../../../protocol/wire/errors.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { Speaker, type Speaks } from '../../support/speaker.js'
import { takeTime, until } from '../../support/wait.js'

const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const accept = (name: unknown) => ({ action: 'accept', content: { name } })

/** A gateway whose tool `it` runs this as a task. */
async function working (t: Test, run: (call: Call) => unknown, task: 'may' | 'must' = 'must', options: Partial<Options> = {}) {
  const runs = { count: 0 }
  const app = await gateway(t, {
    ...options,
    plugins: [async fastify => {
      fastify.mcp.tools.add(tool({
        name: 'it',
        description: 'd',
        input: { type: 'object' },
        task,
        run: async (_input, call) => {
          runs.count++
          return (await run(call)) as object
        }
      }))
      fastify.mcp.tools.add(tool({ name: 'plain', description: 'd', run: () => 'plain' }))
    }]
  })
  return { app, runs, client: (speaks: Speaks = {}) => clientOf(app, speaks) }
}

const clientOf = (app: FastifyInstance, { capabilities = {}, ...speaks }: Speaks = {}): Speaker =>
  new Speaker(app, { version: '2026-07-28', principal: 'ada', ...speaks, capabilities: { ...EXTENSION, ...capabilities } })

const idOf = ({ result }: { result: Json }): string => String(result.taskId)

/** The task once it is in that state. */
async function inState (client: Speaker, taskId: string, status: string): Promise<Json> {
  let task: Json = {}
  await until(async () => {
    task = (await client.answerTo(client.send('tasks/get', { taskId }))).result
    return task?.status === status
  }, status)
  return task
}

t.test('a tool that must be a task answers with a task at once, and later has its result', async t => {
  let finish = (_: unknown): void => {}
  const { client } = await working(t, async () => await new Promise(resolve => { finish = resolve }))
  const ada = client()
  const created = await ada.tool('it')
  t.match(created.result, {
    resultType: 'task',
    taskId: /^[\w-]{22}$/,
    status: 'working',
    createdAt: /Z$/,
    lastUpdatedAt: /Z$/,
    ttlMs: 3_600_000,
    pollIntervalMs: Number
  })
  t.strictSame(Object.keys(created.result).sort(), ['_meta', 'createdAt', 'lastUpdatedAt', 'pollIntervalMs', 'resultType', 'status', 'taskId', 'ttlMs'])
  const taskId = idOf(created)
  t.match(await inState(ada, taskId, 'working'), { resultType: 'complete', result: undefined })
  await until(() => finish !== undefined, 'the run')
  finish('done')
  t.match(await inState(ada, taskId, 'completed'), {
    result: { content: [{ text: 'done' }], resultType: 'complete', isError: false },
    error: undefined
  })
})

t.test('a tool that must be a task is one by call_tool, too, in both generations of tasks', async t => {
  const views = { found: { search: true, override: { it: { name: 'work' } } } }
  const { client, runs } = await working(t, async call => {
    const { content } = await call.elicit('user', { message: 'Who?', requestedSchema: FORM })
    return `hello ${String(content?.name)}`
  }, 'must', { views })
  const indirectly = { name: 'call_tool', arguments: { name: 'work', arguments: {} } }
  const ada = client({ view: 'found', capabilities: { elicitation: {} } })
  const created = await ada.request('tools/call', indirectly)
  t.match(created.result, { resultType: 'task', taskId: /^[\w-]{22}$/ })
  const taskId = idOf(created)
  const [key = ''] = Object.keys((await inState(ada, taskId, 'input_required')).inputRequests as Json)
  await ada.request('tasks/update', { taskId, inputResponses: { [key]: accept('Ada') } })
  t.match(await inState(ada, taskId, 'completed'), { result: { content: [{ text: 'hello Ada' }] } })
  const older = client({
    version: '2025-11-25',
    view: 'found',
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => accept('Bob') }
  })
  const { result: { task } } = await older.answerTo(older.send('tools/call', { ...indirectly, task: { ttl: 60_000 } }))
  const { taskId: other } = task as { taskId: string }
  t.match((await older.request('tasks/result', { taskId: other })).result, { content: [{ text: 'hello Bob' }] })
  const direct = await older.tool('work')
  t.strictSame((await older.request('tools/call', indirectly)).result, direct.result, 'without a task as a direct call')
  const ran = runs.count
  const forgetful = new Speaker((await working(t, () => 'done', 'must', { views })).app, { version: '2026-07-28', view: 'found' })
  const { id: _, ...refused } = { id: 0, ...await forgetful.tool('work') }
  t.match(await forgetful.request('tools/call', indirectly), { result: refused.result, error: refused.error }, 'a client without tasks')
  t.equal(runs.count, ran)
})

t.test('a tool that may be a task answers at once if it is done, or asks, soon', async t => {
  const { client } = await working(t, async call => {
    const { content } = await call.elicit('user', { message: 'Who?', requestedSchema: FORM })
    await takeTime(400)
    return `hello ${String(content?.name)}`
  }, 'may')
  const ada = client({ capabilities: { elicitation: {} }, answers: { 'elicitation/create': () => accept('Ada') } })
  const created = await ada.tool('it')
  t.match(created.result, { resultType: 'task', inputRequests: undefined, requestState: undefined })
  t.equal(ada.asked.length, 1)
  t.match(await inState(ada, idOf(created), 'completed'), { result: { content: [{ text: 'hello Ada' }] } })
  t.match((await (await working(t, () => 'quick', 'may')).client().tool('it')).result, {
    resultType: 'complete',
    content: [{ text: 'quick' }]
  })
})

t.test('a tool that may be a task is waited for where there may be no more tasks, and can be cancelled', async t => {
  const aborted: boolean[] = []
  let isLong = false
  const { client, app, runs } = await working(t, async ({ signal }) => {
    signal.addEventListener('abort', () => aborted.push(true))
    if (isLong) await new Promise(resolve => signal.addEventListener('abort', resolve))
    await takeTime(400)
    return 'done'
  }, 'may', { limits: { maxTasks: 1 } })
  await (await app.mcp.storedTasks()).create({ kind: 'task', owner: 'bob', tool: 'it', scopes: [] })
  const ada = client()
  t.match((await ada.tool('it')).result, { resultType: 'complete', content: [{ text: 'done' }] })
  t.strictSame(aborted, [])
  isLong = true
  ada.send('tools/call', { name: 'it', arguments: {} })
  await until(() => runs.count === 2, 'the run')
  await takeTime(400)
  ada.close()
  await until(() => aborted.length === 1, 'the end of the run')
})

t.test('a failure of the tool completes the task, an error of ours fails it', async t => {
  const failed = (await working(t, () => { throw new ToolError('no luck') })).client()
  t.match(await inState(failed, idOf(await failed.tool('it')), 'completed'), {
    result: { isError: true, content: [{ text: 'no luck' }] }
  })
  const broken = (await working(t, () => { throw new Error('secret') })).client()
  const task = await inState(broken, idOf(await broken.tool('it')), 'failed')
  t.match(task, { error: { code: -32603, message: /^Internal error/ }, statusMessage: /^Internal error/, result: undefined })
  t.notMatch(JSON.stringify(task), 'secret')
})

t.test('a client that did not declare tasks never gets one', async t => {
  const { client, app } = await working(t, () => 'done', 'may')
  const declared = { data: { requiredCapabilities: EXTENSION }, code: -32021 }
  for (const capabilities of [{}, { extensions: {} }, { tasks: {} }, { extensions: { 'io.modelcontextprotocol/tasks': true } }]) {
    const bob = new Speaker(app, { version: '2026-07-28', principal: 'ada', capabilities })
    t.match((await bob.tool('it')).result, { resultType: 'complete', content: [{ text: 'done' }] })
    for (const method of ['tasks/get', 'tasks/cancel']) {
      t.match((await bob.request(method, { taskId: 'none' })).error, declared)
    }
    t.match((await bob.request('tasks/update', { taskId: 'none', inputResponses: {} })).error, declared)
    t.match((await bob.request('subscriptions/listen', { notifications: { taskIds: [] } })).error, declared)
  }
  const must = (await working(t, () => 'done')).app
  t.match((await new Speaker(must, { version: '2026-07-28' }).tool('it')).error, declared)
  t.match((await new Speaker(must, { version: '2025-06-18' }).tool('it')).error, { code: -32601, message: /as a task only/ })
  t.match((await client().tool('plain')).result, { resultType: 'complete' })
})

t.test('a task of another is unknown, in the same words', async t => {
  const { app, client } = await working(t, async call => { await new Promise((_resolve, reject) => { call.signal.addEventListener('abort', reject) }) })
  const taskId = idOf(await client().tool('it'))
  const unknown = (await client().request('tasks/get', { taskId: 'x'.repeat(22) })).error
  t.match(unknown, { code: -32602 })
  for (const principal of ['bob', undefined]) {
    const other = clientOf(app, principal === undefined ? {} : { principal })
    const foreign = principal === undefined
      ? new Speaker(app, { version: '2026-07-28', capabilities: EXTENSION })
      : other
    for (const [method, more] of [['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: {} }]] as const) {
      t.strictSame((await foreign.request(method, { taskId, ...more })).error, unknown)
    }
    const listening = foreign.send('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    t.match(await foreign.next('notifications/subscriptions/acknowledged'), { notifications: { taskIds: [] } })
    t.ok(listening)
  }
  t.match(await inState(client(), taskId, 'working'), {})
})

t.test('questions of a task wait in it, under keys that are used once, until all are answered', async t => {
  const { client, runs } = await working(t, async call => {
    const paid = await call.once('pay', () => 'paid once')
    const { a, b } = await call.ask({
      a: { method: 'elicitation/create', params: { message: 'A?', requestedSchema: FORM } },
      b: { method: 'elicitation/create', params: { message: 'B?', requestedSchema: FORM } }
    }) as Record<string, { content: { name: string } }>
    const { content } = await call.elicit('last', { message: 'C?', requestedSchema: FORM })
    return `${paid}: ${a?.content.name} ${b?.content.name} ${String(content?.name)}`
  })
  const ada = client({ capabilities: { elicitation: {} } })
  const taskId = idOf(await ada.tool('it'))
  const update = async (inputResponses: Json): Promise<unknown> => {
    const { result: { _meta, ...rest } } = await ada.request('tasks/update', { taskId, inputResponses })
    return rest
  }
  const open = async (): Promise<string[]> =>
    Object.keys((await ada.answerTo(ada.send('tasks/get', { taskId }))).result.inputRequests as Json)
  t.match((await inState(ada, taskId, 'input_required')).inputRequests, { a: { method: 'elicitation/create', params: { message: 'A?' } } })
  t.strictSame(await open(), ['a', 'b'])
  t.strictSame(await update({ unknown: { ignored: true } }), { resultType: 'complete' })
  await update({ a: accept('Ann') })
  t.strictSame(await open(), ['b'])
  await update({ a: accept('late'), b: accept(5) })
  t.strictSame(await open(), ['b#2'], 'a wrong answer is asked for again')
  await update({ 'b#2': { action: 'accept', content: { name: 'Bob', more: true } } })
  await until(async () => (await open().catch((): string[] => [])).includes('last'), 'the second round')
  await update({ a: accept('late'), last: accept('Cy') })
  t.match(await inState(ada, taskId, 'completed'), { result: { content: [{ text: 'paid once: Ann Bob Cy' }] } })
  t.equal(runs.count, 3)
  t.strictSame(await update({ last: accept('late') }), { resultType: 'complete' })
})

t.test('a tool hears in a task that its client cannot be asked', async t => {
  const ada = (await working(t, async call => {
    const can = call.can('sampling/createMessage')
    await call.sample('s', { messages: [], maxTokens: 1 })
    return can
  })).client({ capabilities: { elicitation: {} } })
  t.match(await inState(ada, idOf(await ada.tool('it')), 'failed'), { error: { code: -32021 } })
})

t.test('a cancelled task is cancelled at once, its tool is told, and what it returns is dropped', async t => {
  let aborted = false
  const ada = (await working(t, async call => {
    await new Promise<void>(resolve => { call.signal.addEventListener('abort', () => { aborted = true; resolve() }) })
    return 'late'
  })).client()
  const taskId = idOf(await ada.tool('it'))
  const { result: { _meta, ...rest } } = await ada.request('tasks/cancel', { taskId })
  t.strictSame(rest, { resultType: 'complete' })
  t.match(await inState(ada, taskId, 'cancelled'), { result: undefined })
  await until(() => aborted, 'the abort')
  t.match((await ada.request('tasks/cancel', { taskId })).result, { resultType: 'complete' })
  t.match(await inState(ada, taskId, 'cancelled'), { result: undefined })
})

t.test('a task outlives the client that created it, and a cancellation of the request', async t => {
  const { client } = await working(t, async () => {
    await takeTime(300)
    return 'done'
  })
  const ada = client()
  const id = ada.send('tools/call', { name: 'it', arguments: {} })
  const taskId = idOf(await ada.answerTo(id))
  for (const requestId of [id, taskId]) ada.notify('notifications/cancelled', { requestId })
  ada.peer.channel?.end()
  ada.close()
  t.match(await inState(client(), taskId, 'completed'), { result: { content: [{ text: 'done' }] } })
})

t.test('progress is the status message of a task, and no notification', async t => {
  const ada = (await working(t, async call => {
    call.progress(1, 4, 'digging')
    call.log('error', 'not for the client')
    await new Promise((_resolve, reject) => { call.signal.addEventListener('abort', reject) })
  })).client()
  const taskId = idOf(await ada.tool('it'))
  await until(async () => (await inState(ada, taskId, 'working')).statusMessage === 'digging', 'the message')
  t.strictSame(ada.notifications, [])
})

t.test('a listening client gets the state of its tasks at once, and each change', async t => {
  let finish = (_: unknown): void => {}
  const { client } = await working(t, async () => await new Promise(resolve => { finish = resolve }))
  const ada = client()
  const taskId = idOf(await ada.tool('it'))
  const id = ada.send('subscriptions/listen', { notifications: { taskIds: [taskId, 'unknown'] } })
  t.match(await ada.next('notifications/subscriptions/acknowledged'), { notifications: { taskIds: [taskId] } })
  const subscription = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
  t.match(await ada.next('notifications/tasks'), { ...subscription, taskId, status: 'working' })
  finish('done')
  const { _meta, ...last } = await ada.next('notifications/tasks')
  const { _meta: _, resultType, ...got } = await inState(ada, taskId, 'completed')
  t.strictSame(last, got, 'as tasks/get gives it')
})

t.test('each revision has its own methods of tasks', async t => {
  const { app, client } = await working(t, () => 'done', 'may')
  for (const method of ['tasks/result', 'tasks/list']) {
    t.match((await client().request(method, { taskId: 'x' })).error, { code: -32601 })
  }
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18'] as const) {
    const old = new Speaker(app, { version, principal: 'ada' })
    t.match((await old.request('tools/call', { name: 'it', arguments: {}, task: {} })).result, { content: [{ text: 'done' }] })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'tasks/update']) {
      t.match((await old.request(method, { taskId: 'x' })).error, { code: -32601 }, `${version} ${method}`)
    }
    const { result } = await old.request('tools/list')
    t.notMatch(JSON.stringify(result), 'taskSupport')
  }
  t.notMatch(JSON.stringify((await client().request('tools/list')).result), 'taskSupport')
  const { result: { capabilities } } = await client().request('server/discover')
  t.match(capabilities, { extensions: EXTENSION.extensions, tasks: undefined })
})

t.test('an internal error code that an author throws fails the task', async t => {
  const ada = (await working(t, () => { throw new McpError(-32042, 'open the page', {}) })).client()
  t.match(await inState(ada, idOf(await ada.tool('it')), 'failed'), { error: { code: -32042, message: 'open the page' } })
})
