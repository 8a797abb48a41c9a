import type { ElicitAnswer } from '../../protocol/wire/client-answers.js'
import { errors, type McpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { McpConnection, UpstreamRequest } from '../ports.js'
import { readInputRequired } from '../relay/questions/input-required.js'
import { notOffered, type Question } from '../relay/questions/question.js'
import { demandsPages } from '../relay/questions/required-pages.js'

/** Answers the questions of a server. */
export interface Asked {
  /** Answers `elicitation/create`; the signal aborts when the server takes the question back. */
  elicit (params: Params, signal: AbortSignal): Promise<ElicitAnswer>
}

export interface Rounds {
  readonly connection: McpConnection
  readonly events: Asked
  /** How often the server may ask during one request. */
  readonly max: number
  readonly server: string
}

/** Sends a request to a server without a handshake, again and again with the answers that it asks for. */
export async function finishRounds (
  request: UpstreamRequest,
  signal: AbortSignal,
  { connection, events, max, server }: Rounds
): Promise<Params> {
  let next = request
  for (let round = 0; ; round++) {
    const result = await connection.request(next)
    const asked = readInputRequired(result, request.method, connection.revision, server)
    if (asked === undefined) return result
    if (round >= max) throw tooOften(server, max)
    const inputResponses = await answerAll(asked.questions, events, signal, server)
    signal.throwIfAborted()
    next = {
      ...request,
      params: {
        ...request.params,
        ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
        ...(asked.state === undefined ? {} : { requestState: asked.state })
      }
    }
  }
}

/**
 * Makes an attempt, and another one when the user has opened the pages that the server demands first. Rejects with the
 * demand when the user does not open them.
 */
export async function openPages (
  attempt: () => Promise<Params>,
  signal: AbortSignal,
  { events, max, server }: Rounds
): Promise<Params> {
  for (let round = 0; ; round++) {
    try {
      return await attempt()
    } catch (error) {
      if (!demandsPages(error)) throw error
      if (round >= max) throw tooOften(server, max)
      const pages = pagesOf(error)
      if (pages.length === 0) throw error
      for (const page of pages) {
        const { action } = await events.elicit({ mode: 'url', ...page }, signal)
        if (action !== 'accept') throw error
      }
    }
  }
}

const pagesOf = ({ data }: McpError): Params[] =>
  isObject(data) && Array.isArray(data.elicitations) ? data.elicitations.filter(isObject) : []

/** Answers questions one after the other, by key. */
export async function answerAll (
  questions: Readonly<Record<string, Question>>,
  events: Rounds['events'],
  signal: AbortSignal,
  server: string
): Promise<Record<string, object>> {
  const answers: Record<string, object> = {}
  for (const [key, question] of Object.entries(questions)) answers[key] = await answer(question, events, signal, server)
  return answers
}

async function answer (
  question: Question,
  events: Rounds['events'],
  signal: AbortSignal,
  server: string
): Promise<object> {
  if (question.method === 'roots/list') return { roots: [] }
  if (question.method !== 'elicitation/create') throw errors.upstreamFailed(server, notOffered(question))
  return await events.elicit(question.params, signal)
}

const tooOften = (server: string, max: number): Error =>
  errors.upstreamFailed(server, `it asks more than ${max} times during one call (limit maxUpstreamRounds)`)
