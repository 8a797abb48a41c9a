import type { Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import type { NewTask } from '../../../protocol/tasks/new-task.js'
import { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import type { TaskLimits } from '../../../protocol/tasks/task-limits.js'
import { answerTask, askInTask, describeWork, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import { settable } from '../../support/clocks.js'
import { until } from '../../support/wait.js'
import type { Open } from '../contract.js'

const LIMITS: TaskLimits = {
  maxTasks: 5_000,
  maxTasksPerPrincipal: 2_000,
  taskTtl: 3_600_000,
  maxTaskTtl: 86_400_000,
  taskRetention: 60_000,
  maxTaskResult: 1_000,
  maxResultBytes: 1_000_000,
  maxAllResultBytes: 10_000_000
}
const TASK: NewTask = { kind: 'task', owner: 'ada', tool: 'dig', scopes: ['mcp'] }
const RESULT = { content: [{ type: 'text', text: 'done' }] }
const isGood = (_: unknown, answer: unknown): boolean => answer !== 'bad'
const ask = (name: string) => ({ name, method: 'elicitation/create', params: { message: name } })

const on = (store: Store, limits: Partial<TaskLimits> = {}): StoredTasks =>
  new StoredTasks(store, { ...LIMITS, ...limits })

/** Tests tasks on every store. */
export function tasks (t: Test, open: Open): void {
  t.test('a task is there, with its request, when it is created', async t => {
    const box = await open(t)
    const tasks = on(box.store)
    const task = await tasks.create(TASK, { params: { name: 'dig' }, capabilities: {} })
    t.match(task, { ...TASK, id: /^[\w-]{22}$/, status: 'working', ttlMs: 3_600_000, node: tasks.node })
    t.strictSame(await tasks.get(task.id), task)
    t.strictSame(await tasks.request(task.id), { params: { name: 'dig' }, capabilities: {} })
    for (const id of ['', 'x', '__proto__', `${task.id}x`, '\0'.repeat(22)]) t.equal(await tasks.get(id), undefined)
  })

  t.test('a task completes once, and keeps its result', async t => {
    const box = await open(t)
    const tasks = on(box.store)
    const { id } = await tasks.create(TASK, { params: {}, capabilities: {} })
    t.match(await tasks.move(id, describeWork(tasks.node, 'half')), { statusMessage: 'half' })
    t.match(await tasks.complete(id, RESULT, true), { status: 'completed', isError: true, node: undefined })
    t.equal(await tasks.complete(id, { content: [] }, false), undefined)
    t.match(await tasks.cancel(id), { status: 'completed' })
    t.match(await tasks.fail(id, { code: 1, message: 'late' }), { status: 'completed' })
    t.equal(await tasks.move(id, describeWork(tasks.node, 'more')), undefined)
    await box.pause()
    const after = on(box.store)
    t.strictSame(await after.result(id), RESULT)
    t.match(await after.get(id), { status: 'completed' })
    t.equal(await after.request(id), undefined, 'the request is needed no more')
  })

  t.test('a result that is too long fails the task', async t => {
    const tasks = on((await open(t)).store)
    const { id } = await tasks.create(TASK)
    t.match(await tasks.complete(id, { content: 'x'.repeat(1_000) }, false), {
      status: 'failed',
      error: { code: -32603, message: /maxTaskResult/ }
    })
    t.equal(await tasks.result(id), undefined)
  })

  t.test('long results of a caller have so many bytes together, and so have those of all callers', async t => {
    const { store } = await open(t)
    const tasks = on(store, { maxTaskResult: 100_000, maxResultBytes: 100_000, maxAllResultBytes: 150_000 })
    const end = async (owner: string | null, length = 60_000): Promise<TaskRecord | undefined> => {
      const { id } = await tasks.create({ ...TASK, owner })
      return await tasks.complete(id, { content: 'x'.repeat(length) }, false)
    }
    const first = await end('ada')
    t.match(first, { status: 'completed' })
    const refused = await end('ada')
    t.match(refused, { status: 'failed', error: { code: -32603, message: /100000 bytes \(limit maxResultBytes\)/ } })
    t.equal(await tasks.result(refused?.id ?? ''), undefined)
    t.match(await end(null), { status: 'completed' })
    t.match(await end('bob'), { status: 'failed', error: { message: /150000 bytes \(limit maxAllResultBytes\)/ } })
    t.match(await end('bob', 16_000), { status: 'completed' }, 'a short one is not counted')
    const forget = async (): Promise<boolean> => first !== undefined && await tasks.forget(first)
    t.strictSame((await Promise.all([forget(), forget()])).sort(), [false, true])
    t.match(await end('bob'), { status: 'completed' }, 'its bytes are free again')
    t.match(await end('eve'), { status: 'failed' }, 'once')
    settable(t).later = 3_600_000 + 120_000
    await tasks.sweep()
    t.match(await end('eve'), { status: 'completed' }, 'and so are those of expired tasks')
    t.match(await end('bob'), { status: 'completed' })
  })

  t.test('long requests count until their tasks have ended', async t => {
    const { store } = await open(t)
    const tasks = on(store, { maxResultBytes: 100_000 })
    const request = { params: { text: 'x'.repeat(60_000) }, capabilities: {} }
    const create = async (owner: string): Promise<TaskRecord> => await tasks.create({ ...TASK, owner }, request)
    for (const end of [
      async (id: string) => await tasks.complete(id, RESULT, false),
      async (id: string) => await tasks.cancel(id),
      async (id: string) => await tasks.fail(id, { code: 1, message: 'no' })
    ]) {
      const { id } = await create('ada')
      const tooMany = { code: -32603, message: /request of the task is not kept: .* \(limit maxResultBytes\)/ }
      await t.rejects(create('ada'), tooMany)
      await t.rejects(create('ada'), tooMany, 'what was refused does not count')
      await create(`other ${id}`)
      t.equal((await end(id))?.requestBytes, undefined)
    }
    t.equal((await tasks.list('ada', undefined, 10)).tasks.length, 3, 'nothing is left of refused ones')
    await create('ada')
    await t.rejects(create('ada'), /maxResultBytes/, 'each was taken back once')
  })

  t.test('a waiting task outlives its node, and goes on where its last answer comes', async t => {
    const box = await open(t)
    const tasks = on(box.store)
    const { id } = await tasks.create(TASK, { params: {}, capabilities: {} })
    await tasks.move(id, askInTask(tasks.node, [ask('name'), ask('age')]))
    await box.pause()
    const after = on(box.store)
    await after.sweep()
    const waiting = await after.get(id)
    t.match(waiting, { status: 'input_required', node: undefined })
    t.strictSame(waiting?.questions?.map(({ key }) => key), ['name', 'age'])
    t.match(await after.move(id, answerTask(after.node, { name: 'Ada', other: 1 }, isGood)), { status: 'input_required' })
    t.equal(await after.move(id, answerTask(after.node, { name: 'Bob' }, isGood)), undefined, 'answered already')
    const working = await after.move(id, answerTask(after.node, { age: 36 }, isGood))
    t.match(working, { status: 'working', node: after.node, questions: undefined })
    t.strictSame(working?.answers, [['name', 'Ada'], ['age', 36]])
  })

  t.test('keys are never used twice, and a bad answer is asked for again', async t => {
    const tasks = on((await open(t)).store)
    const { id } = await tasks.create(TASK)
    const keys: string[] = []
    const note = (task: TaskRecord | undefined) => { keys.push(...task?.questions?.map(({ key }) => key) ?? []) }
    note(await tasks.move(id, askInTask(tasks.node, [ask('name'), ask('name#2')])))
    note(await tasks.move(id, answerTask(tasks.node, { name: 'bad', 'name#2': 'good' }, isGood)))
    await tasks.move(id, answerTask(tasks.node, { 'name#3': 'good' }, isGood))
    note(await tasks.move(id, askInTask(tasks.node, [ask('name')])))
    t.strictSame(keys, ['name', 'name#2', 'name#3', 'name#4'])
  })

  t.test('a principal has so many tasks, and all together', async t => {
    const { store } = await open(t)
    const tasks = on(store, { maxTasks: 4, maxTasksPerPrincipal: 3 })
    for (let count = 0; count < 3; count++) await tasks.create(TASK)
    await t.rejects(tasks.create(TASK), { message: /maxTasksPerPrincipal/, code: -32603 })
    const { id } = await tasks.create({ ...TASK, owner: null })
    await t.rejects(tasks.create({ ...TASK, owner: 'bob' }), { message: /maxTasks /, code: -32603 })
    t.strictSame((await tasks.list('bob', undefined, 10)).tasks, [], 'nothing is left of the refused one')
    t.equal((await store.values.keys('tasks/due')).length, 4, 'nor is it waited for')
    const found = await tasks.get(id)
    t.ok(found)
    if (found !== undefined) await tasks.forget(found)
    await tasks.create({ ...TASK, owner: 'bob' })
  })

  t.test('a list has the tasks of one principal, oldest first, page by page', async t => {
    const tasks = on((await open(t)).store)
    const clock = settable(t)
    const own: string[] = []
    for (let count = 0; count < 5; count++) {
      clock.later += 5
      own.push((await tasks.create(TASK)).id)
      await tasks.create({ ...TASK, owner: 'bob' })
    }
    const first = await tasks.list('ada', undefined, 3)
    const second = await tasks.list('ada', first.next, 3)
    t.strictSame([...first.tasks, ...second.tasks].map(({ id }) => id), own)
    t.equal(second.next, undefined)
  })
}

/** Tests tasks where the clock goes on and several nodes share them. */
export function racingTasks (t: Test, open: Open): void {
  t.test('a task ends once, however it is completed, cancelled, failed and answered at two nodes', async t => {
    const { one, two } = await pair(t, open)
    const other = one.node
    for (let round = 0; round < 250; round++) {
      const { id } = await one.create({ ...TASK, owner: `owner ${round % 7}` }, { params: {}, capabilities: {} })
      if (round % 2 === 1) await one.move(id, askInTask(other, [ask('a')]))
      const moves = await Promise.all([
        one.complete(id, RESULT, false),
        two.move(id, answerTask(other, { a: 1 }, isGood)),
        two.cancel(id),
        one.fail(id, { code: 1, message: 'no' }),
        two.cancel(id)
      ])
      const end = await two.get(id)
      t.match(end?.status, /^(completed|cancelled|failed)$/)
      await Promise.all([one.complete(id, RESULT, false), one.cancel(id), two.fail(id, { code: 2, message: 'late' })])
      t.strictSame(await one.get(id), end)
      if (end?.status === 'completed') t.strictSame(moves[0]?.status, 'completed')
    }
  })

  t.test('a task whose node has ended has failed, and is never run again', async t => {
    const { one, two, close } = await pair(t, open)
    const [running, waiting] = [await one.create(TASK), await one.create(TASK)]
    await one.move(waiting.id, askInTask(one.node, [ask('a')]))
    t.match(await two.get(running.id), { status: 'working' })
    await close()
    await until(async () => (await two.get(running.id))?.status === 'failed', 'the end of the task')
    t.match(await two.get(running.id), { error: { code: -32603, message: /gateway that ran the task ended/ } })
    await two.sweep()
    t.match(await two.get(waiting.id), { status: 'input_required' })
  })

  t.test('a sweep fails the tasks of ended nodes, and those whose time is up, and removes them later', async t => {
    const { one, two, store, close } = await pair(t, open)
    const [long, short] = [await one.create(TASK), await two.create({ ...TASK, ttlMs: 1_000 })]
    await close()
    await until(async () => {
      await two.sweep()
      return (await store.values.keys('tasks/running', {})).every(key => !key.endsWith(long.id))
    }, 'the sweep of the ended node')
    t.match(await store.values.get('tasks', long.id), { status: 'failed' })
    const clock = settable(t)
    clock.later = 1_500
    await two.sweep()
    t.match(await two.get(short.id), { status: 'failed', error: { message: /time of the task was up/ } })
    clock.later = 3_600_000 + 120_000
    t.equal(await two.get(short.id), undefined)
    t.match(await two.get(long.id), undefined)
    await two.sweep()
    t.strictSame(await store.values.keys('tasks', {}), [])
    t.strictSame(await store.values.keys('tasks/due', {}), [])
  })

  t.test('a change of a task is heard of at the other node', async t => {
    const { one, two } = await pair(t, open)
    const heard = new Set<string | undefined>()
    two.onChange(id => { heard.add(id) })
    const { id } = await one.create(TASK)
    await until(() => heard.has(id), 'the new task')
    heard.clear()
    await one.cancel(id)
    await until(() => heard.has(id), 'its end')
  })
}

async function pair (t: Test, open: Open) {
  const box = await open(t)
  const another = await box.another?.()
  if (another === undefined) throw new Error('no second node')
  return { one: on(another), two: on(box.store), store: box.store, close: async () => await another.close() }
}
