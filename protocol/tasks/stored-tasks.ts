import { randomToken } from '../../lib/random-token.js'
import type { Nodes } from '../nodes/nodes.js'
import type { Store, Values } from '../store.js'
import { isFull, type McpError, type WireError } from '../wire/errors.js'
import type { Params } from '../wire/jsonrpc.js'
import { taskErrors } from '../wire/task-errors.js'
import { LiveNodes } from './live-nodes.js'
import { makeTask, type NewTask } from './new-task.js'
import { TaskBytes, type CountedBytes } from './task-bytes.js'
import type { TaskLimits } from './task-limits.js'
import { cancel, complete, expiryOf, fail, isFinal, release, storableError } from './task-record.js'
import type { TaskChange, TaskListener, TaskRecord, TaskRequest } from './task-record.js'
import { dueKey, idOf, ownerKey, ownerSpace, runningKey, SPACES } from './task-spaces.js'
import { TaskSweeper } from './task-sweeper.js'

/** Some tasks; `next` is where those after them begin. */
export interface TaskPage { readonly tasks: TaskRecord[], readonly next?: string }

const { tasks: TASKS, requests: REQUESTS, results: RESULTS, due: DUE, running: RUNNING } = SPACES

const ID = /^[A-Za-z0-9_-]{22}$/
const SLACK = 600_000

/** Tasks in the store, which all nodes share. Each transition is one step, so a task ends once. */
export class StoredTasks {
  /** This process, as the runner of its tasks. */
  readonly node: string
  readonly limits: TaskLimits
  readonly #values: Values
  readonly #nodes: Nodes
  readonly #live: LiveNodes
  readonly #bytes: TaskBytes
  readonly #sweeper: TaskSweeper
  readonly #onStep: TaskListener

  /** `onStep` runs for each task that is created or ended here. */
  constructor (
    { values, nodes }: Pick<Store, 'values' | 'nodes'>,
    limits: TaskLimits,
    onStep: TaskListener = () => {}
  ) {
    this.#onStep = onStep
    this.#values = values
    this.#nodes = nodes
    this.node = nodes.self ?? randomToken(6, 'hex')
    this.limits = limits
    this.#bytes = new TaskBytes(values, limits)
    this.#live = new LiveNodes(this.node, nodes)
    this.#sweeper = new TaskSweeper(values, this, this.#live)
  }

