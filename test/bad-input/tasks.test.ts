import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { Speaker } from '../support/speaker.js'

const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

async function withTool (t: Test, limits: Options['limits'] = {}): Promise<FastifyInstance> {
  return await gateway(t, {
    limits,
    plugins: [async app => { app.mcp.tools.add(tool({ name: 'it', description: 'd', task: 'may', run: () => 'done' })) }]
  })
}

t.test('D30: a task that has ended cannot be cancelled in the legacy form, and in the modern one stays as it is', async t => {
  const app = await withTool(t)
  const ada = new Speaker(app, { principal: 'ada' })
  const { result: { task } } = await ada.request('tools/call', { name: 'it', arguments: {}, task: {} })
  const named = { taskId: (task as Json).taskId }
  t.match((await ada.request('tasks/result', named)).result, { content: [{ text: 'done' }] })
  t.match((await ada.request('tasks/cancel', named)).error, { code: -32602, message: /completed/ })
  const modern = new Speaker(app, { version: '2026-07-28', principal: 'ada', capabilities })
  const { _meta, ...acknowledged } = (await modern.request('tasks/cancel', named)).result
  t.strictSame(acknowledged, { resultType: 'complete' })
  t.match((await modern.request('tasks/get', named)).result, { status: 'completed' })
})

t.test('D39: a ttl is made what it may be, and the client reads what it is', async t => {
  const ada = new Speaker(await withTool(t, { maxTaskTtl: 60_000 }), { principal: 'ada' })
  for (const [ttl, given] of [[-1, 1], [0, 1], [1.5, 1], [59_999, 59_999], [1e18, 60_000]]) {
    const { result } = await ada.request('tools/call', { name: 'it', arguments: {}, task: { ttl } })
    t.match(result, { task: { ttl: given } }, String(ttl))
  }
  for (const ttl of ['60000', true, [], {}]) {
    t.match((await ada.request('tools/call', { name: 'it', arguments: {}, task: { ttl } })).error, { code: -32602 })
  }
})

t.test('D39: of more tasks than a caller may have, as many as it may are made, and the others are refused', async t => {
  const app = await withTool(t, { maxTasksPerPrincipal: 20 })
  const ada = new Speaker(app, { principal: 'ada' })
  const call = async (client: Speaker) => await client.request('tools/call', { name: 'it', arguments: {}, task: {} })
  const answers = await Promise.all(Array.from({ length: 30 }, async () => await call(ada)))
  t.equal(answers.filter(({ result }) => result?.task !== undefined).length, 20)
  const refused = answers.filter(({ error }) => error !== undefined)
  t.equal(refused.length, 10)
  for (const { error } of refused) t.match(error, { code: -32603 })
  t.match((await call(new Speaker(app, { principal: 'bob' }))).result, { task: { taskId: String } }, 'another has its own')
})
