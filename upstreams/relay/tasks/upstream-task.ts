import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { TASKS_EXTENSION } from '../../../protocol/wire/task-errors.js'
import type { Connection, UpstreamRequest } from '../../ports.js'

type Result = Record<string, unknown>

/** The longest id of a task that is remembered. */
const MAX_ID = 1_024

const RELATED = 'io.modelcontextprotocol/related-task'

/** The capabilities that a request declares besides those of its client, where the server has tasks as an extension. */
export const TASKS = Object.freeze({ extensions: { [TASKS_EXTENSION]: {} } })

/** True for a server that may answer a call with a task by itself. */
export const hasTasks = ({ revision, server: { capabilities: { extensions } } }: Connection): boolean =>
  revision?.tasks === 'extension' && isObject(extensions) && isObject(extensions[TASKS_EXTENSION])

/** True for a server that makes tasks of calls that ask for that. */
export function takesTasks ({ revision, server: { capabilities: { tasks } } }: Connection): boolean {
  if (revision?.tasks !== 'requested' || !isObject(tasks) || !isObject(tasks.requests)) return false
  return isObject(tasks.requests.tools) && isObject(tasks.requests.tools.call)
}

/** The id of the task that a result is; undefined for the result of the call itself. */
export function taskIdIn (
  result: Result,
  { revision }: Connection,
  { params }: UpstreamRequest,
  alias: string
): string | undefined {
  const isStateless = revision?.stateless === true
  const task = isStateless ? result : result.task
  if (isStateless ? result.resultType !== 'task' : params.task === undefined || !isObject(task)) return undefined
  const { taskId } = task as Result
  if (typeof taskId === 'string' && taskId !== '' && taskId.length <= MAX_ID) return taskId
  throw errors.upstreamFailed(alias, `it answered with a task whose id is no text of 1 to ${MAX_ID} characters`)
}

/** A result without the name that its task has at the upstream. */
export function withoutTask (result: Result): Result {
  const { _meta: meta } = result
  if (!isObject(meta) || !(RELATED in meta)) return result
  return { ...result, _meta: Object.fromEntries(Object.entries(meta).filter(([key]) => key !== RELATED)) }
}