  /** Stores a task that works at this node. Rejects when its owner, or all together, have as many as they may. */
  async create (facts: NewTask, request?: TaskRequest): Promise<TaskRecord> {
    const { maxTasks, maxTasksPerPrincipal } = this.limits
    let task = makeTask(facts, this.limits, this.node)
    const { id } = task
    await this.#nodes.join()
    const expires = this.storedUntil(task)
    await this.#values
      .put(ownerSpace(task.owner), ownerKey(task), 0, { expires, max: maxTasksPerPrincipal })
      .catch(error => { throw tooMany(error, maxTasksPerPrincipal, 'maxTasksPerPrincipal') })
    try {
      const counted = request && await this.#bytes.add(task.owner, JSON.stringify(request), expires)
      if (typeof counted === 'string') throw taskErrors.tooManyBytes('request', counted)
      task = { ...task, ...(counted && { requestBytes: counted }) }
      await Promise.all([
        this.#values.put(DUE, dueKey(expiryOf(task), id), 0, { expires }),
        this.#values.put(RUNNING, runningKey(this.node, id), 0, { expires }),
        ...(request === undefined ? [] : [this.#values.put(REQUESTS, id, request, { expires })])
      ])
      await this.#values.put(TASKS, id, task, { expires, max: maxTasks })
    } catch (error) {
      const isStored = await this.discard(task)
      if (!isStored) await this.#bytes.remove(task.owner, task.requestBytes)
      throw tooMany(error, maxTasks, 'maxTasks')
    }
    this.#onStep(task)
    return task
  }

  /** Finds a task. One whose time is up, or whose node has ended, has failed. */
  async get (id: string): Promise<TaskRecord | undefined> {
    const task = await this.#read(id)
    if (task === undefined || isFinal(task)) return task
    if (expiryOf(task) <= Date.now()) return await this.fail(id, taskErrors.outOfTime())
    if (task.node === undefined || await this.#live.has(task.node)) return task
    return await this.failOfNode(id, task.node)
  }

  /** Changes a task in one step; undefined where there is none, or the change is not allowed. */
  async move (id: string, change: TaskChange): Promise<TaskRecord | undefined> {
    for (;;) {
      const task = await this.#read(id)
      const next = task && change(task, Date.now())
      if (task === undefined || next === undefined) return undefined
      const expires = this.storedUntil(next)
      const isNewRunner = next.node !== undefined && next.node !== task.node
      if (isNewRunner) {
        await this.#nodes.join()
        await this.#values.put(RUNNING, runningKey(next.node, id), 0, { expires })
      }
      const swapped = this.#values.swap(TASKS, id, task, next, { expires })
      if (await (isNewRunner ? this.#sweeper.noteFailure(id, swapped) : swapped)) {
        await this.#tidy(task, next)
        if (isFinal(next)) this.#onStep(next)
        return next
      }
    }
  }

  /** Completes a task of this node; one that has ended otherwise stays as it is. A result that is too long fails it. */
  async complete (id: string, result: object, isError: boolean): Promise<TaskRecord | undefined> {
    const { maxTaskResult, taskRetention } = this.limits
    const text = JSON.stringify(result)
    const { length } = text
    if (length > maxTaskResult) return await this.fail(id, taskErrors.resultTooLong(length, maxTaskResult))
    const task = await this.#read(id)
    if (task?.node !== this.node) return undefined
    const expires = this.storedUntil(task)
    const counted = await this.#bytes.add(task.owner, text, expires)
    if (typeof counted === 'string') return await this.fail(id, taskErrors.tooManyBytes('result', counted))
    let done: TaskRecord | undefined
    try {
      await this.#values.put(RESULTS, id, result, { expires })
      done = await this.move(id, complete(this.node, isError, taskRetention, counted))
      return done
    } finally {
      if (done === undefined) await this.#dropResult(task, counted).catch(() => {})
    }
  }

  /** Fails a task; one that has ended stays as it is. */
  async fail (id: string, error: WireError | McpError): Promise<TaskRecord | undefined> {
    return await this.move(id, fail(storableError(error), this.limits.taskRetention)) ?? await this.#read(id)
  }

  /** Cancels a task; one that has ended stays as it is. Its node hears of it with `onChange`. */
  async cancel (id: string): Promise<TaskRecord | undefined> {
    return await this.move(id, cancel(this.limits.taskRetention)) ?? await this.#read(id)
  }

  /** The result of a completed task. */
  async result (id: string): Promise<Params | undefined> {
    return await this.#values.get(RESULTS, id) as Params | undefined
  }

  /** The request that a task runs; undefined once it has ended. */
  async request (id: string): Promise<TaskRequest | undefined> {
    return await this.#values.get(REQUESTS, id) as TaskRequest | undefined
  }

  /** Stores the request for the next round. */
  async saveRequest (task: TaskRecord, request: TaskRequest): Promise<void> {
    await this.#values.put(REQUESTS, task.id, request, { expires: this.storedUntil(task) })
  }

  /** A page of the tasks of a principal, oldest first. */
  async list (owner: string, after: string | undefined, limit: number): Promise<TaskPage> {
    const keys = await this.#values.keys(ownerSpace(owner), { after, limit })
    const found = await Promise.all(keys.map(async key => await this.get(idOf(key))))
    const next = keys.length < limit ? undefined : keys.at(-1)
    return {
      tasks: found.filter(task => task !== undefined && task.owner === owner) as TaskRecord[],
      ...(next !== undefined && { next })
    }
  }

  /**
   * Adds a listener for changes of tasks at any node, without an id where any task may have changed; returns a function
   * that removes it.
   */
  onChange (listener: (id?: string) => void): () => void {
    const offs = [
      this.#values.onChange((space, key) => { if (space === TASKS) listener(key) }),
      this.#values.onMissedChanges(() => listener())
    ]
    return () => { for (const off of offs) off() }
  }

  /** Fails the tasks of nodes that have ended and those whose time is up, and removes what has expired. */
  async sweep (): Promise<void> {
    await this.#sweeper.sweep()
  }

  /** Removes a task and all that belongs to it; false if there was no such task. */
  async forget (task: TaskRecord): Promise<boolean> {
    await Promise.all([REQUESTS, RESULTS].map(async space => await this.#values.delete(space, task.id)))
    // Of several that forget it, one gets the record, and takes back its bytes.
    const last = await this.#values.take(TASKS, task.id) as TaskRecord | undefined
    await this.#bytes.remove(task.owner, last?.requestBytes)
    await this.#bytes.remove(task.owner, last?.resultBytes)
    await Promise.all([
      this.#values.delete(ownerSpace(task.owner), ownerKey(task)),
      this.#values.delete(DUE, dueKey(expiryOf(task), task.id)),
      ...(task.node === undefined ? [] : [this.#values.delete(RUNNING, runningKey(task.node, task.id))])
    ])
    return last !== undefined
  }

  /** Forgets a task that no process runs; where the store fails, it has failed with the next sweep. */
  async discard (task: TaskRecord): Promise<boolean> {
    return await this.forget(task).catch(() => {
      this.#sweeper.failAtSweep(task.id)
      return true
    })
  }

  /** Fails a task that a node runs which has ended, or frees it for another node where its work is done elsewhere. */
  async failOfNode (id: string, node: string): Promise<TaskRecord | undefined> {
    const change = fail(storableError(taskErrors.nodeEnded()), this.limits.taskRetention)
    const failed = await this.move(id, (task, now) =>
      release(node)(task, now) ?? (task.node === node ? change(task, now) : undefined))
    return failed ?? await this.#read(id)
  }

  async #read (id: string): Promise<TaskRecord | undefined> {
    const task = ID.test(id) ? await this.#values.get(TASKS, id) as TaskRecord | undefined : undefined
    return task === undefined || (isFinal(task) && expiryOf(task) <= Date.now()) ? undefined : task
  }

  /** Removes a result with which its task was not completed. */
  async #dropResult ({ id, owner }: TaskRecord, counted: CountedBytes | undefined): Promise<void> {
    if ((await this.#read(id))?.status === 'completed') return
    await this.#values.delete(RESULTS, id)
    await this.#bytes.remove(owner, counted)
  }

  /** Removes what a task needed before this change only. */
  async #tidy (before: TaskRecord, { id, node, status }: TaskRecord): Promise<void> {
    const removed = [
      ...(before.node === undefined || before.node === node
        ? []
        : [this.#values.delete(RUNNING, runningKey(before.node, id))]),
      ...(isFinal({ status })
        ? [this.#values.delete(REQUESTS, id), this.#bytes.remove(before.owner, before.requestBytes)]
        : [])
    ]
    // The next sweep removes what could not be removed now.
    await Promise.all(removed).catch(() => {})
  }

  /** Until when the store keeps a task: a sweep still finds it after its expiry. */
  storedUntil (task: TaskRecord): number {
    return expiryOf(task) + this.limits.taskRetention + SLACK
  }
}

const tooMany = (error: unknown, max: number, limit: string): unknown =>
  isFull(error) ? taskErrors.tooMany(max, limit) : error
