import t from 'tap'
import {
  Cancelled,
  ConnectionLost,
  Declined,
  RpcError,
  type Client,
  type Handlers,
  type JsonObject,
  type Question
} from '../../../console/client/contract.js'
import {
  MAX_CALLS,
  MAX_LOGS,
  MAX_SIZE,
  answerQuestion,
  calls,
  forgetCalls,
  lostCalls,
  startCall
} from '../../../console/state/calls.js'
import { logLineOf, shorten, sizeOf } from '../../../console/state/kept-text.js'
import { until } from '../../support/wait.js'

const REQUEST = { kind: 'tool' as const, key: 'x', method: 'tools/call', params: { name: 'x', arguments: {} } }

/** A client that answers as the test says. */
function answering (answer: (handlers: Handlers) => Promise<JsonObject>): Client {
  return {
    era: 'modern',
    server: { name: 's', version: '1', revision: 'r', capabilities: {} },
    request: async (_method, _params, handlers = {}) => await answer(handlers),
    onNotification: () => () => {},
    subscribe: async () => () => {}
  }
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
  t.strictSame(
    [call.progress.value, call.logs.value, call.outcome.value],
    [{ progress: 1, total: 2 }, [{ level: 'info', text: 'a' }], { type: 'result', result: { content: [] } }]
  )
  t.ok((call.endedAt.value ?? 0) >= call.startedAt)
})

t.test('errors, cancellations and lost connections are told apart; lost calls are remembered', async t => {
  const outcomes = []
  for (const error of [
    new RpcError(-32602, 'bad', { a: 1 }),
    new Cancelled('c'),
    new Declined('no'),
    new ConnectionLost('gone'),
    new TypeError('odd')
  ]) {
    outcomes.push(
      (
        await ended(async () => {
          throw error
        })
      ).outcome.value
    )
  }
  t.strictSame(outcomes, [
    { type: 'error', code: -32602, message: 'bad', data: { a: 1 } },
    { type: 'cancelled' },
    { type: 'cancelled', declined: 'no' },
    { type: 'lost', why: 'gone' },
    { type: 'error', code: 0, message: 'TypeError: odd' }
  ])
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
  const call = startCall(
    answering(
      async ({ signal }) =>
        await new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Cancelled('c')))
        })
    ),
    REQUEST
  )
  call.cancel()
  await until(() => call.outcome.value?.type === 'cancelled', 'the end')
})

t.test('questions stand beside their call until they are answered, and leave a record', async t => {
  let handlers: Handlers = {}
  const call = startCall(answering(async given => { handlers = given; return await new Promise(() => {}) }), REQUEST)
  const answers: JsonObject[] = []
  const question: Question = {
    id: 'q',
    method: 'elicitation/create',
    params: { message: 'Name?' },
    answer: result => {
      answers.push(result)
      handlers.onQuestionGone?.('q')
    },
    refuse: () => {}
  }
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

t.test('of a log message, a progress and a question the beginning of each text is kept', async t => {
  const long = 'x'.repeat(9_999)
  const call = await ended(async ({ onProgress, onLog }) => {
    onProgress?.({ progress: 1, message: long })
    onLog?.({ level: long, logger: long, data: { a: long } })
    return {}
  })
  const [line] = call.logs.value
  t.strictSame(
    [line?.level.length, line?.logger?.length, line?.text.length, call.progress.value?.message?.length],
    [200, 200, 2_000, 2_000]
  )
  answerQuestion(
    call,
    { id: 'q', method: 'elicitation/create', params: { message: long }, answer: () => {}, refuse: () => {} },
    {},
    'declined'
  )
  t.equal(call.answered.value[0]?.message.length, 2_000)
})

t.test('a log line has the data as text, and no line is cut inside a character', async t => {
  t.strictSame(logLineOf({ level: 'info', data: { a: 1 } }), { level: 'info', text: '{"a":1}' })
  t.strictSame(logLineOf({ level: 'info', logger: 'l', data: 'a' }), { level: 'info', logger: 'l', text: 'a' })
  t.strictSame([shorten('ab🎉', 3), shorten('ab🎉', 4), shorten('ab\uDC00c', 3)], ['ab', 'ab🎉', 'ab\uDC00'])
})

t.test('the size of a value grows with its texts, its names and its parts, however deep they are', async t => {
  t.ok(
    sizeOf('x'.repeat(1_000)) >= 1_000 &&
      sizeOf({ ['x'.repeat(1_000)]: null }) >= 1_000 &&
      sizeOf(Array(1_000).fill({})) >= 2_000
  )
  t.ok(sizeOf({ a: [1, null, true] }) < 100)
  let deep: JsonObject = {}
  for (let level = 0; level < 100_000; level++) deep = { a: deep }
  t.ok(sizeOf(deep) >= 100_000)
})

t.test(
  'results that are too large together are dropped, the oldest first, and the newest is kept whatever its size',
  async t => {
    // A text that is concatenated takes no memory until it is read.
    const half = 'x'.repeat(MAX_SIZE / 2)
    const first = await ended(async () => ({ text: half }))
    const second = await ended(async () => ({ text: 'small' }))
    const third = await ended(async () => ({ text: half }))
    t.strictSame(calls.value, [third, second])
    const huge = await ended(async () => ({ text: half + half + half }))
    t.strictSame(calls.value, [huge])
    t.ok(first.outcome.value !== undefined)
    const refused = await ended(async () => {
      throw new RpcError(1, half, half + half)
    })
    t.strictSame(calls.value, [refused])
  }
)

t.test('a long call is kept when it ends, although others began and ended after it', async t => {
  let end = (_result: JsonObject): void => {}
  const long = startCall(answering(async () => await new Promise(resolve => { end = resolve })), REQUEST)
  const text = 'x'.repeat(MAX_SIZE * 0.75)
  const other = await ended(async () => ({ text }))
  await until(() => Date.now() > (other.endedAt.value ?? 0), 'the next millisecond')
  end({ text })
  await until(() => long.outcome.value !== undefined, 'the end of the call')
  t.strictSame(calls.value, [long])
})
