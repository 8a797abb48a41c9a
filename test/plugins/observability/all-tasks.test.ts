import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, tool, type Client, type Identity } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { ERAS, Speaker } from '../../support/speaker.js'
import { until } from '../../support/wait.js'

const signals: AbortSignal[] = []

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(tool({
    name: 'work',
    description: 'Works until it is aborted',
    patience: 100,
    run: async (_, { signal }) => {
      signals.push(signal)
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    }
  }))
}

async function client (t: Test, app: FastifyInstance, identity: Identity): Promise<Client> {
  const made = await createClient(app, { identity })
  t.teardown(async () => await made.close())
  return made
}

const as = (principal: string, ...scopes: string[]): Identity => ({ principal, scopes: new Set(['mcp', ...scopes]) })

t.test('operators list the calls of all callers that were answered early, and cancel them', async t => {
  const app = await gateway(t, { tools: false, plugins: [own] })
  const operator = await client(t, app, as('eve', 'admin'))
  t.strictSame(await operator.request('patchbay/tasks'), { tasks: [] })
  for (const name of ['ada', 'bob']) {
    await (await client(t, app, as(name))).request('tools/call', { name: 'work', arguments: {} })
  }
  const { tasks } = await operator.request('patchbay/tasks') as { tasks: Json[] }
  t.strictSame(tasks.map(({ principal, kind, tool, status }) => [principal, kind, tool, status]).sort(), [
    ['ada', 'call', 'work', 'working'],
    ['bob', 'call', 'work', 'working']
  ])
  t.match(tasks[0], { createdAt: /Z$/, updatedAt: /Z$/, expiresAt: /Z$/, id: /^[\w-]{22}$/ })
  const id = tasks.find(({ principal }) => principal === 'ada')?.['id']
  t.match(await operator.request('patchbay/tasks/cancel', { id }), { task: { id, status: 'cancelled' } })
  await until(() => signals.filter(({ aborted }) => aborted).length === 1, 'the end of one call')
  await t.rejects(operator.request('patchbay/tasks/cancel', { id: 'A'.repeat(22) }), { message: /there is no task "A{22}"/ })
})

for (const version of ERAS) {
  t.test(`a caller of ${version} lists its own work, and cancels it; that of others does not exist`, async t => {
    const app = await gateway(t, { tools: false, plugins: [own] })
    const stored = await app.mcp.storedTasks()
    const mine = await stored.create({ kind: 'task', owner: 'ada', tool: 'work', scopes: ['mcp'] })
    const inView = await stored.create({ kind: 'task', owner: 'ada', tool: 'work', scopes: ['mcp'], view: 'v' })
    const hidden = await stored.create({ kind: 'task', owner: 'ada', tool: 'work', scopes: ['more'] })
    const other = await stored.create({ kind: 'call', owner: 'bob', tool: 'work', scopes: [] })
    const anonymous = await stored.create({ kind: 'task', owner: null, tool: 'work', scopes: [] })
    const ada = new Speaker(app, { version, identity: as('ada') })
    const { tasks } = (await ada.request('patchbay/tasks')).result as { tasks: Json[] }
    t.strictSame(tasks.map(({ id }) => id).sort(), [mine.id, inView.id].sort())
    t.match(tasks[0], { principal: 'ada', tool: 'work', status: 'working', node: undefined })
    const { message } = (await ada.request('patchbay/tasks/cancel', { id: 'x'.repeat(22) })).error
    for (const { id } of [hidden, other, anonymous]) {
      t.match((await ada.request('patchbay/tasks/cancel', { id })).error, {
        code: -32602, message: message.replace('x'.repeat(22), id)
      })
      t.match(await stored.get(id), { status: 'working' })
    }
    t.match((await ada.request('patchbay/tasks/cancel', { id: mine.id })).result, { task: { status: 'cancelled' } })
    const stranger = new Speaker(app, { version, identity: { principal: undefined, scopes: new Set(['mcp']) } })
    for (const method of ['patchbay/tasks', 'patchbay/tasks/cancel']) {
      t.match((await stranger.request(method, { id: 'x' })).error, { code: -32601 })
    }
  })
}

t.test('a long list has pages, and each task is on one of them', async t => {
  const app = await gateway(t, { tools: false, plugins: [own] })
  const stored = await app.mcp.storedTasks()
  const facts = { kind: 'call', owner: 'ada', tool: 'work', scopes: [] } as const
  for (let count = 0; count < 250; count++) await stored.create(facts)
  const operator = await client(t, app, as('eve', 'admin'))
  const first = await operator.request('patchbay/tasks') as { tasks: Json[], nextCursor: string }
  t.equal(first.tasks.length, 200)
  const second = await operator.request('patchbay/tasks', { cursor: first.nextCursor }) as { tasks: Json[] }
  t.equal(new Set([...first.tasks, ...second.tasks].map(({ id }) => id)).size, 250)
  t.notOk('nextCursor' in second)
})
