import type { FastifyBaseLogger } from 'fastify'
import { createAbortController } from '../../../lib/abort.js'
import { canonicalName } from '../../../protocol/definitions/common-members.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { encode } from '../../../protocol/dispatch/responder.js'
import type { Observers } from '../../../protocol/dispatch/observers.js'
import { convert } from '../../../protocol/revisions/convert.js'
import type { Server } from '../../../protocol/revisions/revision.js'
import { persist } from '../../../protocol/tasks/persist.js'
import type { StoredTasks } from '../../../protocol/tasks/stored-tasks.js'
import { expiryOf, isFinal, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import { errors, type McpError, type WireError } from '../../../protocol/wire/errors.js'
import { META } from '../../../protocol/wire/meta.js'
import { isObject } from '../../../protocol/wire/json.js'
import { now } from '../../../lib/time.js'
import { CALL_URI, earlyResult } from './sentences.js'

/** The parts of the gateway that early answers need. */
export interface Answering {
  readonly tasks: StoredTasks
  readonly server: Server
  readonly observers: Pick<Observers, 'earlyAnswer'>
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  /** True where the client of a view can call the tool of that name by which results are fetched. */
  readonly isListed: (name: string, view: string | undefined) => boolean
}

/** How much of the grace period calls have before they are given up: their outcome has to be stored, too. */
const SHARE = 0.8

/** Calls that were answered before they ended. They run here, and are stored with their results for their owners. */
export class EarlyAnswers {
  readonly #parts: Answering
  readonly #running = new Map<string, Call>()
  readonly #storing = new Set<Promise<unknown>>()
  readonly #stop: () => void
  readonly #closing = createAbortController()
  #isDraining = false

  constructor (parts: Answering) {
    this.#parts = parts
    this.#stop = parts.tasks.onChange(id => this.#follow(id))
  }

  /**
   * Answers a call that still runs with where its result will be. One that has asked its client something, or of which
   * no record can be stored, goes on as before.
   */
  async answer (call: Call, tool: Tool): Promise<void> {
    if (this.#isDraining || !mayAnswer(call)) return
    const task = await this.#create(call, tool)
    if (task === undefined) return
    if (this.#isDraining || !mayAnswer(call)) {
      await this.#parts.tasks.discard(task)
      return
    }
    const { revision, response, peer } = call
    const { server, observers, isListed, log } = this.#parts
    const elapsed = Math.round(now() - response.startedAt)
    const result = earlyResult(task, elapsed, name => isListed(name, peer.view))
    const text = call.channel.encodeAccepted?.(CALL_URI + task.id) ??
      encode(call, convert.callResult(result, revision.features), server)
    this.#running.set(task.id, call)
    response.deadline?.allowUntil(now() + expiryOf(task) - Date.now())
    call.channel = this.#sinkOf(task, call)
    response.divert(text, call.channel)
    observers.earlyAnswer.notify(call)
    const name = canonicalName(tool)
    log.info({ tool: name, principal: call.principal, call: task.id }, `tool ${name}: answered early after ${elapsed} ms`)
  }

  /** Takes no more calls, and waits for those that run; they are given up when most of the grace period is over. */
  async drain (graceMs: number): Promise<void> {
    this.#isDraining = true
    const giveUp = (): void => { for (const call of this.#running.values()) call.response.giveUp(errors.closing()) }
    const timer = setTimeout(giveUp, graceMs * SHARE).unref()
    while (this.#running.size + this.#storing.size > 0) {
      await Promise.allSettled([
        ...this.#storing,
        ...[...this.#running.values()].map(async call => await call.response.finished)
      ])
    }
    clearTimeout(timer)
  }

  async close (): Promise<void> {
    this.#stop()
    this.#closing.abort()
    await Promise.allSettled(this.#storing)
  }

  async #create (call: Call, tool: Tool): Promise<TaskRecord | undefined> {
    try {
      return await this.#parts.tasks.create({
        kind: 'call',
        owner: call.principal ?? null,
        view: call.peer.view,
        tool: tool.name,
        accessName: canonicalName(tool),
        scopes: call.target?.scopes ?? []
      })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#parts.log.warn({ tool: canonicalName(tool) }, `tool ${canonicalName(tool)}: not answered early: ${why}`)
      return undefined
    }
  }

  /** The channel of the call from now on: the response is stored, and nothing else is sent any more. */
  #sinkOf (task: TaskRecord, call: Call): Channel {
    const { id } = task
    const { headers, address, narrowing, proxied } = call.channel
    return {
      streams: false,
      isAnswered: true,
      headers,
      address,
      narrowing,
      proxied,
      emit: () => {},
      respond: text => {
        this.#running.delete(id)
        const stored = this.#store(task, text)
        this.#storing.add(stored)
        void stored.then(() => this.#storing.delete(stored))
      },
      end: () => { this.#running.delete(id) }
    }
  }

  async #store (task: TaskRecord, text: string): Promise<void> {
    const { tasks, log } = this.#parts
    const { id } = task
    const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>, error?: WireError }
    await persist(async () => {
      if (error !== undefined) await tasks.fail(id, error)
      else if (result === undefined || isQuestion(result)) await tasks.fail(id, refusalOf(result))
      else await tasks.complete(id, withoutHop(result), result.isError === true)
    }, { until: expiryOf(task), signal: this.#closing.signal, onFault: fault => log.error(fault) })
  }

  /** Ends calls that ended in the store: their owners cancelled them, perhaps at another node, or their time is up. */
  #follow (id: string | undefined): void {
    for (const running of id === undefined ? [...this.#running.keys()] : [id]) {
      if (this.#running.has(running)) this.#check(running).catch((error: unknown) => this.#parts.log.error(error))
    }
  }

  async #check (id: string): Promise<void> {
    const task = await this.#parts.tasks.get(id)
    if (task === undefined || isFinal(task)) this.#running.get(id)?.response.cancel(CANCELLED)
  }
}

const CANCELLED = new Error('cancelled by its caller, after it was answered early')

/** True for a call that runs and whose client was asked nothing: the answer could not find it any more. */
const mayAnswer = ({ response, clientRequests, channel, task }: Call): boolean =>
  task === undefined && !response.isClosed && !clientRequests.hasAsked && channel.isAnswered !== true

const isQuestion = ({ resultType }: Record<string, unknown>): boolean =>
  resultType !== undefined && resultType !== 'complete'

function refusalOf ({ inputRequests }: Record<string, unknown> = {}): McpError {
  const [first] = isObject(inputRequests) ? Object.values(inputRequests) : []
  return errors.cannotAsk(isObject(first) ? String(first.method) : 'input', 'its request was answered before it ended')
}

/** Without what belongs to the response that the client would have got. */
function withoutHop ({ resultType, _meta, ...result }: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(_meta)) return result
  const { [META.serverInfo]: _, ...meta } = _meta
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}
