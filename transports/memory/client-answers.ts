import type { Awaitable } from '../../lib/awaitable.js'
import type { ElicitAnswer, Root, SampleAnswer } from '../../protocol/wire/client-answers.js'
import type { Answer, Json } from './client.js'

/** Functions that answer what tools ask. The client declares the capability of each that is there. */
export interface Answerers {
  /** Answers for the user: `() => ({ action: 'accept', content: { name: 'Ada' } })`. */
  elicit?: (params: Json & { message: string, requestedSchema?: Json, url?: string }) => Awaitable<ElicitAnswer>
  /** Answers for the model; a string is its text. */
  sample?: (params: Json & { messages: Json[], maxTokens: number }) => Awaitable<string | SampleAnswer>
  /** The folders of the client. */
  roots?: () => Awaitable<Root[]>
}

/** Makes answers by method of the functions of a test or program. */
export function answersOf ({ elicit, sample, roots }: Answerers): Record<string, Answer> {
  return {
    ...(elicit === undefined
      ? {}
      : { 'elicitation/create': async params => await elicit(params as Parameters<typeof elicit>[0]) }),
    ...(sample === undefined
      ? {}
      : { 'sampling/createMessage': async params => toAnswer(await sample(params as Parameters<typeof sample>[0])) }),
    ...(roots === undefined ? {} : { 'roots/list': async () => ({ roots: await roots() }) })
  }
}

export function capabilitiesOf ({ elicit, sample, roots }: Answerers): Json {
  return {
    ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(sample === undefined ? {} : { sampling: { tools: {} } }),
    ...(roots === undefined ? {} : { roots: {} })
  }
}

function toAnswer (answer: string | SampleAnswer): SampleAnswer {
  return typeof answer === 'string'
    ? { role: 'assistant', model: 'in-process', content: { type: 'text', text: answer } }
    : answer
}
