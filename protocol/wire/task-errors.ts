import { codes, makeError } from './errors.js'

/** The capability that a client without a handshake declares for tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const NEEDED = { extensions: { [TASKS_EXTENSION]: {} } }

/** The JSON-RPC errors about tasks; `npm run errors-page` makes rows of docs/errors.md of this table, too. */
export const taskErrors = {
  /** The task does not exist, has expired, or is not the caller's. Remedy: call the tool again, if it may be carried out twice. */
  unknown: () => makeError(
    'PATCHBAY_UNKNOWN_TASK', codes.invalidParams, 'Invalid params: Unknown task: it does not exist, or has expired', { data: { details: 'Unknown task' } }),
  /** `tasks/cancel` in the revision that has `tasks/result`: the task has ended. Remedy: read its result. */
  ended: (status: string) => makeError('PATCHBAY_TASK_ENDED', codes.invalidParams, `Invalid params: the task has ended already, it is ${status}`),
  /** The caller, or all callers together, have as many tasks as a limit allows. Remedy: wait until some expire, or raise the limit. */
  tooMany: (max: number, limit: string) => makeError(
    'PATCHBAY_TOO_MANY_TASKS', codes.internal, `There are as many tasks as limit ${limit} allows (${max}); try again when some have expired`, { data: { max } }),
  /** The time of a task was up before it had ended. Remedy: ask for less, or raise limit `taskTtl`. */
  outOfTime: () => makeError('PATCHBAY_TASK_OUT_OF_TIME', codes.internal, 'The time of the task was up before it had ended'),
  /** The gateway that ran a task ended before the task did. Remedy: look whether it took effect before calling the tool again. */
  nodeEnded: () => makeError(
    'PATCHBAY_TASK_INTERRUPTED', codes.internal, 'The gateway that ran the task ended before the task did; it was not run again, and whether it took effect is not known'),
  /** The result of a task is longer than limit `maxTaskResult` allows. Remedy: ask for less, or raise the limit. */
  resultTooLong: (length: number, max: number) => makeError(
    'PATCHBAY_TASK_RESULT_TOO_LONG', codes.internal, `The result of the task has ${length} characters, at most ${max} are kept (limit maxTaskResult)`, { data: { max } }),
  /** The result of a task, or its request, would exceed the bytes that are kept for its caller, or for all. Remedy: ask for less, wait until results expire, or raise the limit. */
  tooManyBytes: (part: string, why: string) => makeError('PATCHBAY_TOO_MANY_TASK_BYTES', codes.internal, `The ${part} of the task is not kept: ${why}`),
  /** The client did not declare tasks, which the method or the tool needs. Remedy: declare what `data.requiredCapabilities` lists. */
  notDeclared: () => makeError(
    'PATCHBAY_TASKS_NOT_DECLARED', codes.missingCapability, `The client did not declare the extension ${TASKS_EXTENSION}, which this needs`,
    { data: { requiredCapabilities: NEEDED }, status: 400 }),
  /** The tool runs as a task only, and the request has no member `task`. Remedy: send the request with `task: {}`. */
  required: (tool: string) => makeError('PATCHBAY_TASK_REQUIRED', codes.methodNotFound, `The tool ${tool} runs as a task only: send the request with the member task`, { status: 200 }),
  /** The request has a member `task`, and the tool runs as no task. Remedy: send the request without it. */
  forbidden: (tool: string) => makeError('PATCHBAY_TASK_FORBIDDEN', codes.methodNotFound, `The tool ${tool} runs as no task: send the request without the member task`, { status: 200 })
}
