import type { Call } from '../../../protocol/dispatch/call.js'
import { relayed } from '../../../protocol/revisions/relayed.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { isFinal, type TaskQuestion, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import { errors, fromWire, isMcpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { taskErrors } from '../../../protocol/wire/task-errors.js'
import type { ServedTasks } from './served-tasks.js'

/** The key of `_meta` that names the task of a message. */
const RELATED = 'io.modelcontextprotocol/related-task'

/**
 * Waits until a task has ended, and gives its result or throws its error. Meanwhile the questions of the task are asked
 * on the stream of the call.
 */
export async function awaitResult (served: ServedTasks, id: string, call: Call): Promise<object> {
  const { signal } = call
  let wake = (): void => {}
  const stops = [
    served.tasks.onChange(changed => { if (changed === undefined || changed === id) wake() }),
    call.peer.onDrain(() => call.response.giveUp(errors.closing()))
  ]
  const onAbort = (): void => wake()
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      const changed = new Promise<void>(resolve => { wake = resolve })
      signal.throwIfAborted()
      const task = await served.find(id, call)
      if (isFinal(task)) return await outcomeOf(task, served, call)
      if (task.status === 'input_required') await askOpen(task, served, call)
      else await untilChange(changed)
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    for (const stop of stops) stop()
  }
}

/** How often a task is looked at that nothing was heard of, in milliseconds: its node may have ended. */
const LOOK_EVERY = 5_000

async function untilChange (changed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => { timer = setTimeout(resolve, LOOK_EVERY).unref() })
  await Promise.race([changed, late])
  clearTimeout(timer)
}

async function outcomeOf (task: TaskRecord, { tasks }: ServedTasks, call: Call): Promise<object> {
  const related = { [RELATED]: { taskId: task.id } }
  if (task.status === 'failed') throw fromWire(task.error ?? errors.interrupted())
  if (task.status === 'cancelled') throw taskErrors.ended('cancelled')
  const result = relayed.callResult(await tasks.result(task.id) ?? { content: [] }, call.revision)
  return { ...result, _meta: { ...isObject(result._meta) ? result._meta : {}, ...related } }
}

/** Asks what is open, until all of it is answered or the task has changed otherwise. */
async function askOpen (task: TaskRecord, served: ServedTasks, call: Call): Promise<void> {
  const { questions = [] } = task
  const controller = new AbortController()
  const asked = questions.map(async question => await ask(question, task, served, call, controller.signal))
  try {
    await Promise.race([Promise.all(asked), untilAnswered(task.id, served.tasks, controller.signal)])
  } finally {
    controller.abort(new Error('the question is not open any more'))
    await Promise.allSettled(asked)
  }
}

/** Settles when the task does not wait for answers any more, or the signal aborts. */
async function untilAnswered (id: string, tasks: StoredTasks, signal: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => {
    const look = async (): Promise<void> => {
      const task = await tasks.get(id).catch(() => undefined)
      if (task?.status !== 'input_required') end()
    }
    const off = tasks.onChange(changed => { if (changed === undefined || changed === id) void look() })
    const end = (): void => {
      off()
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    void look()
  })
}

async function ask (
  { key, method, params }: TaskQuestion,
  { id }: TaskRecord,
  served: ServedTasks,
  call: Call,
  signal: AbortSignal
): Promise<void> {
  const wire = { ...params, _meta: { ...isObject(params?._meta) ? params._meta : {}, [RELATED]: { taskId: id } } }
  if (!call.can(method, params)) throw errors.cannotAsk(method, 'it did not declare the capability')
  try {
    const answer = await call.clientRequests.forward({ method, params: params ?? {} }, wire, signal)
    await served.answer(id, { [key]: answer }, call)
  } catch (error) {
    // A client that is gone leaves the question open, for its next connection.
    if (signal.aborted || call.response.isClosed || call.peer.closed) return
    if (!isMcpError(error)) throw error
    await served.tasks.fail(id, errors.clientFailed(method, error))
  }
}
