import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { McpError, type Options } from '../../app.js'
import { createAbortController } from '../../lib/abort.js'
import { randomToken } from '../../lib/random-token.js'
import { binding, writeRounds, type Bound } from '../../protocol/questions/request-state.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { listening } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { until } from '../support/wait.js'
import { addUpstream, type Arrived, type Fake } from '../upstreams/relay/fake-upstream.js'
import { EVERYTHING, RelayClient, type ClientOptions, type Reply } from '../upstreams/relay/relay-client.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const ELICIT = 'elicitation/create'
const FORM = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
const ACCEPT = { action: 'accept', content: { name: 'Ada' } }
const DONE = { content: [{ type: 'text', text: 'done' }] }
const never = createAbortController().signal

type Node = { app: FastifyInstance, client: (options?: ClientOptions) => RelayClient } & ReturnType<typeof addUpstream>
type Cluster = (t: Test, fake?: Fake, options?: Partial<Options>) => Promise<[Node, Node, Node]>

t.test('on one data folder', async t => {
  // Messages through a file take a moment.
  parkedCalls(t, 45, async (t, fake, options) => {
    const data = await dataFolder(t)
    return await nodes(t, { data, ...options }, fake)
  })
})

t.test('on one Redis', withRedis, async t => {
  const { url: redis } = await redisServer(t)
  parkedCalls(t, 300, async (t, fake, options) =>
    await nodes(t, { redis, redisPrefix: `${randomToken(6, 'hex')}:`, ...options }, fake))
})

/** Three gateways with one store, each with a legacy upstream of its own. */
async function nodes (t: Test, options: object, fake: Fake = {}): Promise<[Node, Node, Node]> {
  const one = async (): Promise<Node> => {
    const { app } = await listening(t, options)
    return { app, client: options => new RelayClient(app, MODERN, options), ...addUpstream(app, LEGACY, fake) }
  }
  return [await one(), await one(), await one()]
}

interface Asked { arrived: Arrived, answer: Promise<object>, round: { requestState: unknown, inputResponses: Json } }

/** One call at a node, up to the answer that carries a question. */
async function ask ({ client, connection }: Node, options?: ClientOptions): Promise<Asked> {
  const { answer } = client(options).call({ a: 1 })
  const arrived = await connection.arrived.next()
  const asked = arrived.call.ask(ELICIT, FORM, never)
  asked.catch(() => {})
  return { arrived, answer: asked, round: roundAfter(await answer) }
}

function roundAfter ({ result }: Reply, given: object = ACCEPT): Asked['round'] {
  return {
    requestState: result.requestState,
    inputResponses: Object.fromEntries(Object.keys(result.inputRequests as Json).map(key => [key, given]))
  }
}

