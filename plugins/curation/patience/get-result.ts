import { Type } from '@sinclair/typebox'
import { resource, type Resource } from '../../../protocol/definitions/resource.js'
import { tool, type Tool } from '../../../protocol/definitions/tool.js'
import { clientWait } from '../../../protocol/known-clients.js'
import { isFinal, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { fromWire, ToolError } from '../../../protocol/wire/errors.js'
import { grants, mayReach } from '../../../protocol/wire/identity.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { now } from '../../../lib/time.js'
import { dueOf } from './due.js'
import { CALL_URI, CANCEL_RESULT, GET_RESULT, runningSentence } from './sentences.js'
import { taskWhenEnded } from './task-when-ended.js'

const ID = Type.String({ maxLength: 128, description: 'The id in the answer to the call, or its URI' })

/** The tool that gives the result of a call that was answered early, or waits for it. */
export function getResultTool (tasks: StoredTasks): Tool {
  const definition = tool({
    name: GET_RESULT,
    title: 'Get the result of a long call',
    description: 'Waits for the result of a call that was answered before it ended, and returns it.',
    input: Type.Object(
      {
        id: ID,
        wait: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 2 ** 31 - 1,
            description: 'How many milliseconds to wait at most; without it as long as possible'
          })
        )
      },
      { additionalProperties: false }
    ),
    annotations: { readOnlyHint: true, openWorldHint: false },
    scopes: [],
    run: async ({ id: given, wait = Infinity }, call) => {
      const id = idOf(given)
      if (await find(tasks, id, call) === undefined) throw unknown(id)
      const left = Math.min(wait, dueOf(call, clientWait(call.client)) - now())
      const task = await taskWhenEnded(tasks, id, left, call.signal)
      return task === undefined ? await Promise.reject(unknown(id)) : await outcomeOf(tasks, task)
    }
  })
  return { ...definition as Tool, hasWholeResults: true }
}

/** The tool that ends a call that was answered early. */
export function cancelResultTool (tasks: StoredTasks): Tool {
  const definition = tool({
    name: CANCEL_RESULT,
    title: 'Cancel a long call',
    description: 'Ends a call that was answered before it ended. What it has done already is not undone.',
    input: Type.Object({ id: ID }, { additionalProperties: false }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    scopes: [],
    run: async ({ id: given }, call) => {
      const id = idOf(given)
      const found = await find(tasks, id, call)
      const task = found && await tasks.cancel(id)
      if (task === undefined) throw unknown(id)
      return task.status === 'cancelled'
        ? `The call of ${task.tool} was cancelled.`
        : `The call of ${task.tool} had ended before.`
    }
  })
  return { ...definition as Tool, hasWholeResults: true }
}

/** Serves each call that was answered early as a resource: its state, and its result or error once it has ended. */
export function callTemplate (tasks: StoredTasks): Resource {
  return resource({
    uri: `${CALL_URI}{id}`,
    name: 'call',
    title: 'Result of a long call',
    description: 'The state of a call that was answered before it ended, with its result or its error once it has ended',
    mimeType: 'application/json',
    // The caller of the tool reads its results, whatever scopes the tool asked for; these are checked with the owner.
    scopes: [],
    read: async ({ id }, call, uri) => {
      const task = await find(tasks, id, call)
      if (task === undefined) return undefined
      const { status, tool, createdAt, error } = task
      const result = status === 'completed' ? await tasks.result(id) : undefined
      const state = { status, tool, answeredAt: new Date(createdAt).toISOString(), result, error }
      return [{ uri, mimeType: 'application/json', text: JSON.stringify(state) }]
    }
  })
}

/** The record of a call that this caller made, in its view or outside of all. Any other is unknown to it. */
async function find (tasks: StoredTasks, id: string, { identity, peer }: Call): Promise<TaskRecord | undefined> {
  const task = await tasks.get(id)
  const isOwn = task?.kind === 'call' && task.owner === (identity.principal ?? null) &&
    mayReach(peer.view, task.view)
  return isOwn && grants(identity, task.scopes) ? task : undefined
}

/** The result, or the error, that the call would have been answered with. */
async function outcomeOf (tasks: StoredTasks, task: TaskRecord): Promise<object | string> {
  if (!isFinal(task)) return runningSentence(task)
  if (task.error !== undefined) throw fromWire(task.error)
  if (task.status === 'cancelled') throw new ToolError(`The call of ${task.tool} was cancelled`)
  const result = await tasks.result(task.id)
  if (result === undefined) throw unknown(task.id)
  return result
}

const idOf = (given: string): string => given.startsWith(CALL_URI) ? given.slice(CALL_URI.length) : given

const unknown = (id: string): ToolError => new ToolError(`There is no call "${id}", or it has expired`)
