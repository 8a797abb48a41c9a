import { meta, type Json } from '../../support/specification/message.js'
import { newestLegacy } from '../../support/specification/revisions.js'
import { inTime, until } from '../../support/wait.js'
import { capabilities, unique, type Cell, type Chapter } from '../cell.js'

const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const DECLARED = { _meta: { [meta.capabilities]: { ...capabilities, ...EXTENSION } } }
const DONE = { content: [{ type: 'text', text: 'done slowly' }] }

/** Work that outlives its request, in the two forms that revisions have for it. */
export const tasks: Record<string, Chapter> = {
  'makes a task of long work for a client that knows tasks, and of nothing for others': async (
    t,
    { client, revision }
  ) => {
    if (!revision.modern && revision !== newestLegacy) {
      t.match((await client.call('slowly', {}, { task: {} })).result, DONE)
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result', 'tasks/list', 'tasks/update']) {
        t.match((await client.request(method, { taskId: 'x' })).error, { code: -32601 }, method)
      }
      return
    }
    const created = await client.call('slowly', {}, revision.modern ? DECLARED : { task: { ttl: 60_000 } })
    const task = (revision.modern ? created.result : created.result?.task) as Json
    t.match(task, { taskId: String, status: 'working', [revision.modern ? 'ttlMs' : 'ttl']: Number })
    const named = { taskId: task.taskId, ...(revision.modern ? DECLARED : {}) }
    if (!revision.modern) {
      t.match((await client.request('tasks/result', named)).result, {
        ...DONE,
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } }
      })
    }
    let now: Json = {}
    await until(async () => {
      now = (await client.request('tasks/get', named)).result as Json
      return now.status === 'completed'
    }, 'the end of the task')
    if (revision.modern) t.match(now, { result: { ...DONE, resultType: 'complete' } })
    const cancelled = await client.request('tasks/cancel', named)
    t.match(cancelled, revision.modern ? { result: {} } : { error: { code: -32602 } }, 'it has ended')
    t.match((await client.request('tasks/get', { ...named, taskId: 'x' })).error, { code: -32602 })
  },

  'asks the questions of a task, and goes on with the answers': async (t, cell) => {
    const { client, revision, transport } = cell
    if (!knowsTasks(cell) || !(revision.modern || transport.streams)) return
    const named = await created(cell, 'task_that_asks')
    const said = { content: [{ type: 'text', text: 'Hello, Ada!' }] }
    if (!revision.modern) {
      const asked = client.asked.length
      t.match((await client.request('tasks/result', named)).result, said)
      t.match(client.asked.slice(asked), [{
        method: 'elicitation/create',
        params: { _meta: { 'io.modelcontextprotocol/related-task': { taskId: named.taskId } } }
      }])
      return
    }
    const { inputRequests } = await inState(cell, named, 'input_required')
    const [key = '', ...others] = Object.keys(inputRequests as Json)
    t.strictSame(others, [])
    t.match(inputRequests, { [key]: { method: 'elicitation/create', params: { message: 'What is your name?' } } })
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } }, other: { action: 'accept' } }
    t.match(await client.request('tasks/update', { ...named, inputResponses }), { result: { resultType: 'complete' } })
    t.match((await inState(cell, named, 'completed')).result, said)
  },

  'cancels a task while it runs, and its tool hears of it': async (t, cell) => {
    const { client, revision } = cell
    if (!knowsTasks(cell)) return
    const key = unique('task')
    const named = await created(cell, 'task_that_hangs', { key })
    await client.call('wait_for', { moment: `${key} started` })
    const { result } = await client.request('tasks/cancel', named)
    t.match(result, revision.modern ? { resultType: 'complete' } : { taskId: named.taskId, status: 'cancelled' })
    await client.call('wait_for', { moment: `${key} aborted` })
    const task = await inState(cell, named, 'cancelled')
    t.equal(task.result, undefined, 'what the tool returned after that is dropped')
  },

  'tells a client that listens how its task goes on, and lists tasks for callers that have a name': async (t, cell) => {
    const { client, revision, transport } = cell
    if (!knowsTasks(cell)) return
    if (!revision.modern) {
      t.match((await client.request('tasks/list')).error, { code: -32601 }, 'this caller has none')
      return
    }
    if (!transport.streams) return
    const { taskId } = await created(cell, 'task_that_fails')
    const named = { taskId, ...DECLARED }
    const { _meta, resultType, ...ended } = await inState(cell, named, 'completed')
    const listening = client.start('subscriptions/listen', { ...DECLARED, notifications: { taskIds: [taskId, 'unknown'] } })
    const agreed = await client.notified('notifications/subscriptions/acknowledged')
    t.match(agreed, { notifications: { taskIds: [taskId] }, _meta: { [meta.subscription]: listening.id } })
    const { _meta: own, ...told } = await client.notified('notifications/tasks')
    t.strictSame(told, ended, 'as tasks/get gives it')
    t.strictSame(own, { [meta.subscription]: listening.id })
    listening.cancel()
    if (!transport.cancelsByDropping(revision)) await inTime(client.request('tools/list'), 'an answer after that')
    client.notifications.empty()
  },

  'runs what must be a task as nothing else, and a failure of its tool is its result': async (t, cell) => {
    const { client, revision, transport } = cell
    const { error, status } = await client.call('task_that_fails')
    if (revision.modern) {
      t.match(error, { code: -32021, data: { requiredCapabilities: EXTENSION } })
      if (transport.http) t.equal(status, 400)
    } else {
      t.match(error, { code: -32601 })
    }
    if (!knowsTasks(cell)) return
    const named = await created(cell, 'task_that_fails')
    const failed = { isError: true, content: [{ type: 'text', text: 'no luck' }] }
    if (revision.modern) {
      t.match((await inState(cell, named, 'completed')).result, failed)
    } else {
      t.match((await client.request('tasks/result', named)).result, failed)
      await inState(cell, named, 'failed')
    }
  }
}

const knowsTasks = ({ revision }: Cell): boolean => revision.modern || revision === newestLegacy

/** Makes a task of a tool; returns the params that name it. */
async function created ({ client, revision }: Cell, name: string, args: Json = {}): Promise<Json> {
  const { result } = await client.call(name, args, revision.modern ? DECLARED : { task: {} })
  const { taskId } = (revision.modern ? result : result?.task) as Json
  return { taskId, ...(revision.modern ? DECLARED : {}) }
}

/** The task once it is in that state. */
async function inState ({ client }: Cell, named: Json, status: string): Promise<Json> {
  let task: Json = {}
  await until(async () => {
    task = (await client.request('tasks/get', named)).result as Json
    return task.status === status
  }, `a task that is ${status}`)
  return task
}
