import { createAbortController } from '../../../lib/abort.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import { Peer } from '../../../protocol/peer/peer.js'
import { selfDescription } from '../../../protocol/revisions/client-side.js'
import { persist, type Persistence } from '../../../protocol/tasks/persist.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { askInTask, describeWork, expiryOf, follow, isFinal, release, RELEASED } from '../../../protocol/tasks/task-record.js'
import type { TaskRecord, TaskRequest } from '../../../protocol/tasks/task-record.js'
import type { Implementation } from '../../../protocol/revisions/revision.js'
import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { metaOf } from '../../../protocol/wire/meta.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { TaskChannel, type RoundEnd } from './task-channel.js'

/** How often progress is written, and due runs are looked for, in milliseconds: one timer for all runs. */
const TICK = 1_000

/** The caller of a round: the one that created the task, or the one that answered its last question. */
export type Runner = Pick<Call, 'peer' | 'identity'>

/** One round of a task while it runs here. */
export interface Run {
  readonly id: string
  readonly call: Call
  readonly ended: Promise<RoundEnd>
  /** Settles when the end of the round is stored. */
  settled: Promise<void>
  task: TaskRecord | undefined
  progress: string | undefined
  /** The state from which another node can go on with the work. */
  state: string | undefined
  request: TaskRequest
}

/** The tasks that this process runs. */
export class TaskRuns {
  readonly #dispatcher: Dispatcher
  readonly #tasks: StoredTasks
  readonly #runs = new Map<string, Run>()
  readonly #stopping = createAbortController()
  #timer: NodeJS.Timeout | undefined

