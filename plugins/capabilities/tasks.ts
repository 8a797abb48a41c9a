import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { errors } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { TASKS_EXTENSION, taskErrors } from '../../protocol/wire/task-errors.js'
import type { ServedTasks } from './tasks/served-tasks.js'
import { declaresTasks } from './tasks/task-access.js'

const Named = Type.Object({ taskId: Type.String() })
const Update = Type.Object({ taskId: Type.String(), inputResponses: Type.Unsafe<Params>({ type: 'object' }) })
const Page = Type.Object({ cursor: Type.Optional(Type.String()) })

/** Everyone may ask for a task: its owner and the scopes of its tool decide. */
const OPEN = { scopes: [] }

/** Work that outlives its request, in both forms of the protocol. The code is loaded with the first use. */
export default fp(async fastify => {
  const { mcp, mcp: { dispatcher } } = fastify
  let opening: Promise<ServedTasks> | undefined
  const open = async (): Promise<ServedTasks> => {
    const [{ ServedTasks }, tasks] = await Promise.all([import('./tasks/served-tasks.js'), mcp.storedTasks()])
    return new ServedTasks(dispatcher, tasks)
  }
  const openServed = async (): Promise<ServedTasks> => await (opening ??= open())
  const create = async (call: Call, tool: Tool): Promise<object> => {
    const tasks = await openServed()
    return call.response.isClosed ? {} : await tasks.create(call, tool)
  }

  dispatcher.capabilities.declareOfficial(TASKS_EXTENSION, {}, true)
  dispatcher.capabilities.declare('tasks', ({ tasks }, { principal }) => tasks === 'requested'
    ? { ...(principal !== undefined && { list: {} }), cancel: {}, requests: { tools: { call: {} } } }
    : undefined)

  dispatcher.runTasksWith(call => {
    const tool = call.method === 'tools/call' ? call.target?.item as Tool | undefined : undefined
    if (tool === undefined || !isTask(call, tool)) return undefined
    return create(call, tool)
  })

  mcp.subscriptions.watchTasksWith(async (ids, call) => {
    const { watchTasks } = await import('./tasks/watched-tasks.js')
    return await watchTasks(await openServed(), ids, call)
  })
  mcp.method('tasks/get', Named, async ({ taskId }, call) => await (await openServed()).get(taskId, call), OPEN)
  mcp.method('tasks/update', Update, async ({ taskId, inputResponses }, call) => {
    await (await openServed()).update(taskId, inputResponses, call)
    return {}
  }, OPEN)
  mcp.method('tasks/cancel', Named, async ({ taskId }, call) => await (await openServed()).cancel(taskId, call), OPEN)
  mcp.method('tasks/result', Named, async ({ taskId }, call) => {
    const { awaitResult } = await import('./tasks/awaited-result.js')
    return await awaitResult(await openServed(), taskId, call)
  }, { ...OPEN, timed: false })
  mcp.method('tasks/list', Page, async ({ cursor }, call) => {
    if (call.principal === undefined) throw errors.methodNotFound(call.method)
    return await (await openServed()).list(cursor, call.principal, call)
  }, OPEN)

  dispatcher.lifecycle.awaitAtDrain(async () => await (await opening)?.runs.finished())
  fastify.addHook('preClose', async () => await (await opening)?.runs.stop())
}, { name: 'patchbay-tasks', dependencies: ['patchbay-mcp', 'patchbay-stored-tasks', 'patchbay-subscriptions', 'patchbay-tools'] })

/** True for a call that becomes a task; throws where client and tool do not agree on that. */
function isTask (call: Call, { name, task }: Tool): boolean {
  const { revision: { tasks }, params } = call
  if (tasks === 'requested' && params.task !== undefined) {
    if (!isRequest(params.task)) throw errors.invalidParams('task must be an object, and its ttl a number of milliseconds')
    if (task === undefined) throw taskErrors.forbidden(name)
    return true
  }
  if (task === undefined) return false
  if (declaresTasks(call)) return true
  if (task === 'must') throw tasks === 'extension' ? taskErrors.notDeclared() : taskErrors.required(name)
  return false
}

const isRequest = (task: unknown): boolean =>
  isObject(task) && (task.ttl === undefined || task.ttl === null || typeof task.ttl === 'number')
