import { signal, type Signal } from '@preact/signals'
import { Cancelled, ConnectionLost, Declined, RpcError } from '../client/contract.js'
import type { Client, Handlers, Json, JsonObject, LogEntry, Progress, Question } from '../client/contract.js'
import { logLineOf, MAX_LINE, shorten, sizeOf, type LogLine } from './kept-text.js'
import type { Kind } from './route.js'

export type Outcome =
  | { type: 'result', result: JsonObject }
  | { type: 'error', code: number, message: string, data?: Json }
  /** `declined`: a question that the call cannot go on without. */
  | { type: 'cancelled', declined?: string }
  | { type: 'lost', why: string }
  /** Of a call before the last reload: it was too long to be kept. */
  | { type: 'left-out', failed: boolean }

/** A question that was answered, for the record of its call. */
export interface Answered { method: Question['method'], message: string, answer: string, at: number }

export interface Call {
  readonly id: number
  readonly kind: Kind
  /** The key of the item that was called. */
  readonly key: string
  readonly method: string
  readonly params: JsonObject
  readonly variables?: ReadonlyMap<string, string>
  readonly inputSchema?: Json | undefined
  readonly startedAt: number
  readonly endedAt: Signal<number | undefined>
  readonly progress: Signal<Progress | undefined>
  readonly logs: Signal<LogLine[]>
  readonly droppedLogs: Signal<number>
  readonly questions: Signal<Question[]>
  readonly answered: Signal<Answered[]>
  readonly outcome: Signal<Outcome | undefined>
  /** About how many characters it takes, when it has ended. */
  readonly size: Signal<number>
  readonly cancel: () => void
  /** Values of its params that may be secret were not kept over a reload. */
  readonly isRedacted?: boolean
}

/** A call of before a reload, as it was stored. */
export interface RestoredCall extends Pick<
  Call,
  'id' | 'kind' | 'key' | 'method' | 'params' | 'startedAt' | 'isRedacted'
> {
  variables?: Array<[string, string]>
  endedAt: number
  outcome: Outcome
}

export const MAX_CALLS = 100
export const MAX_LOGS = 1_000
/** Characters of all calls that have ended; the oldest ones go first. */
export const MAX_SIZE = 64 * 1024 * 1024

/** The calls of this tab, newest first. */
export const calls = signal<Call[]>([])
/** Calls that were lost with the last connection, until they were seen. */
export const lostCalls = signal<Call[]>([])

let lastId = 0

export interface CallRequest {
  kind: Kind
  key: string
  method: string
  params: JsonObject
  /** The values that a template was filled in with. */
  variables?: ReadonlyMap<string, string>
  /** The schema that the arguments of a tool had to fit. */
  inputSchema?: Json | undefined
}

/** Starts a call; everything about it is in its signals. */
export function startCall (client: Client, request: CallRequest): Call {
  const { method, params } = request
  const controller = new AbortController()
  const call: Call = {
    ...request,
    ...newSignals(),
    id: ++lastId,
    startedAt: Date.now(),
    cancel: () => controller.abort()
  }
  calls.value = dropOldest([call, ...calls.peek()])
  void client
    .request(method, params, handlersOf(call, controller.signal))
    .then(result => ({ type: 'result' as const, result }), outcomeOf)
    .then(outcome => end(call, outcome))
  return call
}

/** Puts calls of before a reload, newest first, behind those that there are. */
export function restoreCalls (stored: readonly RestoredCall[]): void {
  const restored = stored.map(({ variables, endedAt, outcome, ...rest }): Call => {
    const parts = newSignals()
    parts.endedAt.value = endedAt
    parts.outcome.value = outcome
    parts.size.value = sizeOf([rest.params, contentOf(outcome)])
    return {
      ...rest,
      ...parts,
      cancel: () => {},
      ...(variables === undefined ? {} : { variables: new Map(variables) })
    }
  })
  lastId = Math.max(lastId, ...stored.map(({ id }) => id))
  calls.value = dropOldest([...calls.peek(), ...restored])
}

/** Records how a question was answered, and answers it. */
export function answerQuestion (call: Call, question: Question, result: JsonObject, inWords: string): void {
  const { message } = question.params
  call.answered.value = [
    ...call.answered.peek(),
    {
      method: question.method,
      message: typeof message === 'string' ? shorten(message, MAX_LINE) : '',
      answer: inWords,
      at: Date.now()
    }
  ]
  question.answer(result)
}

/** Forgets every call, for another caller. */
export function forgetCalls (): void {
  calls.value = []
  lostCalls.value = []
}

export const isRunning = (call: Call): boolean => call.outcome.value === undefined

const newSignals = () => ({
  endedAt: signal<number | undefined>(undefined),
  progress: signal<Progress | undefined>(undefined),
  logs: signal<LogLine[]>([]),
  droppedLogs: signal(0),
  questions: signal<Question[]>([]),
  answered: signal<Answered[]>([]),
  outcome: signal<Outcome | undefined>(undefined),
  size: signal(0)
})

function end (call: Call, outcome: Outcome): void {
  call.endedAt.value = Date.now()
  call.outcome.value = outcome
  call.questions.value = []
  call.size.value = sizeOf([call.params, ...call.logs.peek().map(({ text }) => text), contentOf(outcome)])
  // One that was forgotten is not told to the next caller.
  if (outcome.type === 'lost' && calls.peek().includes(call)) lostCalls.value = [...lostCalls.peek(), call]
  calls.value = dropOldest(calls.peek())
}

function handlersOf (call: Call, signal: AbortSignal): Handlers {
  return {
    signal,
    onProgress: ({ message, ...progress }) => {
      call.progress.value = { ...progress, ...(message === undefined ? {} : { message: shorten(message, MAX_LINE) }) }
    },
    onLog: entry => addLog(call, entry),
    onQuestion: question => {
      call.questions.value = [...call.questions.peek(), question]
    },
    onQuestionGone: id => {
      call.questions.value = call.questions.peek().filter(question => question.id !== id)
    }
  }
}

function addLog ({ logs, droppedLogs }: Call, entry: LogEntry): void {
  const all = [...logs.peek(), logLineOf(entry)]
  if (all.length > MAX_LOGS) droppedLogs.value++
  logs.value = all.slice(-MAX_LOGS)
}

function outcomeOf (error: unknown): Outcome {
  if (error instanceof Declined) return { type: 'cancelled', declined: error.message }
  if (error instanceof Cancelled) return { type: 'cancelled' }
  if (error instanceof ConnectionLost) return { type: 'lost', why: error.message }
  if (error instanceof RpcError) {
    return {
      type: 'error',
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data })
    }
  }
  return { type: 'error', code: 0, message: String(error) }
}

const contentOf = (outcome: Outcome): Json =>
  outcome.type === 'result' ? outcome.result : outcome.type === 'error' ? [outcome.message, outcome.data ?? null] : null

/** Keeps the calls that still run, the one that ended last, and of the others as many as the limits allow. */
function dropOldest (all: Call[]): Call[] {
  const ended = all
    .filter(call => call.outcome.peek() !== undefined)
    .sort((a, b) => (b.endedAt.peek() ?? 0) - (a.endedAt.peek() ?? 0))
  let size = 0
  const dropped = new Set(
    ended.filter((call, index) => ((size += call.size.peek()) > MAX_SIZE ? index > 0 : index >= MAX_CALLS))
  )
  return dropped.size === 0 ? all : all.filter(call => !dropped.has(call))
}
