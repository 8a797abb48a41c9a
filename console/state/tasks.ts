import { isObject, mayWatch, RpcError, type Client, type Json, type JsonObject } from '../client/contract.js'

/** Work that outlives its request. Members are undefined where the gateway does not tell them. */
export interface TaskRow {
  readonly id: string
  /** `call` for one that was answered early. */
  readonly kind: string
  readonly tool: string | undefined
  readonly principal: string | undefined
  readonly view: string | undefined
  readonly status: string
  readonly message: string | undefined
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number | undefined
}

/** Whose tasks the page shows: of all callers, or of its own where it has a name. */
export type Reach = 'all' | 'own' | 'none'

/** How many are read; there may be a great many, and the page has no need of more. */
export const MAX_TASKS = 1_000
const UNKNOWN = -32602
const TASKS = 'patchbay/tasks'

export function reachOf (client: Client | undefined): Reach {
  if (client === undefined) return 'none'
  if (mayWatch(client)) return 'all'
  const { experimental, extensions } = client.server.capabilities
  return [experimental, extensions].some(declared => isObject(declared) && TASKS in declared) ? 'own' : 'none'
}

export const isRunningTask = ({ status }: TaskRow): boolean => status === 'working' || status === 'input_required'

/** Reads the tasks, those that run first, then the newest. */
export async function readTasks (client: Client): Promise<TaskRow[]> {
  const rows: TaskRow[] = []
  let cursor: string | undefined
  do {
    const page: JsonObject = await client.request(TASKS, cursor === undefined ? {} : { cursor })
    if (Array.isArray(page.tasks)) rows.push(...page.tasks.flatMap(rowOf))
    cursor = typeof page.nextCursor === 'string' && page.nextCursor !== cursor ? page.nextCursor : undefined
  } while (cursor !== undefined && rows.length < MAX_TASKS)
  return rows.sort((one, other) =>
    Number(isRunningTask(other)) - Number(isRunningTask(one)) || other.createdAt - one.createdAt)
}

/** Ends a task; says in words what came of it. */
export async function cancelTask (client: Client, { id }: TaskRow): Promise<string> {
  try {
    const { task } = await client.request('patchbay/tasks/cancel', { id })
    const status = isObject(task) ? task.status : undefined
    return status === 'cancelled' ? 'It was cancelled.' : `It had ended before: it is ${String(status)}.`
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== UNKNOWN) throw error
    return 'Nothing was cancelled: it has ended, or has expired.'
  }
}

/** A row as far as it can be shown, of whatever came. */
function rowOf (row: Json): TaskRow[] {
  if (!isObject(row)) return []
  const { id, kind, tool, principal, view, status, statusMessage } = row
  if (typeof id !== 'string') return []
  const textOf = (value: Json | undefined): string | undefined => typeof value === 'string' ? value : undefined
  return [{
    id,
    kind: textOf(kind) ?? 'task',
    tool: textOf(tool),
    principal: textOf(principal),
    view: textOf(view),
    status: String(status),
    message: textOf(statusMessage),
    createdAt: timeOf(row.createdAt),
    updatedAt: timeOf(row.updatedAt),
    expiresAt: typeof row.expiresAt === 'string' ? timeOf(row.expiresAt) : undefined
  }]
}

const timeOf = (value: Json | undefined): number => Date.parse(String(value)) || 0
