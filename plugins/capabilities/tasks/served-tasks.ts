import { withTimeout } from '../../../lib/time.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { mistakeInForm } from '../../../protocol/questions/form-mistake.js'
import { modern } from '../../../protocol/revisions/table.js'
import { makeTaskId, type NewTask } from '../../../protocol/tasks/new-task.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { adopt, answerTask, isFinal, isReleased, type TaskQuestion, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import { errors, fromWire, relayError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { taskErrors } from '../../../protocol/wire/task-errors.js'
import { createdTask, findTask, mayKnow, requestedTask, requireTasks, taskSeenBy } from './task-access.js'
import type { RoundEnd } from './task-channel.js'
import { taskRequestOf, TaskRuns, type Run } from './task-runs.js'

/** How long a call of a tool that may create a task is waited for before it does, in milliseconds. */
const PATIENCE = 250

/** How many tasks a page of a list has, and the purpose for which its cursors are sealed. */
const PAGE = 100
const CURSOR = 'tasks/list'

/** The tasks of this gateway for its clients: creating, reading, answering and cancelling them. */
export class ServedTasks {
  readonly tasks: StoredTasks
  readonly runs: TaskRuns
  readonly #dispatcher: Dispatcher

  constructor (dispatcher: Dispatcher, tasks: StoredTasks) {
    this.#dispatcher = dispatcher
    this.tasks = tasks
    this.runs = new TaskRuns(dispatcher, tasks)
  }

  /**
   * Runs a call of a tool as a task. Where the server decides and the tool leaves it open, what is answered, or asked,
   * soon needs none.
   */
  async create (call: Call, tool: Tool): Promise<object> {
    const id = makeTaskId()
    const request = taskRequestOf(call)
    const facts = factsOf(call, id)
    if (tool.task === 'must' || call.revision.tasks === 'requested') {
      const task = await this.tasks.create(facts, request)
      if (call.response.isClosed) return await this.#discard(task)
      call.task = { id, runs: false }
      this.runs.keep(this.runs.start(id, request, call, call.peer.view), task, request)
      return toClient(call, task)
    }
    const run = this.runs.start(id, request, call, call.peer.view)
    const early = await this.#endOf(call, run, PATIENCE)
    if (early !== undefined) return early.result ?? fail(run, early)
    const task = await this.tasks.create(facts, request).catch(() => undefined)
    if (task === undefined) {
      // Work that runs already is not given up: it is waited for, as where a client has no tasks.
      const end = await this.#endOf(call, run) ?? {}
      return end.result ?? fail(run, end)
    }
    if (call.response.isClosed) {
      run.call.response.cancel(new Error('the call was cancelled'))
      return await this.#discard(task)
    }
    call.task = { id, runs: false }
    this.runs.keep(run, task, request)
    return toClient(call, task)
  }

