import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, ToolError, type Options } from '../../app.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { McpError } from '../../protocol/wire/errors.js'
import { onSharedStores } from '../support/environment/nodes.js'
import { listening } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { Speaker, textOf, type Answer, type Speaks } from '../support/speaker.js'
import { inFrontOf } from '../support/upstreams.js'
import { takeTime, until } from '../support/wait.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const ANSWERS = { 'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada' } }) }

/** A server of tasks: another gateway, whose work ends when the test says so. */
async function server (t: Test) {
  const runs = { count: 0, aborted: 0 }
  const ends = new Set<() => void>()
  const ended = async (call: Call): Promise<void> => await new Promise((resolve, reject) => {
    ends.add(resolve)
    call.signal.addEventListener('abort', () => {
      runs.aborted++
      reject(new Error('aborted'))
    })
  })
  const works: Record<string, (call: Call) => unknown> = {
    dig: async call => {
      call.progress(1, 4, 'digging')
      await ended(call)
      return 'dug'
    },
    ask: async call => {
      await takeTime(300)
      return `hello ${String((await call.elicit('who', { message: 'Who?', requestedSchema: FORM })).content?.name)}`
    },
    fail: () => { throw new ToolError('no luck') },
    break: () => { throw new McpError(-32603, 'broken', { why: 'x' }, 500) }
  }
  const { url, app } = await listening(t, {
    tools: false,
    plugins: [async ({ mcp: { tools } }) => {
      for (const [name, run] of Object.entries(works)) {
        tools.add(tool({
          name,
          description: 'd',
          task: 'must',
          run: async (_input, call) => {
            runs.count++
            return await run(call) as object
          }
        }))
      }
    }]
  })
  const looked = new Set<unknown>()
  app.mcp.dispatcher.observers.begin.add(({ method, params }) => {
    if (method === 'tasks/get' || method === 'tasks/result') looked.add(params.taskId)
  })
  const end = async (): Promise<void> => {
    await until(() => ends.size > 0, 'the work')
    for (const resolve of ends) resolve()
  }
  return { url, app, runs, end, looked }
}

const entry = (url: string, revision: string) => ({ type: 'http', url: `${url}/mcp`, revision })

const clientOf = (app: FastifyInstance, version: string, knows = true, speaks: Speaks = {}): Speaker =>
  new Speaker(app, {
    version,
    principal: 'ada',
    capabilities: { elicitation: {}, ...(knows && version === MODERN ? EXTENSION : {}) },
    answers: ANSWERS,
    ...speaks
  })

/** Calls a tool as a task, in the way of the client's revision. */
async function start (client: Speaker, version: string, name: string): Promise<string> {
  const { result, error } = await client.answerTo(client.send('tools/call', {
    name, arguments: {}, ...(version === LEGACY && { task: {} })
  }))
  if (error !== undefined) throw new Error(JSON.stringify(error))
  return String(version === LEGACY ? (result.task as Json).taskId : result.taskId)
}

const get = async (client: Speaker, taskId: string): Promise<Json> =>
  (await client.answerTo(client.send('tasks/get', { taskId }))).result

const reach = async (client: Speaker, taskId: string, status: string): Promise<Json> => {
  let task: Json = {}
  await until(async () => {
    task = await get(client, taskId)
    return task?.status === status
  }, status)
  return task
}

/** The result or error of a call that may become a task, in the way of the client's revision. */
async function settle (client: Speaker, version: string, name: string): Promise<Answer> {
  if (version === LEGACY) return await outcome(client, version, await start(client, version, name))
  const answer = await client.tool(name)
  return answer.result?.resultType === 'task' ? await outcome(client, version, String(answer.result.taskId)) : answer
}

/** The result or error of a task, in the way of the client's revision. */
async function outcome (client: Speaker, version: string, taskId: string): Promise<Answer> {
  if (version === LEGACY) return await client.request('tasks/result', { taskId })
  await until(async () => ['completed', 'failed'].includes(String((await get(client, taskId)).status)), 'the end')
  return await get(client, taskId) as unknown as Answer
}

const idsOf = async (app: FastifyInstance): Promise<string[]> => await app.mcp.store.values.keys('tasks', { limit: 100 })

