import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Values } from '../../../protocol/store.js'
import { settable, stopTime } from '../../support/clocks.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { Speaker } from '../../support/speaker.js'
import { until } from '../../support/wait.js'

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const ANSWER = { action: 'accept', content: { name: 'Ada' } }

type Run = (call: Call) => unknown

/** A gateway whose tools are a task always, one that may be one, and one that is answered early. */
async function working (t: Test, run: Run) {
  const runs = { count: 0, aborted: 0 }
  const common = {
    description: 'd',
    run: async (_: unknown, call: Call) => {
      runs.count++
      call.signal.addEventListener('abort', () => { runs.aborted++ })
      return await run(call) as object
    }
  }
  const app = await gateway(t, {
    tools: false,
    plugins: [async ({ mcp: { tools } }) => {
      tools.add(tool({ ...common, name: 'must', task: 'must' }))
      tools.add(tool({ ...common, name: 'may', task: 'may' }))
      tools.add(tool({ ...common, name: 'patient', patience: 100 }))
    }]
  })
  const ada = new Speaker(app, { version: '2026-07-28', principal: 'ada', capabilities: CAPABILITIES })
  return { app, ada, runs }
}

/** Makes writes to the store fail as long as the test says. */
function faults (t: Test, { mcp: { store: { values } } }: FastifyInstance): { fails: boolean } {
  const state = { fails: false }
  for (const name of ['put', 'swap'] as const) {
    const real = values[name].bind(values) as (...given: unknown[]) => Promise<unknown>
    t.intercept(values, name, {
      value: async (...given: unknown[]) => {
        if (state.fails) throw new Error('the disk is full')
        return await real(...given)
      }
    })
  }
  return state
}

const statusOf = async (app: FastifyInstance, id: string): Promise<string | undefined> =>
  (await (await app.mcp.storedTasks()).get(id))?.status

const idsOf = async ({ mcp: { store } }: FastifyInstance): Promise<string[]> =>
  (await Promise.all(['tasks', 'tasks/requests', 'tasks/due', 'tasks/running'].map(async space =>
    await store.values.keys(space)))).flat()

for (const [name, what] of [['must', 'the end of a task'], ['patient', 'the result of a call that was answered early']] as const) {
  t.test(`${what} is stored though the store fails for a minute`, async t => {
    let finish = (_: unknown): void => {}
    const { app, ada } = await working(t, async () => await new Promise(resolve => { finish = resolve }))
    const { result } = await ada.tool(name)
    const [id = ''] = await app.mcp.store.values.keys('tasks')
    t.match(JSON.stringify(result), id)
    const store = faults(t, app)
    const clock = stopTime(t)
    store.fails = true
    finish('done')
    await clock.pass(60_000, 250)
    t.equal(await statusOf(app, id), 'working')
    store.fails = false
    await clock.pass(6_000, 250)
    t.equal(await statusOf(app, id), 'completed')
  })
}

t.test('a gateway whose store fails closes, and tries no longer', async t => {
  let finish = (_: unknown): void => {}
  const { app, ada } = await working(t, async () => await new Promise(resolve => { finish = resolve }))
  await ada.tool('must')
  await ada.tool('patient')
  faults(t, app).fails = true
  finish('done')
  await app.close()
})

for (const name of ['must', 'may']) {
  t.test(`a call of a tool that ${name} be a task, cancelled while its task is stored, leaves none and does not run on`, async t => {
    let hang = true
    const { app, ada, runs } = await working(t, async ({ signal }) => {
      if (hang) await new Promise(resolve => signal.addEventListener('abort', resolve))
      return 'done'
    })
    await app.mcp.storedTasks()
    const { values } = app.mcp.store
    const put = values.put.bind(values)
    let store = (): void => {}
    t.intercept(values, 'put', {
      value: async (...given: Parameters<Values['put']>) => {
        if (given[0] === 'tasks') await new Promise<void>(resolve => { store = resolve })
        await put(...given)
      }
    })
    const id = ada.send('tools/call', { name, arguments: {} })
    await until(async () => (await values.keys('tasks/due')).length === 1, 'the create')
    ada.peer.inbound.get(id)?.cancel(new Error('by the test'))
    await new Promise(resolve => { setImmediate(resolve) })
    store()
    await until(async () => (await idsOf(app)).length === 0, 'nothing is left')
    t.equal(runs.count, name === 'must' ? 0 : 1)
    t.equal(runs.aborted, runs.count)
    hang = false
    t.intercept(values, 'put', { value: put })
    t.match((await ada.tool('must')).result, { resultType: 'task' })
  })
}

async function asking (t: Test) {
  const { app, ada, runs } = await working(t, async call =>
    (await call.elicit('who', { message: 'Who?', requestedSchema: FORM })).content?.name)
  const { taskId } = (await ada.tool('must')).result as { taskId: string }
  await until(async () => await statusOf(app, taskId) === 'input_required', 'the question')
  const answer = async (): Promise<Json> =>
    await ada.request('tasks/update', { taskId, inputResponses: { who: ANSWER } }) as unknown as Json
  return { app, taskId, runs, answer, values: app.mcp.store.values, tasks: await app.mcp.storedTasks() }
}

t.test('a task whose last answer was stored though the store said no fails with the next sweep, and does not run', async t => {
  const { app, taskId, runs, answer, values, tasks } = await asking(t)
  const swap = values.swap.bind(values)
  t.intercept(values, 'swap', {
    value: async (...given: Parameters<Values['swap']>) => {
      await swap(...given)
      throw new Error('the connection was lost')
    }
  })
  t.match(await answer(), { error: { code: -32603 } })
  t.equal(await statusOf(app, taskId), 'working')
  t.intercept(values, 'swap', { value: swap })
  await tasks.sweep()
  t.match(await tasks.get(taskId), { status: 'failed', error: { message: /not run again/ } })
  t.equal(runs.count, 1)
})

t.test('an answer that could not be stored can be given again', async t => {
  const { app, taskId, runs, answer, tasks } = await asking(t)
  const store = faults(t, app)
  store.fails = true
  t.match(await answer(), { error: { code: -32603 } })
  store.fails = false
  t.match(await answer(), { result: {} })
  await tasks.sweep()
  await until(async () => await statusOf(app, taskId) === 'completed', 'the end')
  t.equal(runs.count, 2)
})

t.test('a task goes on though its request cannot be read at once', async t => {
  const { app, taskId, answer, values } = await asking(t)
  const get = values.get.bind(values)
  let failures = 3
  t.intercept(values, 'get', {
    value: async (space: string, key: string) => {
      if (space === 'tasks/requests' && failures-- > 0) throw new Error('the disk is away')
      return await get(space, key)
    }
  })
  t.match(await answer(), { result: {} })
  await until(async () => await statusOf(app, taskId) === 'completed', 'the end')
})

t.test('the run of a task whose time is up is aborted', async t => {
  const { ada, runs } = await working(t, async ({ signal }) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    return 'late'
  })
  const { taskId } = (await ada.tool('must')).result as { taskId: string }
  settable(t).later = 3_600_000
  await until(() => runs.aborted === 1, 'the abort')
  t.match((await ada.answerTo(ada.send('tasks/get', { taskId }))).result, {
    status: 'failed', error: { data: { code: 'PATCHBAY_TASK_OUT_OF_TIME' } }
  })
})
