import type { Call } from '../../../protocol/dispatch/call.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import type { TaskRecord } from '../../../protocol/tasks/task-record.js'
import { errors } from '../../../protocol/wire/errors.js'
import { grants, mayReach } from '../../../protocol/wire/identity.js'
import { isObject } from '../../../protocol/wire/json.js'
import { TASKS_EXTENSION, taskErrors } from '../../../protocol/wire/task-errors.js'

/** True for a client that declared tasks in this request, in a revision where they are an extension. */
export function declaresTasks ({ revision, capabilities: { extensions } }: Call): boolean {
  return revision.tasks === 'extension' && isObject(extensions) && isObject(extensions[TASKS_EXTENSION])
}

/** Throws for a client that did not declare tasks where they are an extension. */
export function requireTasks (call: Call): void {
  if (call.revision.tasks === 'extension' && !declaresTasks(call)) throw taskErrors.notDeclared()
}

/** True for a caller who may know of a task: its owner, with the scopes of its tool, in its view or outside of all. */
export function mayKnow ({ peer, identity, principal }: Call, { kind, owner, view, scopes }: TaskRecord): boolean {
  return kind === 'task' && owner === (principal ?? null) && mayReach(peer.view, view) &&
    grants(identity, scopes)
}

/** Finds a task of the caller; one of another is unknown, in the same words. */
export async function findTask (tasks: StoredTasks, id: string, call: Call): Promise<TaskRecord> {
  const task = await tasks.get(id)
  if (task === undefined || !mayKnow(call, task)) throw taskErrors.unknown()
  return task
}

/** A task as clients of the extension see it, without its result and questions. */
export const createdTask = (task: TaskRecord): object => ({
  taskId: task.id,
  status: task.status,
  ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
  createdAt: new Date(task.createdAt).toISOString(),
  lastUpdatedAt: new Date(task.updatedAt).toISOString(),
  ttlMs: task.ttlMs,
  pollIntervalMs: task.pollIntervalMs
})

/** A task as clients see it, in the words of their revision. */
export async function taskSeenBy (call: Pick<Call, 'revision'>, task: TaskRecord, tasks: StoredTasks): Promise<object> {
  if (call.revision.tasks === 'requested') return requestedTask(task)
  const { status, error, questions = [] } = task
  return {
    ...createdTask(task),
    ...(status === 'completed' && { result: await tasks.result(task.id) ?? { content: [], resultType: 'complete' } }),
    ...(status === 'failed' && { error: error ?? errors.interrupted() }),
    ...(status === 'input_required' && {
      inputRequests: Object.fromEntries(
        questions.map(({ key, method, params }) => [key, { method, ...(params !== undefined && { params }) }])
      )
    })
  }
}

/** A task where clients ask for tasks: a result that reports a failure means that it failed. */
export const requestedTask = (task: TaskRecord): object => ({
  taskId: task.id,
  status: task.status === 'completed' && task.isError === true ? 'failed' : task.status,
  ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
  createdAt: new Date(task.createdAt).toISOString(),
  lastUpdatedAt: new Date(task.updatedAt).toISOString(),
  ttl: task.ttlMs,
  pollInterval: task.pollIntervalMs
})
