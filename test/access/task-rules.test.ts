import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { Speaker } from '../support/speaker.js'
import { until } from '../support/wait.js'

type Rules = Options['rules']

const TASKS = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const ROOT: Identity = { principal: 'key:root', scopes: new Set(['admin']) }
const YES = { action: 'accept', content: {} }

/** A gateway with a tool that asks before it pays, as a task. */
async function open (t: Test, rules: Rules = [], creator = new Map<string, (params: Json) => unknown>()) {
  const ran: string[] = []
  const app = await gateway(t, {
    tools: false,
    rules,
    plugins: [async ({ mcp: { tools } }) => {
      tools.add(tool({
        name: 'pay',
        description: 'd',
        input: Type.Object({ amount: Type.Number() }),
        task: 'must',
        run: async ({ amount }, call) => {
          ran.push(`asks ${amount}`)
          await call.elicit('sure', { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })
          ran.push(`pays ${amount}`)
          return 'paid'
        }
      }))
    }]
  })
  const clientOf = (identity: Identity): Speaker =>
    new Speaker(app, { version: '2026-07-28', identity, capabilities: TASKS, answers: Object.fromEntries(creator) })
  const ada = clientOf(ADA)
  const get = async (taskId: unknown): Promise<Json> =>
    (await ada.answerTo(ada.send('tasks/get', { taskId }))).result
  const state = async (taskId: unknown, status: string): Promise<Json> => {
    await until(async () => (await get(taskId)).status === status, status)
    return await get(taskId)
  }
  /** Answers all that is open with this. */
  const answer = async (taskId: unknown, action = 'accept', as = ada): Promise<unknown> => {
    const { inputRequests } = await get(taskId)
    const inputResponses = Object.fromEntries(Object.keys(inputRequests as Json).map(key => [key, { ...YES, action }]))
    return (await as.request('tasks/update', { taskId, inputResponses })).error
  }
  const waitingTask = async (): Promise<unknown> => {
    const { taskId } = (await ada.tool('pay', { amount: 5 })).result
    await state(taskId, 'input_required')
    return taskId
  }
  const replace = (rules: Rules): void => app.mcp.rules.replace({ rules, rulesDefault: 'allow' })
  return { app, ada, ran, get, state, answer, waitingTask, replace, clientOf }
}

t.test('a task that waited for answers does not go on where a rule denies its call by now', async t => {
  for (const where of [undefined, { amount: 5 }]) {
    const { ran, state, answer, waitingTask, replace } = await open(t)
    const taskId = await waitingTask()
    replace([{ deny: ['pay'], ...(where !== undefined && { where, message: 'no more money' }) }])
    t.equal(await answer(taskId), undefined)
    if (where === undefined) t.match((await state(taskId, 'failed')).error, { message: /Unknown tool: pay/ })
    else t.match((await state(taskId, 'completed')).result, { isError: true, content: [{ text: 'no more money' }] })
    t.strictSame(ran, ['asks 5'])
  }
})

t.test('a task that waited for answers does not go on for a caller without the scopes of its tool', async t => {
  const { app, ran, get, state, answer, waitingTask, clientOf } = await open(t)
  const taskId = await waitingTask()
  const poorer = clientOf({ principal: 'key:ada', scopes: new Set() })
  t.match(await answer(taskId, 'accept', poorer), { code: -32602 }, 'unknown to a caller who lost them')
  t.match(await get(taskId), { status: 'input_required' })
  app.mcp.scopes.replaceScopes({ 'tools/pay': ['mcp', 'money'] })
  t.equal(await answer(taskId), undefined)
  t.match((await state(taskId, 'failed')).error, { message: /Unknown tool: pay/ }, 'the tool needs more by now')
  t.strictSame(ran, ['asks 5'])
})

t.test('an approved call is not asked about again when its task goes on', async t => {
  const asked: string[] = []
  const { ran, state, answer, waitingTask } = await open(t, [{ ask: ['pay'] }], new Map([
    ['elicitation/create', ({ message }) => { asked.push(String(message)); return YES }]
  ]))
  const taskId = await waitingTask()
  t.match(asked, [/Run pay with these arguments/])
  t.equal(await answer(taskId), undefined)
  t.match((await state(taskId, 'completed')).result, { content: [{ text: 'paid' }] })
  t.equal(asked.length, 1)
  t.strictSame(ran, ['asks 5', 'asks 5', 'pays 5'])
})

t.test('a task whose call needs an approval by other rules now asks in the task', async t => {
  const asks: Rules = [{ ask: ['pay'] }]
  for (const [first, action] of [[[], 'accept'], [[], 'decline'], [asks, 'accept']] as Array<[Rules, string]>) {
    const { ran, get, state, answer, waitingTask, replace } = await open(t, first, new Map([
      ['elicitation/create', () => YES]
    ]))
    const taskId = await waitingTask()
    replace([{ ask: ['pay'], message: 'From now on.' }])
    await answer(taskId)
    await until(async () => JSON.stringify(await get(taskId)).includes('From now on.'), 'the approval')
    t.strictSame(ran, ['asks 5'])
    t.equal(await answer(taskId, action), undefined)
    const { result } = await state(taskId, 'completed')
    if (action === 'accept') t.match(result, { content: [{ text: 'paid' }] })
    else t.match(result, { isError: true, content: [{ text: /the user declined this call/ }] })
    t.equal(ran.includes('pays 5'), action === 'accept')
  }
})

t.test('an operator approves the call of a task once, and again under other rules', async t => {
  const { app, ran, state, answer, ada, replace } = await open(t, [{ ask: ['pay'], by: 'operator' }])
  const operator = new Speaker(app, { identity: ROOT })
  const waiting = async (): Promise<Json[]> =>
    (await operator.request('patchbay/approvals')).result.approvals as Json[]
  const approve = async (): Promise<void> => {
    await until(async () => (await waiting()).length === 1, 'an approval')
    await operator.request('patchbay/approvals/decide', { id: (await waiting())[0]?.id, decision: 'approve' })
  }
  const created = ada.tool('pay', { amount: 5 })
  await approve()
  const { taskId } = (await created).result
  await state(taskId, 'input_required')
  await answer(taskId)
  await state(taskId, 'completed')
  t.strictSame(await waiting(), [])
  const again = ada.tool('pay', { amount: 5 })
  await approve()
  const { taskId: second } = (await again).result
  await state(second, 'input_required')
  replace([{ ask: ['pay'], by: 'operator', message: 'new' }])
  await answer(second)
  await approve()
  t.match((await state(second, 'completed')).result, { content: [{ text: 'paid' }] })
  t.equal(ran.filter(text => text === 'pays 5').length, 2)
})