  constructor (dispatcher: Dispatcher, tasks: StoredTasks) {
    this.#dispatcher = dispatcher
    this.#tasks = tasks
    tasks.onChange(id => { this.#followChange(id) })
  }

  /** Starts a round in a view. Its end is not stored before `keep` is called with the task. */
  start (id: string, asked: TaskRequest, runner: Runner, view: string | undefined): Run {
    const { params, capabilities, client, trace, state, approved } = asked
    const run: Pick<Run, 'progress' | 'state' | 'request'> = { progress: undefined, state: undefined, request: asked }
    const keepState = (state: string): void => {
      run.state = state
      const kept = this.#runs.get(id)
      if (kept !== undefined) void this.#keepState(kept)
    }
    const channel = new TaskChannel(text => { run.progress = text })
    const meta = {
      ...trace,
      progressToken: id,
      ...selfDescription(client as Implementation, capabilities)
    }
    const own = { ...params, ...(state !== undefined && { requestState: state }), _meta: meta }
    const peer = new Peer({
      transport: runner.peer.transport,
      identity: runner.identity,
      view,
      ...(runner.peer.headers !== undefined && { headers: runner.peer.headers })
    })
    const request = {
      kind: 'request', id, method: 'tools/call', params: own, meta, selfDescribed: true, size: 0
    } as const
    const call = this.#dispatcher.runTask(request, peer, channel, { id, approved, keepState })
    return Object.assign(run, { id, call, ended: channel.ended, settled: Promise.resolve(), task: undefined })
  }

  /** Stores what becomes of a run whose task is stored. */
  keep (run: Run, task: TaskRecord, request: TaskRequest): void {
    run.task = task
    run.request = request
    run.call.task = { id: run.id, ...run.call.task, runs: true, lifetime: expiryOf(task) - Date.now() }
    this.#runs.set(run.id, run)
    this.#timer ??= setInterval(() => this.#tick(), TICK).unref()
    run.settled = run.ended.then(async end => await this.#settle(run, task, end))
    if (run.state !== undefined) void this.#keepState(run)
    // The task may have been cancelled between its creation and now.
    this.#followChange(run.id)
  }

  /** Runs the next round of a task whose last answer has come to this process. */
  async resume (task: TaskRecord, runner: Runner): Promise<void> {
    const request = await persist(async () => {
      const found = await this.#tasks.request(task.id)
      if (found === undefined) await this.#tasks.fail(task.id, errors.interrupted('The request of the task was lost'))
      return found
    }, this.#persistence(task))
    if (request === undefined) return
    const { inputResponses, ...params } = request.params
    const answers = Object.fromEntries(task.answers ?? [])
    const next = { ...request, params: { ...params, inputResponses: answers } }
    // Where it was created: elsewhere another tool may have the name that it was called by.
    this.keep(this.start(task.id, next, runner, task.view), task, request)
  }

  /** Tells whoever does the work of a task elsewhere that it was cancelled while no node ran it. */
  abandon ({ id, view }: TaskRecord, request: TaskRequest, runner: Runner): void {
    this.start(id, request, runner, view).call.response.cancel(new Error('the task was cancelled'))
  }

  /** Waits for all runs. */
  async finished (): Promise<void> {
    await Promise.all([...this.#runs.values()].map(async ({ settled }) => await settled))
  }

  /** Fails what still runs, because this process ends. */
  async stop (): Promise<void> {
    const runs = [...this.#runs.values()]
    await Promise.all(runs.map(async run => {
      const isReleased = await this.#tasks.move(run.id, release(this.#tasks.node)).catch(() => undefined) !== undefined
      if (!isReleased) await this.#tasks.fail(run.id, errors.interrupted()).catch(() => {})
      run.call.response.cancel(isReleased ? RELEASED : errors.closing())
    }))
    this.#stopping.abort()
    await this.finished()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #persistence (task: TaskRecord): Persistence {
    return {
      until: expiryOf(task),
      signal: this.#stopping.signal,
      onFault: err => this.#dispatcher.observers.reportFault({ err })
    }
  }

  #followChange (id: string | undefined): void {
    for (const run of id === undefined ? this.#runs.values() : [this.#runs.get(id)]) {
      if (run !== undefined) void this.#check(run)
    }
  }

  /** Aborts a run whose task has ended, by its cancellation or because its time is up. */
  async #check (run: Run): Promise<void> {
    const task = await this.#tasks.get(run.id).catch(() => run.task)
    if (task !== undefined && run.state !== undefined && task.status === 'working' && task.node !== this.#tasks.node) {
      run.call.response.cancel(RELEASED)
    } else if (task === undefined || isFinal(task)) run.call.response.cancel(new Error(`the task is ${task?.status ?? 'gone'}`))
  }

  // Without it, the task fails with this process, as others do.
  async #keepState ({ task, state, request }: Run): Promise<void> {
    if (task === undefined) return
    const { requestState: _, inputResponses, ...params } = request.params
    await this.#tasks.saveRequest(task, { ...request, params, state })
      .then(async () => await this.#tasks.move(task.id, follow(this.#tasks.node)))
      .catch(() => {})
  }

  #tick (): void {
    for (const run of this.#runs.values()) {
      const { id, task, progress } = run
      run.progress = undefined
      if (task !== undefined && expiryOf(task) <= Date.now()) void this.#check(run)
      else if (progress !== undefined) this.#tasks.move(id, describeWork(this.#tasks.node, progress)).catch(() => {})
    }
  }

  async #settle (run: Run, task: TaskRecord, end: RoundEnd): Promise<void> {
    await persist(async () => await this.#store(task, end, run.request), this.#persistence(task))
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id)
    if (this.#runs.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #store (task: TaskRecord, { result, error }: RoundEnd, request: TaskRequest): Promise<void> {
    if (error !== undefined) await this.#tasks.fail(task.id, error)
    if (result === undefined) return
    if (result.resultType === 'input_required') await this.#ask(task, result, request)
    else await this.#tasks.complete(task.id, result, result.isError === true)
  }

  async #ask (task: TaskRecord, { inputRequests, requestState }: Params, request: TaskRequest): Promise<void> {
    const { requestState: _, inputResponses, ...params } = request.params
    await this.#tasks.saveRequest(task, { ...request, params, state: String(requestState) })
    const questions = Object.entries(inputRequests as Record<string, { method: string, params?: Params }>)
      .map(([name, { method, params }]) => ({ name, method, ...(params !== undefined && { params }) }))
    await this.#tasks.move(task.id, askInTask(this.#tasks.node, questions))
  }
}

/** The request of a call, as a task runs it. */
export function taskRequestOf ({ params, capabilities, client, ruled }: Call): TaskRequest {
  const { _meta, task, ...own } = params
  const meta = metaOf(params)
  const trace = Object.fromEntries(
    ['traceparent', 'tracestate', 'baggage'].filter(key => key in meta).map(key => [key, meta[key]])
  )
  return { params: own, capabilities, client: isObject(client) ? client : undefined, trace, approved: ruled?.approved }
}
