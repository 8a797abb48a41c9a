import { setTimeout as sleep } from 'node:timers/promises'
import { errors, fromWire } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { UpstreamRequest } from '../ports.js'
import { readInputRequired } from '../relay/questions/input-required.js'
import { withoutTask } from '../relay/tasks/upstream-task.js'
import { answerAll, type Rounds } from './rounds.js'

/** The bounds of the time between two looks at a task, and that of one that does not say, in milliseconds. */
const INTERVAL = { least: 100, usual: 1_000, most: 10_000 }
/** For how long an answer to a cancellation is waited for, in milliseconds. */
const CANCEL_WITHIN = 2_000

/** How a task is waited for: `request` has what all requests about it share. */
export interface Waiting extends Rounds {
  readonly request: UpstreamRequest
  readonly signal: AbortSignal
  readonly onStatus: (message: string) => void
}

/** Waits for the task that a call became, answers what it asks, and gives the result of the call. */
export async function awaitTask (taskId: string, waiting: Waiting): Promise<Params> {
  const { connection, request, signal } = waiting
  const send = async (method: string, more: Params = {}, within = signal): Promise<Params> => {
    const { headers: _, renewHeaders, ...rest } = request
    return await connection.request({ ...rest, method, params: { taskId, ...more }, signal: within })
  }
  try {
    return withoutTask(await endOf(send, waiting))
  } catch (error) {
    if (signal.aborted) await send('tasks/cancel', {}, AbortSignal.timeout(CANCEL_WITHIN)).catch(() => {})
    throw error
  }
}

async function endOf (
  send: (method: string, more?: Params) => Promise<Params>,
  { connection, events, max, server, signal, onStatus }: Waiting
): Promise<Params> {
  const answered = new Set<string>()
  for (let rounds = 0; ;) {
    const task = await send('tasks/get')
    const { status, statusMessage, pollIntervalMs, pollInterval = pollIntervalMs } = task
    onStatus(typeof statusMessage === 'string' ? statusMessage : String(status))
    const isOver = status !== 'working' && status !== 'input_required'
    // In the revision with sessions, questions come on the stream of this request.
    if (!connection.revision.stateless && status !== 'working') return await send('tasks/result')
    if (isOver) return outcomeOf(task, server)
    const asked = readInputRequired(openIn(task, answered), 'tools/call', connection.revision, server)
    if (asked !== undefined) {
      if (++rounds > max) throw errors.upstreamFailed(server, `it asks more than ${max} times during one call`)
      const inputResponses = await answerAll(asked.questions, events, signal, server)
      for (const key of Object.keys(inputResponses)) answered.add(key)
      await send('tasks/update', { inputResponses })
    } else {
      const { least, usual, most } = INTERVAL
      const interval = typeof pollInterval === 'number' ? Math.min(most, Math.max(least, pollInterval)) : usual
      await sleep(interval, undefined, { signal })
    }
  }
}

/** The questions that were not answered yet, as a call asks them; nothing to ask where there are none. */
function openIn (task: Params, answered: ReadonlySet<string>): Params {
  const { status, inputRequests } = task
  if (status !== 'input_required' || !isObject(inputRequests)) return { resultType: 'complete' }
  const open = Object.entries(inputRequests).filter(([key]) => !answered.has(key))
  if (open.length === 0) return { resultType: 'complete' }
  return { resultType: 'input_required', inputRequests: Object.fromEntries(open) }
}

function outcomeOf ({ status, result, error }: Params, server: string): Params {
  if (status === 'completed' && isObject(result)) return result
  if (status === 'failed' && isObject(error) && typeof error['message'] === 'string') {
    throw fromWire({ code: Number(error['code']), message: error['message'], data: error['data'] })
  }
  const why = status === 'cancelled' ? 'it cancelled the task of this call' : 'its task has ended without a result'
  throw errors.upstreamFailed(server, why)
}
