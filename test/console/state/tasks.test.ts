import t from 'tap'
import { RpcError, type Client, type JsonObject } from '../../../console/client/contract.js'
import { cancelTask, reachOf, readTasks, type TaskRow } from '../../../console/state/tasks.js'

type Answer = (params: JsonObject) => JsonObject

function clientOf (capabilities: JsonObject, answers: Record<string, Answer>): Client {
  return {
    era: 'legacy',
    server: { name: 's', version: '1', revision: 'r', capabilities },
    request: async (method, params = {}) => {
      const answer = answers[method]
      if (answer === undefined) throw new RpcError(-32601, `Method not found: ${method}`)
      return answer(params)
    },
    onNotification: () => () => {},
    subscribe: async () => () => {}
  }
}

const OPERATOR = { extensions: { 'patchbay/watch': {} } }
const at = (seconds: number): string => new Date(seconds * 1_000).toISOString()

t.test('operators read the tasks of all, page by page, those that run first, then the newest', async t => {
  const task = (id: string, status: string, created: number): JsonObject =>
    ({ id, kind: 'task', tool: 'dig', status, createdAt: at(created), updatedAt: at(created), expiresAt: at(100) })
  const client = clientOf(OPERATOR, {
    'patchbay/tasks': ({ cursor }) => cursor === undefined
      ? { tasks: [task('a', 'completed', 3), task('b', 'working', 1)], nextCursor: 'b' }
      : { tasks: [task('c', 'input_required', 2), task('d', 'failed', 4), null, { id: 3 }] as never }
  })
  t.equal(reachOf(client), 'all')
  const rows = await readTasks(client)
  t.strictSame(rows.map(({ id }) => id), ['c', 'b', 'd', 'a'])
  t.match(rows[0], { tool: 'dig', createdAt: 2_000, expiresAt: 100_000 })
})

t.test('a cursor that leads nowhere ends the list', async t => {
  const client = clientOf(OPERATOR, {
    'patchbay/tasks': () => ({ tasks: [], nextCursor: 'same' })
  })
  t.strictSame(await readTasks(client), [])
})

t.test('other callers read their own, in every revision', async t => {
  const client = clientOf({ experimental: { 'patchbay/tasks': {} } }, {
    'patchbay/tasks': () => ({
      tasks: [{ id: 'x', status: 'working', statusMessage: 'half', createdAt: at(1), updatedAt: at(2), expiresAt: at(6) }]
    }),
    'patchbay/tasks/cancel': ({ id }) => ({ task: { id: String(id), status: 'cancelled' } })
  })
  t.equal(reachOf(clientOf({ extensions: { 'patchbay/tasks': {} } }, {})), 'own')
  t.equal(reachOf(client), 'own')
  const [task] = await readTasks(client)
  t.match(task, { id: 'x', message: 'half', createdAt: 1_000, updatedAt: 2_000, expiresAt: 6_000 })
  t.equal(await cancelTask(client, task as TaskRow), 'It was cancelled.')
  t.equal(reachOf(clientOf({}, {})), 'none')
  t.equal(reachOf(undefined), 'none')
})

t.test('a task that has ended or gone is not said to be cancelled', async t => {
  const task = { id: 'x' } as unknown as TaskRow
  const ended = clientOf(OPERATOR, { 'patchbay/tasks/cancel': () => ({ task: { status: 'completed' } }) })
  t.equal(await cancelTask(ended, task), 'It had ended before: it is completed.')
  const gone = clientOf(OPERATOR, { 'patchbay/tasks/cancel': () => { throw new RpcError(-32602, 'no task') } })
  t.match(await cancelTask(gone, task), /^Nothing was cancelled/)
  const broken = clientOf(OPERATOR, { 'patchbay/tasks/cancel': () => { throw new RpcError(-32603, 'no disk') } })
  await t.rejects(cancelTask(broken, task), /no disk/)
})
