import t from 'tap'
import type { NewTask } from '../../../protocol/tasks/new-task.js'
import { settable } from '../../support/clocks.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { gateway } from '../../support/gateway.js'
import { scrape } from '../../support/metrics.js'
import { until } from '../../support/wait.js'

const TASK: NewTask = { kind: 'task', owner: 'ada', tool: 'dig', scopes: ['mcp'] }

t.test('a caller has so many tasks, and all callers together', async t => {
  const app = await gateway(t, { limits: { maxTasks: 3, maxTasksPerPrincipal: 2 } })
  const tasks = await app.mcp.storedTasks()
  await tasks.create(TASK)
  await tasks.create(TASK)
  await t.rejects(tasks.create(TASK), { code: -32603, message: /maxTasksPerPrincipal allows \(2\)/ })
  await tasks.create({ ...TASK, owner: null })
  await t.rejects(tasks.create({ ...TASK, owner: 'bob' }), { code: -32603, message: /maxTasks allows \(3\)/ })
})

t.test('a task is kept as long as limits say, and for a while after its end', async t => {
  const limits = { taskTtl: 60_000, maxTaskTtl: 120_000, taskRetention: 30_000 }
  const tasks = await (await gateway(t, { limits })).mcp.storedTasks()
  const [usual, long] = [await tasks.create(TASK), await tasks.create({ ...TASK, ttlMs: 1e9 })]
  t.strictSame([usual.ttlMs, long.ttlMs], [60_000, 120_000])
  const clock = settable(t)
  clock.later = 59_000
  t.match(await tasks.complete(usual.id, {}, false), { status: 'completed', ttlMs: Number })
  clock.later = 61_000
  t.match(await tasks.get(usual.id), { status: 'completed' }, 'its result is not lost because the work was long')
  clock.later = 59_000 + 31_000
  t.equal(await tasks.get(usual.id), undefined)
  clock.later = 121_000
  t.match(await tasks.get(long.id), { status: 'failed', error: { data: { code: 'PATCHBAY_TASK_OUT_OF_TIME' } } })
})

t.test('a result that is longer than the limit fails the task', async t => {
  const tasks = await (await gateway(t, { limits: { maxTaskResult: 20 } })).mcp.storedTasks()
  const { id } = await tasks.create(TASK)
  await tasks.complete(id, { content: 'more than twenty characters' }, false)
  t.match(await tasks.get(id), { status: 'failed', error: { message: /at most 20 are kept \(limit maxTaskResult\)/ } })
})

t.test('a result that comes while its task is cancelled is not kept', async t => {
  const { mcp } = await gateway(t, { limits: { maxResultBytes: 100_000 } })
  const tasks = await mcp.storedTasks()
  const { values } = mcp.store
  const { put } = values
  let cancels = true
  t.intercept(values, 'put', {
    value: async (...given: Parameters<typeof put>) => {
      await put.apply(values, given)
      if (cancels && given[0] === 'tasks/results') await tasks.cancel(given[1])
    }
  })
  const end = async (): Promise<string> => {
    const { id } = await tasks.create(TASK)
    await tasks.complete(id, { content: 'x'.repeat(60_000) }, false)
    return id
  }
  const id = await end()
  t.match(await tasks.get(id), { status: 'cancelled' })
  t.equal(await tasks.result(id), undefined)
  cancels = false
  t.match(await tasks.get(await end()), { status: 'completed' }, 'nor counted')
})

t.test('metrics count the tasks that are created, and those that have ended by outcome, each once', async t => {
  const app = await gateway(t, { metrics: true })
  const tasks = await app.mcp.storedTasks()
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await tasks.create(TASK)).id)
  const [good = '', bad = '', failed = '', cancelled = ''] = ids
  await tasks.complete(good, {}, false)
  await tasks.complete(bad, {}, true)
  await tasks.fail(failed, { code: 1, message: 'no' })
  await tasks.cancel(cancelled)
  for (const id of ids.slice(0, 4)) await tasks.cancel(id)
  await tasks.create({ ...TASK, kind: 'call' })
  const series = [...await scrape(app)].filter(([name]) => name.startsWith('patchbay_tasks_'))
  t.strictSame(Object.fromEntries(series), {
    'patchbay_tasks_created_total{kind="task"}': 5,
    'patchbay_tasks_created_total{kind="call"}': 1,
    'patchbay_tasks_ended_total{kind="task",outcome="completed"}': 1,
    'patchbay_tasks_ended_total{kind="task",outcome="error"}': 1,
    'patchbay_tasks_ended_total{kind="task",outcome="failed"}': 1,
    'patchbay_tasks_ended_total{kind="task",outcome="cancelled"}': 1
  })
})

t.test('a start fails the tasks that a gateway left when it ended', async t => {
  const data = await dataFolder(t)
  const first = await gateway(t, { data })
  const { id } = await (await first.mcp.storedTasks()).create(TASK)
  await first.close()
  const second = await gateway(t, { data })
  await until(async () => {
    const task = await second.mcp.store.values.get('tasks', id) as { status: string }
    return task.status === 'failed'
  }, 'the sweep at the start')
})