  /** Forgets a task whose call was cancelled before it could be answered: no client gets its id. */
  async #discard (task: TaskRecord): Promise<object> {
    await this.tasks.discard(task)
    return {}
  }

  async get (id: string, call: Call): Promise<object> {
    requireTasks(call)
    return await taskSeenBy(call, await this.find(id, call), this.tasks)
  }

  /** Finds a task of the caller. One whose work is done elsewhere, and whose node has ended, goes on here. */
  async find (id: string, call: Call): Promise<TaskRecord> {
    const task = await findTask(this.tasks, id, call)
    if (!isReleased(task) || this.#dispatcher.lifecycle.isDraining) return task
    const adopted = await this.tasks.move(id, adopt(this.tasks.node))
    if (adopted !== undefined) await this.runs.resume(adopted, call)
    return adopted ?? task
  }

  /** Cancels a task; only where clients ask for tasks is one that has ended an error. */
  async cancel (id: string, call: Call): Promise<object> {
    requireTasks(call)
    const { status, follows, node } = await findTask(this.tasks, id, call)
    const isAsked = call.revision.tasks === 'requested'
    if (isAsked && isFinal({ status })) throw taskErrors.ended(status)
    const request = follows === true && node === undefined ? await this.tasks.request(id) : undefined
    const task = await this.tasks.cancel(id)
    if (request !== undefined && task?.status === 'cancelled') this.runs.abandon(task, request, call)
    if (!isAsked) return {}
    if (task?.status !== 'cancelled') throw taskErrors.ended(task?.status ?? 'gone')
    return requestedTask(task)
  }

  /** A page of the tasks of a caller, where clients can list them. */
  async list (cursor: string | undefined, principal: string, call: Call): Promise<object> {
    const { sealer } = this.#dispatcher
    const after = cursor === undefined ? undefined : sealer.open(CURSOR, cursor)
    if (cursor !== undefined && !isCursorOf(after, principal)) throw errors.invalidParams('cursor is not one of this list')
    const page = await this.tasks.list(principal, isCursorOf(after, principal) ? after[1] : undefined, PAGE)
    return {
      tasks: page.tasks.filter(task => mayKnow(call, task)).map(requestedTask),
      ...(page.next !== undefined && { nextCursor: sealer.seal(CURSOR, [principal, page.next]) })
    }
  }

  /** Takes answers to the questions of a task; the last one runs it again, here. */
  async update (id: string, responses: Params, call: Call): Promise<void> {
    requireTasks(call)
    await this.find(id, call)
    await this.answer(id, responses, call)
  }

  async answer (id: string, responses: Params, call: Call): Promise<void> {
    const { node } = this.tasks
    const isGood = (question: TaskQuestion, answer: unknown): boolean => this.#isGood(question, answer)
    const task = await this.tasks.move(id, answerTask(node, responses, isGood))
    if (task?.status === 'working') await this.runs.resume(task, call)
  }

  /** The form may be one of a server, so nothing of its schema is compiled; our tools check it whole as they run. */
  #isGood ({ method, params: { requestedSchema, ...params } = {} }: TaskQuestion, answer: unknown): boolean {
    try {
      const given = this.#dispatcher.clientRequestKinds.get(method).answer(answer, params, modern)
      const { action, content }: { action?: unknown, content?: Params } = Object(given)
      if (action !== 'accept' || requestedSchema === undefined) return true
      return mistakeInForm(requestedSchema, content ?? {}, true) === undefined
    } catch {
      return false
    }
  }

  /**
   * The end of a run for which there is no task, unless that takes longer than `ms`: the call that waits for it can be
   * cancelled as any other.
   */
  async #endOf ({ signal }: Call, run: Run, ms?: number): Promise<RoundEnd | undefined> {
    const abort = (): void => run.call.response.cancel(new Error('the call was cancelled'))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      return await (ms === undefined ? run.ended : withTimeout(run.ended, ms, () => undefined))
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

const isCursorOf = (value: unknown, principal: string): value is [string, string] =>
  Array.isArray(value) && value[0] === principal && typeof value[1] === 'string'

function factsOf (call: Call, id: string): NewTask {
  const { principal, peer, target, params } = call
  const { task } = params
  const ttl = call.revision.tasks === 'requested' && isObject(task) ? task.ttl : undefined
  return {
    id,
    kind: 'task',
    owner: principal ?? null,
    view: peer.view,
    tool: String(params.name),
    accessName: target?.accessName,
    scopes: target?.scopes ?? [],
    ttlMs: typeof ttl === 'number' ? Math.max(1, Math.floor(ttl)) : undefined
  }
}

const toClient = (call: Call, task: TaskRecord): object =>
  call.revision.tasks === 'requested' ? { task: requestedTask(task) } : { resultType: 'task', ...createdTask(task) }

/** Answers a call with the error that its work ended with at once. */
function fail (run: Run, { error, status = 200 }: RoundEnd): never {
  if (error !== undefined) throw relayError(fromWire(error), error.code, status)
  throw run.call.signal.reason instanceof Error ? run.call.signal.reason : errors.closing()
}