for (const upstream of [MODERN, LEGACY]) {
  for (const version of [MODERN, LEGACY]) {
    t.test(`a client of ${version} gets tasks of its own for those of a server of ${upstream}`, async t => {
      const { url, app: behind, runs, end, looked } = await server(t)
      const { app } = await inFrontOf(t, { b: entry(url, upstream) })
      const ada = clientOf(app, version)
      const digs = await start(ada, version, 'b__dig')
      t.match(digs, /^[\w-]{22}$/)
      await until(async () => (await idsOf(behind)).length === 1, 'the task of the server')
      t.notOk((await idsOf(behind)).includes(digs), 'the id is another')
      t.match(await get(ada, digs), { status: 'working' })
      if (upstream === MODERN) {
        await until(async () => (await get(ada, digs)).statusMessage === 'digging', 'the status message')
      }
      const unknown = (await ada.request('tasks/get', { taskId: 'x'.repeat(22) })).error
      t.match(unknown, { code: -32602 })
      const [theirs = ''] = await idsOf(behind)
      t.strictSame((await ada.request('tasks/get', { taskId: theirs })).error, unknown, 'nor is it found by that of the server')
      const bob = clientOf(app, version, true, { principal: 'bob' })
      t.strictSame((await bob.request('tasks/get', { taskId: digs })).error, unknown)
      await end()
      t.match(await outcome(ada, version, digs), version === LEGACY
        ? { result: { content: [{ text: 'dug' }], _meta: { 'io.modelcontextprotocol/related-task': { taskId: digs } } } }
        : { status: 'completed', result: { content: [{ text: 'dug' }] } })
      t.notMatch(JSON.stringify(await get(ada, digs)), theirs)

      const asks = await start(ada, version, 'b__ask')
      if (version === MODERN) {
        const { inputRequests } = await reach(ada, asks, 'input_required')
        const inputResponses = Object.fromEntries(Object.keys(inputRequests as Json).map(key => [key, ANSWERS['elicitation/create']()]))
        await ada.request('tasks/update', { taskId: asks, inputResponses })
      }
      t.match((await outcome(ada, version, asks)).result, { content: [{ text: 'hello Ada' }] })

      t.match((await settle(ada, version, 'b__fail')).result, { isError: true, content: [{ text: 'no luck' }] })
      t.match((await settle(ada, version, 'b__break')).error, { code: -32603, message: 'broken', data: { why: 'x' } })

      const hangs = await start(ada, version, 'b__dig')
      await until(() => looked.size === 5, 'the last task')
      await ada.request('tasks/cancel', { taskId: hangs })
      await until(() => runs.aborted === 1, 'the cancellation at the server')
      t.match(await get(ada, hangs), { status: 'cancelled' })
      t.equal(runs.count, 6, 'nothing ran twice')
    })

    t.test(`a client of ${version} without tasks waits for those of a server of ${upstream}`, async t => {
      const { url, runs, end, looked } = await server(t)
      const { app } = await inFrontOf(t, { b: entry(url, upstream) })
      const ada = clientOf(app, version, false)
      const digs = ada.tool('b__dig')
      await end()
      t.equal(textOf(await digs), 'dug')
      t.equal(textOf(await ada.tool('b__ask')), 'hello Ada')
      t.match((await ada.tool('b__fail')).result, { isError: true, content: [{ text: 'no luck' }] })
      t.match((await ada.tool('b__break')).error, { code: -32603, message: 'broken' })
      const id = ada.send('tools/call', { name: 'b__dig', arguments: {} })
      await until(() => looked.size === 5, 'the last task')
      ada.peer.inbound.get(id)?.cancel(new Error('by the test'))
      await until(() => runs.aborted === 1, 'the cancellation at the server')
    })
  }
}

t.test('an operator says whether calls to a server become tasks', async t => {
  const { url } = await listening(t, {
    tools: false,
    plugins: [async ({ mcp: { tools } }) => {
      tools.add(tool({ name: 'slow', description: 'd', run: async (_input, call) => { await call.response.finished } }))
      tools.add(tool({ name: 'quick', description: 'd', run: () => 'done' }))
      tools.add(tool({ name: 'always', description: 'd', task: 'must', run: () => 'done' }))
    }]
  })
  const { app } = await inFrontOf(t, {
    b: { ...entry(url, MODERN), task: 'may', override: { always: { task: 'never' }, quick: { task: 'must' } } }
  })
  const ada = clientOf(app, MODERN)
  t.match((await ada.tool('b__slow')).result, { resultType: 'task' })
  t.match((await ada.tool('b__quick')).result, { resultType: 'task' })
  t.match((await ada.tool('b__always')).result, { resultType: 'complete', content: [{ text: 'done' }] })
  t.match((await clientOf(app, MODERN, false).tool('b__quick')).error, { code: -32021 })
  const { result: { tools } } = await clientOf(app, LEGACY).request('tools/list')
  const supports = (tools as Array<{ name: string, execution?: Json }>)
    .map(({ name, execution }) => [name, execution?.taskSupport])
  t.strictSame(Object.fromEntries(supports), { b__slow: 'optional', b__quick: 'required', b__always: undefined })
})

onSharedStores(t, (t, share) => {
  for (const upstream of [MODERN, LEGACY]) {
    t.test(`a task of a server of ${upstream} goes on at another node, without running twice`, async t => {
      const { url, end, runs } = await server(t)
      const options: Partial<Options> = { ...await share(t), grace: 100 }
      const [one, two] = [
        await inFrontOf(t, { b: entry(url, upstream) }, options),
        await inFrontOf(t, { b: entry(url, upstream) }, options)
      ]
      const taskId = await start(clientOf(one.app, MODERN), MODERN, 'b__dig')
      await until(async () => (await (await one.app.mcp.storedTasks()).get(taskId))?.follows === true, 'its place')
      await one.app.close()
      const ada = clientOf(two.app, MODERN)
      t.match(await get(ada, taskId), { status: 'working' })
      await end()
      t.match(await reach(ada, taskId, 'completed'), { result: { content: [{ text: 'dug' }] } })
      t.strictSame(runs, { count: 1, aborted: 0 })
    })
  }

  t.test('a task that its server has forgotten fails in words', async t => {
    const first = await server(t)
    const options: Partial<Options> = { ...await share(t), grace: 100 }
    const one = await inFrontOf(t, { b: entry(first.url, MODERN) }, options)
    const taskId = await start(clientOf(one.app, MODERN), MODERN, 'b__dig')
    await until(async () => (await (await one.app.mcp.storedTasks()).get(taskId))?.follows === true, 'its place')
    await one.app.close()
    const other = await server(t)
    const two = await inFrontOf(t, { b: entry(other.url, MODERN) }, options)
    const ada = clientOf(two.app, MODERN)
    t.match(await reach(ada, taskId, 'failed'), { error: { message: /b failed: it does not know the task of this call any more/ } })
  })
})
