import type { CountedBytes } from './task-bytes.js'
import type { Params } from '../wire/jsonrpc.js'
import type { WireError } from '../wire/errors.js'

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** One question of a task to its client; `name` is the key that the author chose, `key` is unique in the task. */
export interface TaskQuestion {
  readonly key: string
  readonly name: string
  readonly method: string
  readonly params?: Params | undefined
}

/** A task as it is stored. Its result and its request are stored apart, so that reading its state costs little. */
export interface TaskRecord {
  readonly id: string
  /** `task` for the methods of tasks; `call` for a call that was answered before it ended. */
  readonly kind: 'task' | 'call'
  /** The principal that it belongs to; null for an anonymous caller, who has to know its id. */
  readonly owner: string | null
  /** The view that it was created in. */
  readonly view?: string | undefined
  /** The name of the tool as its client called it. */
  readonly tool: string
  /** The name of the tool in the operator's options, and the scopes that it needed. */
  readonly accessName?: string | undefined
  readonly scopes: readonly string[]
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  /** In milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** For how long after its creation it is kept. A task that has not ended by then fails. */
  readonly ttlMs: number
  readonly pollIntervalMs: number
  /** The node that runs it while it is `working`. */
  readonly node?: string | undefined
  /** True where its work is done elsewhere, so that any node can go on with it. */
  readonly follows?: true | undefined
  /** The questions that are not answered yet, and the answers to the others of the same round, by name. */
  readonly questions?: readonly TaskQuestion[] | undefined
  readonly answers?: ReadonlyArray<readonly [name: string, answer: unknown]> | undefined
  /** The keys of all questions that were ever asked. */
  readonly keys?: readonly string[] | undefined
  /** True for a completed task whose result reports a failure. */
  readonly isError?: true | undefined
  /** Why it failed. */
  readonly error?: WireError | undefined
  /** Counted bytes of the request, until the task has ended, and of the result; absent for short ones. */
  readonly requestBytes?: CountedBytes | undefined
  readonly resultBytes?: CountedBytes | undefined
}

/** The request that a task runs, and runs again with each round of answers. */
export interface TaskRequest {
  readonly params: Params
  readonly capabilities: Record<string, unknown>
  readonly client?: unknown
  /** Members of `_meta` that its spans are found by. */
  readonly trace?: Params | undefined
  /** The sealed state of earlier rounds. */
  readonly state?: string | undefined
  /** The digest of the proposal that a person approved before it became a task. */
  readonly approved?: string | undefined
}

/** A task as calls know it. */
export interface CallTask {
  readonly id: string
  /** True for those that do its work. */
  readonly runs: boolean
  /** In milliseconds, once it is stored. */
  readonly lifetime?: number | undefined
  /** The digest of the proposal that a person has approved. */
  readonly approved?: string | undefined
  /** Stores the state from which any node can go on with the work, where that is done elsewhere. */
  readonly keepState?: (state: string) => void
}

/** Ends the work of a task here, which another node goes on with. */
export const RELEASED = new Error('the task goes on at another node')

/** A change of a task; undefined where the task does not allow it. */
export type TaskChange = (task: TaskRecord, now: number) => TaskRecord | undefined

/** Gets a task that has been created, or has ended. */
export type TaskListener = (task: TaskRecord) => void

/** The most questions that one task may ask in all. */
const MAX_KEYS = 1_000
const MAX_STATUS_MESSAGE = 1_024