/** What happens to calls that are parked at one of several nodes. */
function parkedCalls (t: Test, calls: number, cluster: Cluster): void {
  let started: ReturnType<Cluster> | undefined
  /** For tests that leave the nodes as they were. */
  const shared: () => ReturnType<Cluster> = async () => await (started ??= cluster(t))

  t.test('each round may reach another node, and the upstream is called once', async t => {
    const [one, two, three] = await shared()
    const { arrived, answer, round } = await ask(one)
    const second = two.client().call({ a: 1 }, round)
    t.strictSame(await answer, ACCEPT)
    const again = arrived.call.ask(ELICIT, FORM, never)
    const third = three.client().call({ a: 1 }, roundAfter(await second.answer, { action: 'decline' }))
    t.strictSame(await again, { action: 'decline' })
    const last = arrived.call.ask(ELICIT, FORM, never)
    const fourth = one.client().call({ a: 1 }, roundAfter(await third.answer))
    t.strictSame(await last, ACCEPT)
    arrived.resolve(DONE)
    t.match(await fourth.answer, { result: DONE })
    for (const { connection, parked } of [one, two, three]) {
      t.equal(connection.arrived.size, 0)
      t.equal(parked.size, 0)
    }
  })

  t.test('progress and log messages reach the client at its node', async t => {
    const [one, two] = await shared()
    const { arrived, answer, round } = await ask(one)
    arrived.call.progress({ progress: 1, message: 'while it was parked' })
    const client = two.client()
    const { answer: answered } = client.call(
      { a: 1 },
      { ...round, meta: { progressToken: 'two', 'io.modelcontextprotocol/logLevel': 'info' } }
    )
    await answer
    arrived.call.log({ level: 'debug', data: 'not wanted' })
    arrived.call.log({ level: 'warning', data: 'careful' })
    arrived.call.progress({ progress: 2, total: 2 })
    arrived.resolve(DONE)
    t.match(await answered, { result: DONE })
    t.strictSame(client.notifications.take().map(({ params }) => params), [
      { progressToken: 'two', progress: 1, message: 'while it was parked' },
      { level: 'warning', data: 'careful' },
      { progressToken: 'two', progress: 2, total: 2 }
    ])
  })

  t.test('errors, failures and results of four megabytes come as they are', async t => {
    const [one, two] = await shared()
    const large = { content: [{ type: 'text', text: 'é'.repeat(4 << 20) }], isError: true }
    for (const isError of [true, false]) {
      const { arrived, answer, round } = await ask(one)
      const retry = two
        .client()
        .call(
          { a: 1 },
          {
            ...round,
            inputResponses: Object.fromEntries(
              Object.keys(round.inputResponses).map(key => [key, { ...ACCEPT, content: { name: 'x'.repeat(100_000) } }])
            )
          }
        )
      t.match(await answer, { content: { name: /x{100000}/ } })
      if (isError) arrived.reject(new McpError(-32050, 'no', { why: 1 }))
      else arrived.resolve(large)
      const { error, result } = await retry.answer
      if (isError) t.strictSame(error, { code: -32050, message: 'no', data: { why: 1 } })
      else t.match(result, large)
    }
  })

  t.test('a state that is shown at all nodes at once is good for one of them', async t => {
    const all = await shared()
    const { arrived, answer, round } = await ask(all[0])
    const retries = all.map(async ({ client }) => await client().call({ a: 1 }, round).answer)
    await answer
    arrived.resolve(DONE)
    const replies = await Promise.all(retries)
    t.equal(replies.filter(({ result }) => result !== undefined).length, 1)
    for (const { error } of replies) {
      if (error !== undefined) {
        t.match(error, { code: -32602, data: { upstream: 'files', reason: 'answered already, or too late' } })
      }
    }
    t.match(await all[2].client().call({ a: 1 }, round).answer, { error: { code: -32602 } }, 'later, too')
  })

  t.test('other arguments, other callers and malformed answers are refused, and the call stays parked', async t => {
    const [one, two] = await shared()
    const { arrived, answer, round } = await ask(one, { principal: 'ada' })
    const [key = ''] = Object.keys(round.inputResponses)
    t.match(await two.client({ principal: 'ada' }).call({ a: 2 }, round).answer, { error: { code: -32602 } })
    t.match(await two.client({ principal: 'ben' }).call({ a: 1 }, round).answer, { error: { code: -32602 } })
    t.match(
      await two.client({ principal: 'ada' }).call({ a: 1 }, { ...round, inputResponses: { [key]: { action: 'yes' } } })
        .answer,
      { error: { code: -32602, message: /inputResponses/ } }
    )
    const asked = { ...question(round, two), answers: round.inputResponses }
    for (const [index, wrong] of [
      { principal: 'ben' },
      { bound: 'x' },
      { upstream: 'other' },
      { nonce: 'x' },
      { parkedId: 'x' }
    ].entries()) {
      await two.app.mcp.store.nodes.send(one.app.mcp.store.nodes.self ?? '', {
        kind: 'request',
        number: 1_000 + index,
        request: { kind: 'resume', body: { ...asked, ...wrong } }
      })
    }
    const retry = two.client({ principal: 'ada' }).call({ a: 1 }, round)
    t.strictSame(await answer, ACCEPT)
    arrived.resolve(DONE)
    t.match(await retry.answer, { result: DONE })
  })

  t.test('a client that leaves or cancels at its node ends the call at the upstream', async t => {
    const [one, two] = await shared()
    for (const leave of [
      (client: RelayClient) => client.close(),
      (client: RelayClient, id: number) => client.cancel(id)
    ]) {
      const { answer, round } = await ask(one)
      const client = two.client()
      const { id } = client.call({ a: 1 }, round)
      await answer
      leave(client, id)
      await one.connection.cancelled.next()
      await until(() => one.parked.size === 0)
    }
  })

  t.test('the time of a call runs where its client is, and its end ends the call', async t => {
    const [one, two] = await cluster(t, { timeout: 500 })
    const { round } = await ask(one)
    t.match(await two.client().call({ a: 1 }, round).answer, {
      error: { message: /given up after \d+ ms without an answer of the upstream server files/ }
    })
    await one.connection.cancelled.next()
  })

  t.test('the call of a node that was stopped is refused in words, and one that it served is waited for', async t => {
    // On a busy machine an answer may take seconds through a folder.
    const [one, two] = await cluster(t, {}, { grace: 20_000 })
    const served = await ask(one)
    const { round } = await ask(one)
    const retry = two.client().call({ a: 1 }, served.round)
    await served.answer
    const closed = one.app.close()
    await one.connection.cancelled.next()
    served.arrived.resolve(DONE)
    t.match(await retry.answer, { result: DONE })
    await closed
    const { answer } = two.client().call({ a: 1 }, round)
    t.match(await answer, {
      error: {
        code: -32602,
        message: /send the request again without requestState/,
        data: { reason: 'not here any more' }
      }
    })
    t.equal(two.connection.arrived.size, 0, 'the upstream was not called again')
  })

  t.test('a call that does not end with its node is reported as lost', async t => {
    const [one, two] = await cluster(t)
    const { answer, round } = await ask(one)
    const retry = two.client().call({ a: 1 }, round)
    await answer
    await one.app.close()
    t.match(await retry.answer, {
      error: { code: -32603, message: /files was lost before it answered .*whether the call took effect is not known/ }
    })
  })

  t.test('a state that names a node which never was is refused', async t => {
    const [one] = await shared()
    const carried = { upstream: 'files', parked: { parkedId: 'x', nonce: 'y', node: '0123456789ab' } }
    const requestState = writeRounds(
      one.app.mcp.dispatcher.sealer,
      boundTo(undefined),
      { answers: {}, once: {}, carried }
    )
    t.match(await one.client().call({ a: 1 }, { requestState }).answer, {
      error: { code: -32602, data: { reason: 'not here any more' } }
    })
  })

  t.test('calls whose rounds reach any node are all answered with their own results', async t => {
    const all = await shared()
    const node = (number: number): Node => all[number % 3] as Node
    for (const { connection } of all) void answerAll(connection, calls / 3)
    const wrong: unknown[] = []
    const callOften = async (first: number): Promise<void> => {
      for (let number = first; number < calls; number += 15) {
        let reply = await node(number).client().call({ number }).answer
        for (let round = 1; round <= 3 && reply.error === undefined; round++) {
          reply = await node(number * round + round)
            .client()
            .call({ number }, roundAfter(reply, { action: 'accept', content: { round, number } })).answer
        }
        if (!isDeepStrictEqual(reply.result?.content, textOf([1, 2, 3].map(round => ({ round, number }))))) {
          wrong.push(reply)
        }
      }
    }
    await Promise.all(Array.from({ length: 15 }, async (_, first) => await callOften(first)))
    t.strictSame(wrong, [])
    for (const { parked } of all) t.equal(parked.size, 0)
  })
}

const textOf = (value: unknown) => [{ type: 'text', text: JSON.stringify(value) }]

/** Plays an upstream that asks three times and answers with what it got. */
async function answerAll ({ arrived }: Node['connection'], calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const { call, resolve } = await arrived.next()
    void (async () => {
      const answers: unknown[] = []
      for (let round = 0; round < 3; round++) {
        answers.push(((await call.ask(ELICIT, FORM, never)) as { content: unknown }).content)
      }
      resolve({ content: textOf(answers) })
    })()
  }
}

/** The request of a node to the one at which a call is parked. */
const boundTo = (principal: string | undefined): Bound =>
  ({ method: 'tools/call', params: { name: 'files__tool', arguments: { a: 1 } }, principal, peer: {} })

function question ({ requestState }: Asked['round'], from: Node) {
  const { carried } = from.app.mcp.dispatcher.sealer.open('requestState', String(requestState)) as {
    carried: { parked: { parkedId: string, nonce: string } }
  }
  return {
    upstream: 'files',
    ...carried.parked,
    principal: 'ada',
    bound: binding(boundTo('ada')),
    capabilities: EVERYTHING,
    logLevel: undefined
  }
}
