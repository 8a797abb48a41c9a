import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool } from '../../../app.js'
import { relayRequest } from '../../../upstreams/relay/relay-request.js'
import { gateway } from '../../support/gateway.js'
import { textOf, type Json } from '../../support/specification/message.js'
import { revisions } from '../../support/specification/revisions.js'
import { bestTime } from '../../support/timing.js'
import { until } from '../../support/wait.js'
import { openFixture, ways, type Way } from '../fixture/open.js'
import type { FixtureServer } from '../fixture/server.js'
import { RelayClient, type Reply } from './relay-client.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const FORM = { action: 'accept', content: { name: 'Ada' } }
const TOOLS = ['echo', 'hang', 'ask_form', 'ask_both', 'ask_twice', 'steps']

/** A gateway in front of the fixture; its tools have the names `TOOL__tool`. */
async function through (
  t: Test,
  way: Way,
  version: string,
  options: Json = {}
): Promise<{ app: FastifyInstance, server: FixtureServer }> {
  const revision = revisions.find(one => one.version === version)
  if (revision === undefined) throw new Error(`no revision ${version}`)
  const { server, entry } = await openFixture(t, way, revision)
  const app = await gateway(t, { mcpServers: { fixture: { ...entry, sampling: true } }, ...options })
  for (const name of TOOLS) {
    app.mcp.tools.add({
      ...tool({ name: `${name}__tool`, description: 'Relayed', run: () => '' }),
      relay: async (params, call) => {
        const upstream = app.mcp.upstreams.get('fixture')
        if (upstream === undefined) throw new Error('the upstream is not there')
        return await relayRequest(call, upstream, 'tools/call', { ...params, name })
      }
    })
  }
  return { app, server }
}

/** Answers what a call asks, in the way of the client's revision, until its result is there. */
async function finish (client: RelayClient, alias: string, args: Json = {}): Promise<Reply> {
  let { answer } = client.call(args, { alias })
  for (;;) {
    const reply = await answer
    if (reply.result?.inputRequests === undefined) return reply
    const inputResponses = Object.fromEntries(
      Object.entries(reply.result.inputRequests as Record<string, Json>).map(([key, { method }]) => [
        key,
        answerTo(method)
      ])
    )
    answer = client.call(args, { alias, inputResponses, requestState: reply.result.requestState }).answer
  }
}

const answerTo = (method: unknown): object =>
  method === 'elicitation/create' ? FORM : { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }

for (const way of Object.keys(ways) as Way[]) {
  for (const era of way === 'HTTP+SSE' ? [LEGACY] : [LEGACY, MODERN]) {
    t.test(`an upstream of ${era} over ${way}`, async t => {
      for (const version of [LEGACY, MODERN]) {
        // One for each client: while calls of one are being cancelled, the upstream cannot ask another.
        const { app, server } = await through(t, way, era)
        const client = new RelayClient(app, version)
        const isDone = { done: false }
        const answering = (async () => {
          while (!isDone.done) {
            await until(() => isDone.done || client.requests.size > 0)
            for (const { id, method } of client.requests.take()) client.reply(id, { result: answerTo(method) })
          }
        })()

        await t.test(`answers questions of a client of ${version}`, async t => {
          for (const name of ['ask_form', 'ask_both', 'ask_twice']) {
            const reply = await finish(client, name)
            t.match(reply, { result: { content: [{ text: /Ada/ }] } }, name)
            if (name !== 'ask_form') t.match(textOf(reply as never), /Paris/)
          }
        })

        await t.test(`hears of a cancelled call of a client of ${version} within 100 ms, and of no other`, async t => {
          const hang = async (key: string): Promise<number> => {
            const { id } = client.call({ key }, { alias: 'hang' })
            await until(() => server.hanging.has(key))
            return id
          }
          await hang(`${version} kept`)
          const took = await bestTime(100, async () => {
            const key = randomUUID()
            const id = await hang(key)
            const cancelledAt = performance.now()
            client.cancel(id)
            await until(() => server.cancelled.has(key))
            return performance.now() - cancelledAt
          })
          t.ok(took < 100, `${took} ms`)
          t.notOk(server.cancelled.has(`${version} kept`))
        })

        await t.test(`hears of a client of ${version} that is gone`, async () => {
          isDone.done = true
          await answering
          client.close()
          await until(() => server.cancelled.has(`${version} kept`))
        })
        t.strictSame(server.log.faults, [])
      }
    })
  }
}

t.test('a stateful upstream hears of a client that does not come back', async t => {
  const { app, server } = await through(t, 'stdio', LEGACY, { limits: { parkedCallLifetime: 50 } })
  const client = new RelayClient(app, MODERN)
  const answer = await client.call({}, { alias: 'ask_form' }).answer
  t.match(answer, { result: { resultType: 'input_required' } })
  const { result } = answer
  const [request] = server.log.of('tools/call')
  t.match(await server.log.saw('notifications/cancelled'), { params: { requestId: request?.id } })
  t.match(await client.call({}, { alias: 'ask_form', requestState: result.requestState, inputResponses: {} }).answer, {
    error: { code: -32602, message: /expired|does not wait/ }
  })
  t.equal(server.runs.get('ask_form'), 1)
})

t.test('a parked call does not delay the end of its upstream, nor that of the gateway', async t => {
  for (const end of ['configuration', 'shutdown']) {
    const { app, server } = await through(t, 'stdio', LEGACY, { grace: 60_000 })
    const client = new RelayClient(app, MODERN)
    const { result } = await client.call({}, { alias: 'ask_form' }).answer
    t.ok(result.requestState)
    if (end === 'shutdown') await app.close()
    else await app.mcp.upstreams.configure([])
    await server.log.saw('notifications/cancelled')
  }
})

t.test('questions that could belong to two callers reach neither of them', async t => {
  const { app, server } = await through(t, 'stdio', LEGACY)
  const [ada, ben] = ['ada', 'ben'].map(principal => new RelayClient(app, LEGACY, { principal })) as [
    RelayClient,
    RelayClient
  ]
  ada.call({ key: 'ada' }, { alias: 'hang' })
  await until(() => server.hanging.has('ada'))
  t.match(await ben.call({}, { alias: 'ask_form' }).answer, {
    result: { isError: true, content: [{ text: /refused/ }] }
  })
  t.equal(ada.requests.size + ben.requests.size, 0)
})

t.test('two clients with the same request id and progress token get their own progress', async t => {
  const { app } = await through(t, 'stdio', LEGACY)
  const clients = [LEGACY, MODERN].map(version => new RelayClient(app, version))
  const replies = await Promise.all(
    clients.map(async client => await client.call({}, { alias: 'steps', meta: { progressToken: 1 } }).answer)
  )
  t.match(replies, [{ result: { content: [{ text: '3 steps' }] } }, { result: { content: [{ text: '3 steps' }] } }])
  for (const client of clients) {
    t.strictSame(
      client.notifications
        .take()
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params.progress),
      [1, 2, 3]
    )
  }
})
