import t, { type Test } from 'tap'
import { tool, ToolError } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/recorder.js'
import { Speaker, type Speaks } from '../../support/speaker.js'

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const RELATED = 'io.modelcontextprotocol/related-task'

/** A gateway whose tools `it` and `always` run this, the one as a task where a client asks for it. */
async function working (t: Test, run: (call: Call) => unknown) {
  const app = await gateway(t, {
    plugins: [async fastify => {
      for (const [name, task] of [['it', 'may'], ['always', 'must'], ['plain', 'never']] as const) {
        fastify.mcp.tools.add(tool({
          name, description: 'd', task, run: async (_input, call) => (await run(call)) as object
        }))
      }
    }]
  })
  return (speaks: Speaks = {}) => new Speaker(app, { principal: 'ada', ...speaks })
}

async function created (client: Speaker, task: Json = {}): Promise<Json> {
  const { result } = await client.request('tools/call', { name: 'it', arguments: {}, task })
  return result.task as Json
}

t.test('a client that asks for a task gets one, and waits for its result as often as it likes', async t => {
  let finish = (_: unknown): void => {}
  const client = await working(t, async () => await new Promise(resolve => { finish = resolve }))
  const ada = client()
  const task = await created(ada, { ttl: 60_000 })
  t.match(task, { taskId: String, status: 'working', ttl: 60_000, pollInterval: Number, createdAt: /Z$/, ttlMs: undefined })
  const { taskId } = task
  const waiting = ada.send('tasks/result', { taskId })
  const other = client().request('tasks/result', { taskId })
  t.match((await ada.request('tasks/get', { taskId })).result, { taskId, status: 'working', resultType: undefined })
  finish('done')
  const result = { content: [{ type: 'text', text: 'done' }], isError: false, _meta: { [RELATED]: { taskId } } }
  t.strictSame((await ada.answerTo(waiting)).result, result)
  t.strictSame((await other).result, result)
  t.strictSame((await ada.request('tasks/result', { taskId })).result, result)
})

t.test('questions of a task are asked on the stream of tasks/result', async t => {
  const client = await working(t, async call => {
    const { content } = await call.elicit('who', { message: 'Who?', requestedSchema: FORM })
    const { content: again } = await call.elicit('then', { message: 'And then?', requestedSchema: FORM })
    return `${String(content?.name)}, ${String(again?.name)}`
  })
  let count = 0
  const ada = client({
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => ({ action: 'accept', content: { name: `n${++count}` } }) }
  })
  const { taskId } = await created(ada)
  t.match((await ada.request('tasks/result', { taskId })).result, { content: [{ text: 'n1, n2' }] })
  t.match(ada.asked.map(({ params }) => params), [
    { message: 'Who?', _meta: { [RELATED]: { taskId } } },
    { message: 'And then?', _meta: { [RELATED]: { taskId } } }
  ])
})

t.test('a task whose result reports a failure has failed, and gives that result', async t => {
  const ada = (await working(t, () => { throw new ToolError('no luck') }))()
  const { taskId } = await created(ada)
  t.match((await ada.request('tasks/result', { taskId })).result, { isError: true, content: [{ text: 'no luck' }] })
  t.match((await ada.request('tasks/get', { taskId })).result, { status: 'failed' })
})

t.test('a cancelled task is cancelled in the answer, and cannot be cancelled again', async t => {
  const ada = (await working(t, async call => {
    await new Promise((_resolve, reject) => { call.signal.addEventListener('abort', reject) })
  }))()
  const { taskId } = await created(ada)
  const waiting = ada.send('tasks/result', { taskId })
  t.match((await ada.request('tasks/cancel', { taskId })).result, { taskId, status: 'cancelled' })
  t.match((await ada.answerTo(waiting)).error, { code: -32602 })
  t.match((await ada.request('tasks/cancel', { taskId })).error, { code: -32602, message: /cancelled/ })
})

t.test('a client and a tool have to agree on a task', async t => {
  const ada = (await working(t, () => 'done'))()
  const call = async (name: string, more: Json) => await ada.request('tools/call', { name, arguments: {}, ...more })
  t.match((await call('plain', { task: {} })).error, { code: -32601, message: /runs as no task/ })
  t.match((await call('always', {})).error, { code: -32601, message: /as a task only/ })
  t.match((await call('it', { task: 5 })).error, { code: -32602 })
  t.match((await call('it', { task: { ttl: 'x' } })).error, { code: -32602 })
  t.match((await call('it', {})).result, { content: [{ text: 'done' }] })
  const { result } = await ada.request('tools/list')
  const supports = (result.tools as Json[]).filter(({ name }) => ['it', 'always', 'plain'].includes(String(name)))
  t.strictSame(supports.map(({ name, execution }) => [name, execution]), [
    ['always', { taskSupport: 'required' }],
    ['it', { taskSupport: 'optional' }],
    ['plain', undefined]
  ])
})

t.test('a list has the tasks of its caller, and callers without a name have none', async t => {
  const client = await working(t, () => 'done')
  const [ada, bob] = [client(), client({ principal: 'bob' })]
  const own = [(await created(ada)).taskId, (await created(ada)).taskId]
  await created(bob)
  const { result } = await ada.request('tasks/list')
  t.strictSame((result.tasks as Json[]).map(({ taskId }) => taskId).sort(), own.sort())
  t.match((await ada.request('tasks/list', { cursor: 'x' })).error, { code: -32602 })
  t.match((await bob.request('tasks/result', { taskId: own[0] })).error, { code: -32602 })
  const nameless = new Speaker(await gateway(t))
  t.match((await nameless.request('tasks/list')).error, { code: -32601 })
})
