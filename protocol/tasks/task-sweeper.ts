import type { Values } from '../store.js'
import type { McpError } from '../wire/errors.js'
import { taskErrors } from '../wire/task-errors.js'
import type { LiveNodes } from './live-nodes.js'
import { expiryOf, isFinal, type TaskRecord } from './task-record.js'
import { dueKey, headOf, idOf, SPACES, timeOf } from './task-spaces.js'

const { tasks: TASKS, requests: REQUESTS, results: RESULTS, due: DUE, running: RUNNING } = SPACES
const BATCH = 100

/** The tasks that are swept. */
interface Swept {
  readonly node: string
  fail: (id: string, error: McpError) => Promise<TaskRecord | undefined>
  failOfNode: (id: string, node: string) => Promise<TaskRecord | undefined>
  forget: (task: TaskRecord) => Promise<boolean>
  storedUntil: (task: TaskRecord) => number
}

/** Finds the tasks of nodes that have ended, and those whose time is up; reads of the others one key for each node. */
export class TaskSweeper {
  readonly #values: Values
  readonly #tasks: Swept
  readonly #live: LiveNodes
  /** Tasks that may be stored as working at this node, which does not run them. */
  readonly #unrun = new Set<string>()
  #isPurged = false

  constructor (values: Values, tasks: Swept, live: LiveNodes) {
    this.#live = live
    this.#values = values
    this.#tasks = tasks
  }

  /** Fails a task at the next sweep if it works at this node, which does not run it. */
  failAtSweep (id: string): void {
    this.#unrun.add(id)
  }

  /** Notes where the step by which a task works at this node fails: the store may have taken it all the same. */
  async noteFailure (id: string, step: Promise<boolean>): Promise<boolean> {
    try {
      const isTaken = await step
      if (isTaken) this.#unrun.delete(id)
      return isTaken
    } catch (error) {
      this.#unrun.add(id)
      throw error
    }
  }

  async sweep (): Promise<void> {
    this.#live.clear()
    for (const id of this.#unrun) {
      await this.#tasks.failOfNode(id, this.#tasks.node)
      this.#unrun.delete(id)
    }
    if (!this.#isPurged) await this.#purge()
    await this.#sweepNodes()
    await this.#sweepDue()
  }

  // Stores remove what expired while no gateway ran when a value is put that is counted.
  async #purge (): Promise<void> {
    for (const space of [REQUESTS, RESULTS, DUE, RUNNING]) {
      await this.#values.put(space, '.', 0, { expires: Date.now(), max: Number.MAX_SAFE_INTEGER })
    }
    this.#isPurged = true
  }

  async #sweepNodes (): Promise<void> {
    for (let after: string | undefined; ;) {
      const [first] = await this.#values.keys(RUNNING, { after, limit: 1 })
      if (first === undefined) return
      const node = headOf(first)
      if (!await this.#live.has(node)) await this.#sweepNode(node)
      after = `${node}.\u{10ffff}`
    }
  }

  async #sweepNode (node: string): Promise<void> {
    for (let after = `${node}.`; ;) {
      const keys = await this.#values.keys(RUNNING, { after, limit: BATCH })
      const own = keys.filter(key => headOf(key) === node)
      for (const key of own) {
        await this.#tasks.failOfNode(idOf(key), node)
        await this.#values.delete(RUNNING, key)
      }
      const last = own.at(-1)
      if (own.length < BATCH || last === undefined) return
      after = last
    }
  }

  async #sweepDue (): Promise<void> {
    for (;;) {
      const keys = await this.#values.keys(DUE, { limit: BATCH })
      const due = keys.filter(key => !(timeOf(key) > Date.now()))
      for (const key of due) await this.#settle(key)
      if (due.length < BATCH) return
    }
  }

  /** A task that is due fails, or waits for its later expiry, or is removed. */
  async #settle (key: string): Promise<void> {
    const id = idOf(key)
    const found = await this.#values.get(TASKS, id) as TaskRecord | undefined
    const isLate = found !== undefined && !isFinal(found) && expiryOf(found) <= Date.now()
    const task = isLate ? await this.#tasks.fail(id, taskErrors.outOfTime()) : found
    if (task !== undefined && expiryOf(task) > Date.now()) {
      await this.#values.put(DUE, dueKey(expiryOf(task), id), 0, { expires: this.#tasks.storedUntil(task) })
    } else if (task !== undefined) await this.#tasks.forget(task)
    await this.#values.delete(DUE, key)
  }
}
