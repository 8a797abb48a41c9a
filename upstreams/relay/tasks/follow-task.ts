import { onAbort } from '../../../lib/abort.js'
import { growingDelay } from '../../../lib/time.js'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../../../protocol/dispatch/call.js'
import { RELEASED } from '../../../protocol/tasks/task-record.js'
import { codes, errors, fromWire, isErrorCode, isMcpError, type ErrorCode } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection, McpConnection, Upstream, UpstreamRequest } from '../../ports.js'
import { askableCapabilities } from '../askable-capabilities.js'
import { callerOf } from '../client-of.js'
import { answersFor, carryState } from '../questions/carried-state.js'
import { readInputRequired, type InputRequired } from '../questions/input-required.js'
import { isAnswerable, notOffered } from '../questions/question.js'
import { AcceptedPages, answerAll } from '../relay-rounds.js'
import { TASKS, withoutTask } from './upstream-task.js'

type Result = Record<string, unknown>

/** Sends `tasks/result`, whose questions are those of the call. */
export type AwaitResult = (connection: McpConnection, params: Params) => Promise<Result>

/** The bounds of the time between two looks at a task, and that of one that does not say, in milliseconds. */
const INTERVAL = { least: 100, usual: 1_000, most: 30_000 }
/** How often a server that cannot be reached is tried again, and the first and longest delay between. */
const ATTEMPTS = 6
const DELAYS = [500, 10_000] as const
/** For how long an answer to a cancellation is waited for, in milliseconds. */
const CANCEL_WITHIN = 10_000
/** For how long the place of a task is remembered with a task of ours, which ends before. */
const REMEMBERED = 400 * 24 * 3_600_000

const PAGE_WAIT = 1_000
/** Errors that say nothing about the task. */
const UNREACHABLE = new Set<unknown>(['PATCHBAY_UPSTREAM_LOST', 'PATCHBAY_UPSTREAM_UNAVAILABLE'])

/**
 * Waits for the task of an upstream that a call became, and gives the result of the call. The task is cancelled where
 * the call ends before it, unless another node goes on with it.
 */
export async function followTask (
  call: Call,
  upstream: Upstream,
  id: string,
  awaitResult: AwaitResult
): Promise<Result> {
  const followed = new FollowedTask(call, upstream, id, awaitResult)
  if (call.task?.runs === true) {
    call.task.keepState?.(carryState(call, { upstream: upstream.entry.alias, task: id }, REMEMBERED))
  }
  // A call may end while nothing here waits for its signal.
  const off = onAbort(call.signal, () => followed.cancel())
  try {
    return await followed.result()
  } catch (error) {
    followed.cancel()
    throw error
  } finally {
    off()
  }
}

class FollowedTask {
  readonly #call: Call
  readonly #upstream: Upstream
  readonly #alias: string
  readonly #id: string
  readonly #awaitResult: AwaitResult
  readonly #answered = new Set<string>()
  /** True once the upstream's task has ended, or was cancelled. */
  #isOver = false
  #looks = 0
  #seen: string | undefined

  constructor (call: Call, upstream: Upstream, id: string, awaitResult: AwaitResult) {
    this.#call = call
    this.#upstream = upstream
    this.#alias = upstream.entry.alias
    this.#id = id
    this.#awaitResult = awaitResult
  }

  async result (): Promise<Result> {
    const connection = await this.#reach(async connection => connection)
    if (connection.revision === undefined) throw this.#failed('it does not speak MCP any more')
    if (connection.revision.tasks === 'extension') return await this.#poll()
    if (connection.revision.tasks === 'none') throw this.#failed('it has no tasks any more')
    const result = await this.#reach(async connection =>
      await this.#awaitResult(connection as McpConnection, { taskId: this.#id }), true)
    if (result.resultType !== 'input_required') this.#isOver = true
    return withoutTask(result)
  }

