import t, { type Test } from 'tap'
import { McpError } from '../../../protocol/wire/errors.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { Speaker } from '../../support/speaker.js'
import { until } from '../../support/wait.js'
import { addUpstream } from './fake-upstream.js'
import { RelayClient, type Reply } from './relay-client.js'

const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const ID = 'the-id-at-the-upstream'
const CREATED = { resultType: 'task', taskId: ID, status: 'working', ttlMs: -1, pollIntervalMs: -5 }
const DONE = { content: [{ type: 'text', text: 'done' }], resultType: 'complete' }

/** The answers of an upstream by method, one after the other; the last one again and again. */
type Script = Record<string, Array<Params | Error>>

/** Calls a tool of an upstream that plays this script. */
async function call (t: Test, script: Script, version = MODERN) {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  Object.assign(connection.server, { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } })
  const seen: Array<{ method: string, params: Params }> = []
  const play = async (): Promise<void> => {
    for (;;) {
      const { method, params, resolve, reject } = await connection.arrived.next()
      seen.push({ method, params })
      const answers = script[method] ?? []
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof Error) reject(answer)
      else resolve(answer ?? {})
    }
  }
  play().catch(() => {})
  t.after(() => connection.arrived.end())
  const client = new RelayClient(app, version)
  return { client, seen, of: (method: string) => seen.filter(one => one.method === method).map(({ params }) => params) }
}

const answerTo = async (t: Test, script: Script): Promise<Reply> => await (await call(t, script)).client.call().answer

t.test('an upstream that answers with a task which cannot be one fails the call in words', async t => {
  for (const taskId of [undefined, 7, '', 'x'.repeat(1_000_000)]) {
    const { error } = await answerTo(t, { 'tools/call': [{ ...CREATED, taskId } as Params] })
    t.match(error, { code: -32603, message: /^The upstream server files failed: it answered with a task whose id/ })
    t.ok(error.message.length < 200)
  }
  const task = { taskId: ID }
  for (const [state, why] of [
    [{ status: 'asleep' }, /a status that is not known/],
    [{ status: 'completed' }, /ended without a result/],
    [{ status: 'failed' }, /failed without an error/],
    [{ status: 'failed', error: { code: '1', message: 'x' } }, /failed without an error/],
    [{ status: 'cancelled' }, /it cancelled the task/],
    [{ status: 'input_required', inputRequests: { a: { method: 'tools/call' } } }, /is not a question/],
    [{ status: 'input_required', inputRequests: Object.fromEntries(Array.from({ length: 65 }, (_, key) => [key, {}])) }, /more than 64 questions/]
  ] as const) {
    const { error } = await answerTo(t, { 'tools/call': [CREATED], 'tasks/get': [{ ...task, ...state }] })
    t.match(error?.message, why)
  }
})

t.test('no error of an upstream tells what its task is called there', async t => {
  const errors = [
    new McpError(-32602, `no task ${ID}`),
    new McpError(-32602, 'gone', { code: 'PATCHBAY_UNKNOWN_TASK' }),
    new McpError(-32000, 'busy', { task: ID })
  ]
  for (const error of errors) {
    const answer = await answerTo(t, { 'tools/call': [CREATED], 'tasks/get': [error] })
    t.match(answer.error.message, /^The upstream server files failed: it (does not know the task|answered a request about the task)/)
    t.notMatch(JSON.stringify(answer), ID)
  }
  const completed = { status: 'completed', result: { ...DONE, _meta: { 'io.modelcontextprotocol/related-task': { taskId: ID }, mine: 1 } } }
  const { result } = await answerTo(t, { 'tools/call': [CREATED], 'tasks/get': [completed] })
  t.match(result, { content: DONE.content, _meta: { mine: 1 } })
  t.notMatch(JSON.stringify(result), ID)
})

t.test('a task that never ends is cancelled at its upstream when the call is, and not looked at too often', async t => {
  const { client, of } = await call(t, { 'tools/call': [CREATED], 'tasks/get': [{ status: 'working' }] })
  const { id } = client.call()
  await until(() => of('tasks/get').length > 1, 'a second look')
  client.cancel(id)
  await until(() => of('tasks/cancel').length === 1, 'the cancellation')
  t.strictSame(of('tasks/cancel'), [{ taskId: ID }])
})

t.test('a question of a task is asked once, though its upstream goes on showing it for a while', async t => {
  const asking = { status: 'input_required', inputRequests: { who: { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'object', properties: {} } } } } }
  for (const version of [MODERN, LEGACY]) {
    const script: Script = { 'tools/call': [CREATED], 'tasks/get': [asking, asking, asking, { status: 'completed', result: DONE }] }
    const { client, of } = await call(t, script, version)
    const { answer } = client.call()
    let reply: Reply
    if (version === LEGACY) {
      const question = await client.requests.next()
      client.reply(question.id, { result: { action: 'accept', content: {} } })
      reply = await answer
    } else {
      const { inputRequests, requestState } = (await answer).result
      t.notMatch(JSON.stringify(requestState), ID)
      t.strictSame(Object.keys(inputRequests as Json), ['who'])
      reply = await client.call({}, { requestState, inputResponses: { who: { action: 'accept', content: {} } } }).answer
    }
    t.match(reply.result, { content: DONE.content })
    t.strictSame(of('tasks/update'), [{ taskId: ID, inputResponses: { who: { action: 'accept', content: {} } } }])
    t.equal(of('tools/call').length, 1)
  }
})

t.test('no pattern of an upstream is evaluated when its question is answered in a task', async t => {
  const form = (name: Json): Params =>
    ({ message: '?', requestedSchema: { type: 'object', properties: { name: { type: 'string', ...name } }, required: ['name'] } })
  const asking = (name: Json): Params =>
    ({ resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create', params: form(name) } }, requestState: 's' })
  for (const version of [MODERN, LEGACY]) {
    const app = await gateway(t)
    const { connection } = addUpstream(app, MODERN, { task: 'must' })
    t.after(() => connection.arrived.end())
    const answers: unknown[] = [{ name: 1 }, { name: `${'a'.repeat(24)}!` }]
    const client = new Speaker(app, {
      version,
      principal: 'ada',
      capabilities: { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      answers: { 'elicitation/create': () => ({ action: 'accept', content: answers.shift() }) }
    })
    const creation = client.answerTo(client.send('tools/call', { name: 'files__tool', arguments: {}, ...(version === LEGACY && { task: {} }) }))
    const first = await connection.arrived.next()
    first.resolve(asking({ pattern: '^(a+)+$' }))
    const { result } = await creation
    const taskId = String(version === LEGACY ? (result.task as Json).taskId : result.taskId)
    if (version === LEGACY) {
      client.send('tasks/result', { taskId })
    } else {
      for (const content of answers.splice(0)) {
        let inputRequests: Json | undefined
        await until(async () => {
          inputRequests = (await client.answerTo(client.send('tasks/get', { taskId }))).result.inputRequests as Json | undefined
          return inputRequests !== undefined
        }, 'the question')
        const inputResponses = Object.fromEntries(Object.keys(inputRequests ?? {}).map(key => [key, { action: 'accept', content }]))
        await client.request('tasks/update', { taskId, inputResponses })
      }
    }
    const second = await connection.arrived.next()
    t.match(second.params.inputResponses, { who: { content: { name: /^a+!$/ } } }, `${version}: its server judges it`)
    second.resolve(DONE)
  }
})