/** True for a task that does not change any more. */
export const isFinal = ({ status }: Pick<TaskRecord, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** When a task is not there any more; one that has not ended fails then, and is kept for a while. */
export const expiryOf = ({ createdAt, ttlMs }: TaskRecord): number => createdAt + ttlMs

/** Describes what a working task does. */
export const describeWork = (node: string, statusMessage: string): TaskChange => (task, now) =>
  task.status === 'working' && task.node === node
    ? { ...touch(task, now), statusMessage: cut(statusMessage) }
    : undefined

/** Notes that the work of a task of that node is done elsewhere. */
export const follow = (node: string): TaskChange => (task, now) =>
  task.status === 'working' && task.node === node ? { ...touch(task, now), follows: true } : undefined

/** Takes a task that can go on elsewhere from its node. */
export const release = (node: string): TaskChange => (task, now) => {
  if (task.status !== 'working' || task.node !== node || task.follows !== true) return undefined
  const { node: _, ...rest } = touch(task, now)
  return rest
}

/** True for a task that works, and waits for a node that goes on with it. */
export const isReleased = ({ status, node }: TaskRecord): boolean => status === 'working' && node === undefined

/** Gives a task that waits for a node to that one. */
export const adopt = (node: string): TaskChange => (task, now) =>
  isReleased(task) ? { ...touch(task, now), node } : undefined

/** Ends a round of a task at that node with questions; no process holds the task until they are answered. */
export const askInTask =
  (node: string, asked: ReadonlyArray<Omit<TaskQuestion, 'key'>>): TaskChange =>
    (task, now) => {
      if (task.status !== 'working' || task.node !== node || asked.length === 0) return undefined
      const keys = [...task.keys ?? []]
      const questions = asked.map(question => {
        const key = unusedKey(question.name, keys)
        keys.push(key)
        return { ...question, key }
      })
      if (keys.length > MAX_KEYS) {
        return fail({ code: -32603, message: `The task has asked more than ${MAX_KEYS} questions` }, 0)(task, now)
      }
      const { node: _, ...rest } = touch(task, now)
      return { ...rest, status: 'input_required', questions, answers: [], keys }
    }

/**
 * Takes answers by key. Keys that are not open are ignored. A bad answer is asked for again under a new key; the last
 * good one makes the task work at that node.
 */
export const answerTask =
  (
    node: string,
    responses: Readonly<Record<string, unknown>>,
    isGood: (question: TaskQuestion, answer: unknown) => boolean
  ): TaskChange =>
    (task, now) => {
      const { questions = [], answers = [], keys = [] } = task
      const given = questions.filter(({ key }) => Object.hasOwn(responses, key))
      if (task.status !== 'input_required' || given.length === 0) return undefined
      const used = [...keys]
      const open: TaskQuestion[] = []
      const taken: Array<readonly [string, unknown]> = [...answers]
      for (const question of questions) {
        if (!given.includes(question)) {
          open.push(question)
        } else if (isGood(question, responses[question.key])) {
          taken.push([question.name, responses[question.key]])
        } else {
          const key = unusedKey(question.name, used)
          used.push(key)
          open.push({ ...question, key })
        }
      }
      if (used.length > MAX_KEYS) {
        return fail({ code: -32602, message: `${MAX_KEYS} answers to the questions of the task were wrong` }, 0)(task, now)
      }
      const next = { ...touch(task, now), keys: used, answers: taken }
      if (open.length > 0) return { ...next, questions: open }
      const { questions: _, ...rest } = next
      return { ...rest, status: 'working', node }
    }

/** Completes a working task of that node; it is kept for at least `retention` milliseconds more. */
export const complete =
  (node: string, isError: boolean, retention: number, resultBytes?: CountedBytes): TaskChange =>
    (task, now) => {
      if (task.status !== 'working' || task.node !== node) return undefined
      return { ...endTask(task, 'completed', now, retention), ...(isError && { isError }), ...(resultBytes && { resultBytes }) }
    }

/** Fails a task that has not ended. */
export const fail = (error: WireError, retention: number): TaskChange => (task, now) =>
  isFinal(task) ? undefined : { ...endTask(task, 'failed', now, retention), statusMessage: cut(error.message), error }

/** Cancels a task that has not ended. */
export const cancel = (retention: number): TaskChange => (task, now) =>
  isFinal(task) ? undefined : endTask(task, 'cancelled', now, retention)

function endTask (task: TaskRecord, status: TaskStatus, now: number, retention: number): TaskRecord {
  const { node, questions, answers, keys, statusMessage, requestBytes, ...rest } = touch(task, now)
  return { ...rest, status, ttlMs: Math.max(task.ttlMs, rest.updatedAt - task.createdAt + retention) }
}

// The clock may be set back.
const touch = (task: TaskRecord, now: number): TaskRecord =>
  ({ ...task, updatedAt: Math.max(task.updatedAt, Math.floor(now)) })

function unusedKey (name: string, used: readonly string[]): string {
  if (!used.includes(name)) return name
  for (let number = 2; ; number++) if (!used.includes(`${name}#${number}`)) return `${name}#${number}`
}

const cut = (text: string): string =>
  text.length > MAX_STATUS_MESSAGE ? `${text.slice(0, MAX_STATUS_MESSAGE)}…` : text

/** The longest text of an error, and the longest JSON of its data, that are stored. */
const MAX_MESSAGE = 4_096
const MAX_DATA = 16_384

/** The error of a failed task, without data that would make its record long. */
export function storableError ({ code, message, data }: WireError): WireError {
  const fits = data !== undefined && (JSON.stringify(data) ?? '').length <= MAX_DATA
  return { code, message: message.slice(0, MAX_MESSAGE), ...(fits && { data }) }
}
