import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import type { StoredTasks, TaskPage } from '../../protocol/tasks/stored-tasks.js'
import { expiryOf, type TaskRecord } from '../../protocol/tasks/task-record.js'
import { SPACES } from '../../protocol/tasks/task-spaces.js'
import { errors } from '../../protocol/wire/errors.js'
import { ADMIN_SCOPE, grants, mayReach } from '../../protocol/wire/identity.js'

/** Tasks of its own are for each caller; to callers who could have none, the methods do not exist. */
const OPEN = { scopes: [] }

/** How many tasks are on a page. */
const PAGE = 200

const NAME = 'patchbay/tasks'
const Page = Type.Object({ cursor: Type.Optional(Type.String({ maxLength: 64 })) })
const Named = Type.Object({ id: Type.String({ maxLength: 64 }) })

/**
 * Shows callers their work that outlives its request, and operators that of every caller, at every node, in all
 * revisions: `patchbay/tasks` lists it, and `patchbay/tasks/cancel` ends it. Neither tells arguments or results.
 */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.capabilities.declareExtension(NAME, {}, [], true)

  mcp.method(NAME, Page, async ({ cursor }, call) => {
    checkCaller(call)
    const tasks = await mcp.storedTasks()
    const page = isOperator(call) ? await all(tasks, cursor) : await tasks.list(call.principal ?? '', cursor, PAGE)
    return {
      tasks: page.tasks.filter(task => mayKnow(call, task)).map(task => summaryOf(task, call)),
      ...(page.next !== undefined && { nextCursor: page.next })
    }
  }, OPEN)

  mcp.method('patchbay/tasks/cancel', Named, async ({ id }, call) => {
    checkCaller(call)
    const tasks = await mcp.storedTasks()
    const found = await tasks.get(id)
    const task = found !== undefined && mayKnow(call, found) ? await tasks.cancel(id) : undefined
    if (task === undefined) throw errors.invalidParams(`there is no task ${JSON.stringify(id)}, or it has expired`)
    return { task: summaryOf(task, call) }
  }, OPEN)

  async function all (tasks: StoredTasks, after: string | undefined): Promise<TaskPage> {
    const ids = await mcp.store.values.keys(SPACES.tasks, { after, limit: PAGE })
    const found = await Promise.all(ids.map(async id => await tasks.get(id)))
    const next = ids.length < PAGE ? undefined : ids.at(-1)
    return { tasks: found.filter(task => task !== undefined) as TaskRecord[], ...(next !== undefined && { next }) }
  }
}, { name: 'patchbay-all-tasks', dependencies: ['patchbay-mcp', 'patchbay-stored-tasks'] })

const isOperator = ({ identity }: Call): boolean => grants(identity, [ADMIN_SCOPE])

function checkCaller (call: Call): void {
  if (call.principal === undefined && !isOperator(call)) throw errors.methodNotFound(call.method)
}

/** True for operators, and for the owner of a task, as everywhere. */
function mayKnow (call: Call, { owner, view, scopes }: TaskRecord): boolean {
  if (isOperator(call)) return true
  return owner === call.principal && mayReach(call.peer.view, view) && grants(call.identity, scopes)
}

function summaryOf (task: TaskRecord, call: Call): object {
  const { id, kind, owner, view, tool, accessName = tool, status, statusMessage, createdAt, updatedAt, node } = task
  return {
    id,
    kind,
    principal: owner ?? undefined,
    view,
    ...(isOperator(call) ? { tool: accessName, node } : { tool, statusMessage }),
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    expiresAt: new Date(expiryOf(task)).toISOString()
  }
}
