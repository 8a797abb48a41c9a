import t from 'tap'
import { Cancelled, ConnectionLost, Declined, RpcError, type Client, type Handlers, type JsonObject, type Question } from '../../../console/client/contract.js'
import { answerQuestion, calls, forgetCalls, lostCalls, MAX_CALLS, MAX_LOGS, startCall } from '../../../console/state/calls.js'
import { until } from '../../support/wait.js'

const REQUEST = { kind: 'tool' as const, key: 'x', method: 'tools/call', params: { name: 'x', arguments: {} } }

/** A client that answers as the test says. */
function answering (answer: (handlers: Handlers) => Promise<JsonObject>): Client {
  return { era: 'modern', server: { name: 's', version: '1', revision: 'r', capabilities: {} }, request: async (_method, _params, handlers = {}) => await answer(handlers), onNotification: () => () => {}, subscribe: async () => () => {} }
}

const ended = async (answer: (handlers: Handlers) => Promise<JsonObject>) => {
  const call = startCall(answering(answer), REQUEST)
  await until(() => call.outcome.value !== undefined, 'the end of the call')
  return call
}

t.beforeEach(() => { calls.value = []; lostCalls.value = [] })

t.test('a call keeps its progress, log and result', async t => {
  const call = await ended(async ({ onProgress, onLog }) => {
    onProgress?.({ progress: 1, total: 2 })
    onLog?.({ level: 'info', data: 'a' })
    return { content: [] }
  })
  t.strictSame([call.progress.value, call.logs.value, call.outcome.value], [{ progress: 1, total: 2 }, [{ level: 'info', data: 'a' }], { type: 'result', result: { content: [] } }])
  t.ok((call.endedAt.value ?? 0) >= call.startedAt)
})

t.test('errors, cancellations and lost connections are told apart; lost calls are remembered', async t => {
  const outcomes = []
  for (const error of [new RpcError(-32602, 'bad', { a: 1 }), new Cancelled('c'), new Declined('no'), new ConnectionLost('gone'), new TypeError('odd')]) outcomes.push((await ended(async () => { throw error })).outcome.value)
  t.strictSame(outcomes, [{ type: 'error', code: -32602, message: 'bad', data: { a: 1 } }, { type: 'cancelled' }, { type: 'cancelled', declined: 'no' }, { type: 'lost', why: 'gone' }, { type: 'error', code: 0, message: 'TypeError: odd' }])
  t.equal(lostCalls.value.length, 1)
})

t.test('a call that was forgotten is not told to the next caller when it is lost', async t => {
  let lose = (_error: Error): void => {}
  const call = startCall(answering(async () => await new Promise((_resolve, reject) => { lose = reject })), REQUEST)
  forgetCalls()
  lose(new ConnectionLost('gone'))
  await until(() => call.outcome.value !== undefined, 'the end of the call')
  t.strictSame([calls.value, lostCalls.value], [[], []])
})

t.test('cancel aborts the request', async t => {
  const call = startCall(answering(async ({ signal }) => await new Promise((_resolve, reject) => { signal?.addEventListener('abort', () => reject(new Cancelled('c'))) })), REQUEST)
  call.cancel()
  await until(() => call.outcome.value?.type === 'cancelled', 'the end')
})

t.test('questions stand beside their call until they are answered, and leave a record', async t => {
  let handlers: Handlers = {}
  const call = startCall(answering(async given => { handlers = given; return await new Promise(() => {}) }), REQUEST)
  const answers: JsonObject[] = []
  const question: Question = { id: 'q', method: 'elicitation/create', params: { message: 'Name?' }, answer: result => { answers.push(result); handlers.onQuestionGone?.('q') }, refuse: () => {} }
  handlers.onQuestion?.(question)
  t.equal(call.questions.value.length, 1)
  answerQuestion(call, question, { action: 'decline' }, 'declined')
  t.strictSame([call.questions.value, answers], [[], [{ action: 'decline' }]])
  t.match(call.answered.value, [{ method: 'elicitation/create', message: 'Name?', answer: 'declined' }])
})

t.test('a flood of log lines and calls is bounded; calls that run are never dropped', async t => {
  const running = startCall(answering(async ({ onLog }) => {
    for (let index = 0; index < MAX_LOGS + 3; index++) onLog?.({ level: 'info', data: index })
    return await new Promise(() => {})
  }), REQUEST)
  t.equal(running.logs.value.length, MAX_LOGS)
  t.equal(running.droppedLogs.value, 3)
  for (let index = 0; index < MAX_CALLS + 5; index++) await ended(async () => ({}))
  startCall(answering(async () => ({})), REQUEST)
  t.ok(calls.value.includes(running))
  t.ok(calls.value.length <= MAX_CALLS + 2)
})