  /** Cancels the task at the upstream, which may end it otherwise. */
  cancel (): void {
    if (this.#isOver || this.#call.signal.reason === RELEASED) return
    this.#isOver = true
    const signal = AbortSignal.timeout(CANCEL_WITHIN)
    void this.#connect().then(async connection => await connection.request({
      ...this.#request('tasks/cancel'), cancellation: undefined, signal
    })).catch(() => {})
  }

  async #poll (): Promise<Result> {
    const carried = this.#call.params.requestState === undefined ? {} : answersFor(this.#call) ?? {}
    if (Object.keys(carried).length > 0) await this.#update(carried)
    const pages = new AcceptedPages(PAGE_WAIT)
    for (let rounds = 0; ;) {
      const task = await this.#look()
      if (task.status === 'completed') return this.#completed(task.result)
      if (task.status === 'failed') throw this.#end(fromWire(this.#errorIn(task.error)))
      if (task.status === 'cancelled') throw this.#end(this.#failed('it cancelled the task of this call'))
      const asked = this.#questionsIn(task)
      if (asked !== undefined) {
        if (this.#call.revision.stateless) return this.#ask(asked)
        const { entry, maxRounds } = this.#upstream
        if (++rounds > maxRounds) throw this.#failed('it asks too often during one call (limit maxUpstreamRounds)')
        const declared = askableCapabilities(this.#call, entry)
        await this.#update(await answerAll(this.#call, this.#alias, declared, asked, pages))
      } else await sleep(intervalOf(task), undefined, { signal: this.#call.signal, ref: false })
    }
  }

  async #look (): Promise<Result> {
    const task = await this.#send('tasks/get')
    if (task.status !== 'working' && task.status !== 'input_required' && !ENDS.has(task.status)) {
      throw this.#failed('it answered tasks/get with a status that is not known')
    }
    const { statusMessage } = task
    const seen = JSON.stringify([task.status, statusMessage, task.lastUpdatedAt])
    if (seen !== this.#seen) {
      this.#seen = seen
      this.#call.progress(++this.#looks, undefined, typeof statusMessage === 'string' ? statusMessage : undefined)
    }
    return task
  }

  async #update (inputResponses: Readonly<Record<string, unknown>>): Promise<void> {
    for (const key of Object.keys(inputResponses)) this.#answered.add(key)
    await this.#send('tasks/update', { inputResponses })
  }

  /** The questions that are not answered yet; a server may go on showing others for a moment. */
  #questionsIn ({ status, inputRequests }: Result): InputRequired | undefined {
    if (status !== 'input_required' || !isObject(inputRequests)) return undefined
    const open = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (open.length === 0) return undefined
    const result = { resultType: 'input_required', inputRequests: Object.fromEntries(open) }
    const asked = readInputRequired(result, 'tools/call', this.#call.revision, this.#alias)
    const declared = askableCapabilities(this.#call, this.#upstream.entry)
    for (const question of Object.values(asked?.questions ?? {})) {
      if (!isAnswerable(question, declared, this.#call.revision)) throw this.#failed(notOffered(question))
    }
    return asked
  }

  #ask ({ questions }: InputRequired): Result {
    const { deferred } = this.#call.clientRequests
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(Object.entries(questions).map(
        ([key, { method, params }]) => [key, { method, params: deferred.add(method, params) }]
      )),
      requestState: carryState(
        this.#call,
        { upstream: this.#alias, task: this.#id },
        this.#call.task === undefined ? undefined : REMEMBERED
      )
    }
  }

  #completed (result: unknown): Result {
    this.#isOver = true
    if (!isObject(result)) throw this.#failed('its task has ended without a result')
    return withoutTask(result)
  }

  #errorIn (error: unknown): { code: number, message: string, data?: unknown } {
    if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== 'string') {
      throw this.#end(this.#failed('its task has failed without an error'))
    }
    return { code: Number(error.code), message: error.message, data: error.data }
  }

  async #send (method: string, more: Params = {}): Promise<Result> {
    return await this.#reach(async connection => await connection.request(this.#request(method, more)))
  }

  #request (method: string, more: Params = {}): UpstreamRequest {
    return {
      method,
      params: { taskId: this.#id, ...more },
      cancellation: this.#call.response.cancellation,
      caller: callerOf(this.#call),
      capabilities: { ...askableCapabilities(this.#call, this.#upstream.entry), ...TASKS }
    }
  }

  /** Does something with the connection, and again where the server cannot be reached for a moment. */
  async #reach<T> (use: (connection: Connection) => Promise<T>, isResult = false): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await use(await this.#connect())
      } catch (error) {
        this.#call.signal.throwIfAborted()
        const own = this.#ownCode(error)
        if (!UNREACHABLE.has(own)) throw own === undefined ? this.#inOurWords(error, isResult) : error
        if (attempt === ATTEMPTS) throw error
      }
      await sleep(growingDelay(...DELAYS, attempt), undefined, { signal: this.#call.signal, ref: false })
    }
  }

  /** The code of an error of ours about the server; undefined for its own errors, as those of another gateway. */
  #ownCode (error: unknown): ErrorCode | undefined {
    const { code, upstream } = isMcpError(error) && isObject(error.data) ? error.data : {}
    return upstream === this.#alias && isErrorCode(code) ? code : undefined
  }

  // An error of the server about the id would tell the client what its task is called there.
  #inOurWords (error: unknown, isResult: boolean): unknown {
    if (!isMcpError(error)) return error
    const namesTask = JSON.stringify([error.message, error.data ?? null]).includes(this.#id)
    const isUnknown = error.code === codes.invalidParams && (!isResult || namesTask)
    this.#isOver ||= isUnknown || isResult
    if (isUnknown) return this.#failed('it does not know the task of this call any more; whether the call took effect is not known')
    return namesTask ? this.#failed(`it answered a request about the task of this call with an error (${error.code})`) : error
  }

  async #connect (): Promise<Connection> {
    return this.#upstream.openConnection() ?? await this.#upstream.connectionFor(this.#call)
  }

  #failed (why: string): Error {
    return errors.upstreamFailed(this.#alias, why)
  }

  #end (error: Error): Error {
    this.#isOver = true
    return error
  }
}

const ENDS = new Set<unknown>(['completed', 'failed', 'cancelled'])

function intervalOf ({ pollIntervalMs }: Result): number {
  const { least, usual, most } = INTERVAL
  return typeof pollIntervalMs === 'number' ? Math.min(most, Math.max(least, pollIntervalMs)) : usual
}
