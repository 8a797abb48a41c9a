import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { randomToken } from '../../lib/random-token.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { freePort, redisServer, withRedis } from '../support/environment/redis-server.js'
import { openStream, type Json } from '../support/event-reader.js'
import { listening } from '../support/gateway.js'
import { HttpSession, openSession, post } from '../support/http-session.js'
import { callTool, modernMeta, type Answer } from '../support/modern.js'
import { Gateway } from '../support/restarting.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { until } from '../support/wait.js'
import { openFixture } from '../upstreams/fixture/open.js'
import type { FixtureServer } from '../upstreams/fixture/server.js'

interface Node { app: FastifyInstance, url: string }

const ACCEPT = { action: 'accept', content: { name: 'Ada' } }
const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }

t.test('upstreams of three nodes on one Redis', withRedis, async t => {
  const { url: redis } = await redisServer(t)
  const old = await openFixture(t, 'HTTP', newestLegacy, 'old')
  const young = await openFixture(t, 'HTTP', modern, 'young')
  const shared = { redis, redisPrefix: `${randomToken(6, 'hex')}:`, mcpServers: { old: old.entry, young: young.entry } }
  const nodes: Node[] = []
  for (let count = 0; count < 3; count++) nodes.push(await listening(t, shared))
  for (const { app } of nodes) await upstreamsReady(app, ['old', 'young'])

  t.test('each round of a call may reach another node: of own tools, and of upstreams of both eras', async t => {
    t.match(await inRounds(nodes, 'ask_name'), { result: { content: [{ text: /Ada/ }] } })
    for (const { name, runs } of [old.server, young.server]) {
      for (let first = 0; first < 3; first++) {
        const [a, b, c] = [0, 1, 2].map(step => nodes[(first + step) % 3]) as [Node, Node, Node]
        t.match(await inRounds([a, b, c], `${name}__ask_twice`), {
          result: { content: [{ text: JSON.stringify([ACCEPT, SAMPLED]) }] }
        })
      }
      t.equal(runs.get('ask_twice'), name === 'old' ? 3 : 9, 'a legacy upstream is called once')
    }
  })

  t.test('a changed list of an upstream, and an updated resource, are heard once by each client', async t => {
    const heard = await Promise.all([
      ...nodes.map(async (node, index) => await hearSession(t, node, nodes[(index + 1) % 3] as Node)),
      ...nodes.map(async node => await hearListening(t, node))
    ])
    await until(() => subscribers(old.server) === 3, 'each node subscribes at the upstream')
    for (const step of [1, 2]) {
      old.server.addTool(`more-${step}`)
      await until(
        () =>
          heard.every(
            messages => messages.filter(method => method === 'notifications/tools/list_changed').length >= step
          ),
        'the change of a list'
      )
      for (const { app } of nodes) await until(() => app.mcp.tools.get(`old__more-${step}`) !== undefined)
      old.server.touch('old://one')
      await until(
        () =>
          heard.every(
            messages => messages.filter(method => method === 'notifications/resources/updated').length >= step
          ),
        'the update'
      )
    }
    for (const messages of heard) {
      t.strictSame(
        messages,
        [1, 2].flatMap(() => ['notifications/tools/list_changed', 'notifications/resources/updated'])
      )
    }
  })
})

t.test(
  'the call of a node that was killed is reported as lost, and one that it had parked is refused',
  withRedis,
  async t => {
    const { url: redis } = await redisServer(t)
    const { server, entry } = await openFixture(t, 'HTTP', newestLegacy, 'old')
    let isHanging = false
    server.addTool('ask_and_hang', async call => {
      await call.ask({
        name: {
          method: 'elicitation/create',
          params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
        }
      })
      isHanging = true
      return await new Promise<never>(() => {})
    })
    const file = join(await dataFolder(t), 'mcp.json')
    await writeFile(file, JSON.stringify({ mcpServers: { old: entry } }))
    const start = async (): Promise<Gateway> => {
      const node = new Gateway(t, await freePort(), await dataFolder(t), ['--mcp-config', file], {
        PATCHBAY_REDIS: redis
      })
      await node.start()
      return node
    }
    const [one, two] = [await start(), await start()]
    const first = await callAt(one, 'old__ask_and_hang')
    const second = await callAt(one, 'old__ask_and_hang')
    const running = callAt(two, 'old__ask_and_hang', roundAfter(first))
    await until(() => isHanging, 'the answer reaches the upstream')
    await one.end('SIGKILL')
    t.match(await running, { error: { code: -32603, message: /old was lost before it answered/ } })
    t.match(await callAt(two, 'old__ask_and_hang', roundAfter(second)), {
      error: { code: -32602, data: { reason: 'not here any more' } }
    })
    await one.start()
    t.match(
      await callAt(one, 'old__ask_and_hang', roundAfter(second)),
      { error: { code: -32602, data: { reason: 'not here any more' } } },
      'at its address, too'
    )
  }
)

/** A call that goes on at another node as often as there are questions. */
async function inRounds (nodes: Node[], name: string): Promise<Answer> {
  let answer: Answer | undefined
  for (const { app } of nodes) {
    if (answer === undefined || answer.result?.resultType === 'input_required') {
      answer = await callTool(app, name, {}, answer === undefined ? {} : roundAfter(answer))
    }
  }
  return answer as Answer
}

function roundAfter ({ result }: Pick<Answer, 'result'>): { requestState: unknown, inputResponses: Json } {
  const answers = Object.entries(result.inputRequests as Record<string, Json>).map(([key, { method }]) => [
    key,
    method === 'elicitation/create' ? ACCEPT : SAMPLED
  ])
  return { requestState: result.requestState, inputResponses: Object.fromEntries(answers) as Json }
}

async function callAt ({ url }: { url: string }, name: string, round: Json = {}): Promise<Answer> {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
  const { body } = await post(
    url,
    { id: 1, method: 'tools/call', params: { name, arguments: {}, ...round, _meta: modernMeta({ elicitation: {} }) } },
    headers
  )
  return body as unknown as Answer
}

/** What a client with a session hears whose stream is at one node and whose requests reach another. */
async function hearSession (t: Test, stream: Node, requests: Node): Promise<string[]> {
  const session = await openSession(requests.url)
  const reader = await new HttpSession(stream.url, session.id).listen()
  t.teardown(() => reader.drop())
  const heard = collect(reader)
  const { body } = await session.post({ id: 1, method: 'resources/subscribe', params: { uri: 'old://one' } })
  t.match(body, { result: {} })
  return heard
}

async function hearListening (t: Test, { url }: Node): Promise<string[]> {
  const headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen'
  }
  const params = {
    notifications: { toolsListChanged: true, resourceSubscriptions: ['old://one'] },
    _meta: modernMeta()
  }
  const reader = await openStream(`${url}/mcp`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
  })
  t.teardown(() => reader.drop())
  t.match(await reader.message(), { method: 'notifications/subscriptions/acknowledged' })
  return collect(reader)
}

function collect (reader: { message: () => Promise<Json> }): string[] {
  const heard: string[] = []
  void (async () => { for (;;) heard.push(String((await reader.message())['method'])) })().catch(() => {})
  return heard
}

const subscribers = ({ conversations }: FixtureServer): number =>
  [...conversations].filter(({ subscriptions }) => subscriptions.has('old://one')).length
