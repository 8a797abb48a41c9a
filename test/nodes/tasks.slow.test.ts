import t, { type Test } from 'tap'
import { tool, type Options } from '../../app.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { onSharedStores } from '../support/environment/nodes.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { Speaker } from '../support/speaker.js'
import { until } from '../support/wait.js'

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

const pluginOf = (run: (call: Call) => unknown): NonNullable<Options['plugins']> => [async fastify => {
  fastify.mcp.tools.add(tool({
    name: 'it', description: 'd', task: 'must', run: async (_input, call) => (await run(call)) as object
  }))
}]

async function node (t: Test, options: Partial<Options>, run: (call: Call) => unknown) {
  const app = await gateway(t, { ...options, plugins: pluginOf(run) })
  return { app, ada: new Speaker(app, { version: '2026-07-28', principal: 'ada', capabilities: CAPABILITIES }) }
}

const get = async (ada: Speaker, taskId: unknown): Promise<Json> =>
  (await ada.answerTo(ada.send('tasks/get', { taskId }))).result

const reach = async (ada: Speaker, taskId: unknown, status: string): Promise<Json> => {
  let task: Json = {}
  await until(async () => {
    task = await get(ada, taskId)
    return task.status === status
  }, status)
  return task
}

onSharedStores(t, (t, share) => {
  t.test('a task is read, heard of and cancelled at another node, whose caller aborts it', async t => {
    const options = await share(t)
    let aborted = false
    const hang = async (call: Call): Promise<void> => {
      await new Promise((_resolve, reject) => {
        call.signal.addEventListener('abort', () => { aborted = true; reject(new Error('aborted')) })
      })
    }
    const [one, two] = [await node(t, options, hang), await node(t, options, hang)]
    const { taskId } = (await one.ada.tool('it')).result
    t.match(await get(two.ada, taskId), { status: 'working' })
    two.ada.send('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    t.match(await two.ada.next('notifications/tasks'), { taskId, status: 'working' })
    await two.ada.request('tasks/cancel', { taskId })
    t.match(await two.ada.next('notifications/tasks'), { taskId, status: 'cancelled' })
    await until(() => aborted, 'the abort at the node that runs it')
    t.match(await get(one.ada, taskId), { status: 'cancelled' })
  })

  t.test('a waiting task goes on at the node that gets its last answer, after its own has ended', async t => {
    const options = await share(t)
    const greet = async (call: Call): Promise<string> => {
      const paid = await call.once('pay', () => Math.random())
      const { content } = await call.elicit('who', { message: 'Who?', requestedSchema: FORM })
      return `${String(content?.name)} ${await call.once('pay', () => -1) === paid}`
    }
    const [one, two] = [await node(t, options, greet), await node(t, options, greet)]
    const { taskId } = (await one.ada.tool('it')).result
    await reach(one.ada, taskId, 'input_required')
    await one.app.close()
    await two.ada.request('tasks/update', {
      taskId,
      inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } }
    })
    t.match(await reach(two.ada, taskId, 'completed'), { result: { content: [{ text: 'Ada true' }] } })
  })

  t.test('an orderly end gives a task its time, and then records that it has failed', async t => {
    const options = { ...await share(t), grace: 300 }
    const hang = async (): Promise<void> => { await new Promise(() => {}) }
    const [one, two] = [await node(t, options, hang), await node(t, options, hang)]
    const { taskId } = (await one.ada.tool('it')).result
    await one.app.close()
    t.match(await get(two.ada, taskId), { status: 'failed', error: { code: -32603, message: /stopped/ } })
  })
})
