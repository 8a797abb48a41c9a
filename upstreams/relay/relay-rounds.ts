import { setTimeout } from 'node:timers/promises'
import { createAbortController, onAbort } from '../../lib/abort.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { standInFor } from '../../protocol/questions/stand-in.js'
import { errors, isMcpError, type WireError } from '../../protocol/wire/errors.js'
import type { McpConnection, UpstreamRequest } from '../ports.js'
import { askClient } from './direct-call.js'
import { readInputRequired, type InputRequired } from './questions/input-required.js'
import { isAnswerable, isPage, notOffered, type Question } from './questions/question.js'
import { withoutReservedMeta } from './relayed-params.js'
import { requestTraced } from './request-traced.js'

/** How often an upstream may ask for another round in a row without a question. */
const MAX_EMPTY_ROUNDS = 3

/** The first wait before a page is taken for granted again, in milliseconds; each further one is twice as long. */
const PAGE_WAIT = 1_000

/**
 * A client with a handshake, an upstream without: the client's request stays open while each question of the upstream
 * becomes a request to the client, and the call is repeated with the answers, at most `maxRounds` times.
 */
export async function relayRounds (
  call: Call,
  upstream: string,
  connection: McpConnection,
  request: UpstreamRequest,
  maxRounds: number,
  pageWait = PAGE_WAIT
): Promise<Record<string, unknown>> {
  const pages = new AcceptedPages(pageWait)
  let next = request
  for (let round = 0, empty = 0; ; round++) {
    const result = await requestTraced(call, connection, next)
    const asked = readInputRequired(result, request.method, connection.revision, upstream)
    if (asked === undefined) return result
    empty = Object.keys(asked.questions).length === 0 ? empty + 1 : 0
    if (round >= maxRounds) {
      throw errors.upstreamFailed(
        upstream,
        `it asks more than ${maxRounds} times during one call (limit maxUpstreamRounds)`
      )
    }
    if (empty > MAX_EMPTY_ROUNDS) {
      throw errors.upstreamFailed(upstream, `it asked ${empty} times for another round without a question`)
    }
    const inputResponses = await answerAll(call, upstream, request.capabilities ?? {}, asked, pages)
    call.signal.throwIfAborted()
    next = {
      ...request,
      params: {
        ...request.params,
        ...(empty > 0 ? {} : { inputResponses }),
        ...(asked.state === undefined ? {} : { requestState: asked.state })
      }
    }
  }
}

/**
 * Pages that the user agreed to open. An upstream that asks again still waits for the user, who need not be asked
 * again.
 */
export class AcceptedPages {
  readonly #urls = new Set<unknown>()
  #wait: number

  constructor (wait: number) {
    this.#wait = wait
  }

  includes (question: Question): boolean {
    return isPage(question) && this.#urls.has(question.params.url)
  }

  add (question: Question, answer: object): void {
    if (isPage(question) && 'action' in answer && answer.action === 'accept') this.#urls.add(question.params.url)
  }

  async wait (call: Call): Promise<void> {
    const ms = this.#wait
    this.#wait *= 2
    call.response.deadline?.hold()
    try {
      await setTimeout(ms, undefined, { signal: call.signal })
    } finally {
      call.response.deadline?.release()
    }
  }
}

/** All answers, by key. When one cannot be had, the other questions are taken back. */
export async function answerAll (
  call: Call,
  upstream: string,
  declared: Readonly<Record<string, unknown>>,
  { questions }: InputRequired,
  pages: AcceptedPages
): Promise<Record<string, object>> {
  const entries = Object.entries(questions).map(
    ([key, { method, params }]) => [key, { method, params: withoutReservedMeta(params) }] as const
  )
  for (const [, question] of entries) {
    const isForOperator = 'elicitation' in declared && standInFor(call.ruled, question) !== undefined
    if (isForOperator || isAnswerable(question, declared, call.revision)) continue
    throw errors.upstreamFailed(upstream, notOffered(question))
  }
  if (entries.some(([, question]) => pages.includes(question))) await pages.wait(call)
  const controller = createAbortController()
  const off = onAbort(call.signal, () => controller.abort(call.signal.reason))
  try {
    return Object.fromEntries(
      await Promise.all(
        entries.map(async ([key, question]) => [key, await answerOne(call, question, pages, controller.signal)])
      )
    )
  } catch (error) {
    controller.abort(error)
    throw error
  } finally {
    off()
  }
}

async function answerOne (call: Call, question: Question, pages: AcceptedPages, signal: AbortSignal): Promise<object> {
  if (pages.includes(question)) return { action: 'accept' }
  try {
    const answer = await askClient(call, question, signal)
    pages.add(question, answer)
    return answer
  } catch (error) {
    // Without a way to give the client's error to the upstream, it is the end of the call.
    throw isMcpError(error) ? errors.clientFailed(question.method, error as WireError) : error
  }
}
