import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { Peer } from '../../protocol/peer/peer.js'
import { newestStateful } from '../../protocol/revisions/table.js'
import type { Connection, UpstreamStatus } from '../../upstreams/ports.js'
import { FakeCall } from '../support/fake-upstream.js'
import { gateway } from '../support/gateway.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { inTime, until } from '../support/wait.js'
import { openFixture } from './fixture/open.js'

/** A program that reads its input and never answers. */
const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }

type Servers = NonNullable<Options['mcpServers']>

async function withServers (t: Test, mcpServers: Servers, options: Partial<Options> = {}): Promise<FastifyInstance> {
  return await gateway(t, { tools: false, plugins: [], ephemeral: true, mcpServers, ...options })
}

const statusOf = (app: FastifyInstance, alias: string): UpstreamStatus | undefined =>
  app.mcp.upstreams.status().find(status => status.alias === alias)

/** The connection for calls of a principal. */
async function connectionOf (app: FastifyInstance, alias: string, principal: string): Promise<Connection> {
  const upstream = app.mcp.upstreams.get(alias)
  if (upstream === undefined) throw new Error(`there is no ${alias}`)
  const call = { peer: new Peer(), principal, revision: newestStateful, signal: new AbortController().signal }
  return await inTime(upstream.connectionFor(call as unknown as Call), 'the connection')
}

t.test('a server that is not ready in time has failed, and is tried again', async t => {
  const app = await withServers(t, { silent }, { limits: { upstreamStartTimeout: 500 } })
  await until(() => statusOf(app, 'silent')?.lastError !== undefined)
  t.match(statusOf(app, 'silent'), { state: 'backing off', lastError: 'it was not ready within 0.5 s' })
})

t.test('a few servers start at a time; the others wait for them, unless a call needs one', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { a: silent, b: entry }, { limits: { maxUpstreamStarts: 1 } })
  await until(() => statusOf(app, 'a')?.state === 'starting')
  t.equal(statusOf(app, 'b')?.state, 'starting')
  const connection = await inTime(
    app.mcp.upstreams.get('b')?.shared() ?? Promise.reject(new Error('none')),
    'the start'
  )
  t.equal(connection.closed, false)
  t.equal(statusOf(app, 'a')?.state, 'starting')
})

t.test('single callers have a bounded number of processes, and unused ones end', async t => {
  const { server, entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(
    t,
    { one: { ...entry, start: 'lazy', isolate: 'principal' } },
    { limits: { maxUpstreamConnections: 1, upstreamIdle: 200 } }
  )
  const ada = await connectionOf(app, 'one', 'ada')
  const controller = new AbortController()
  ada
    .request({
      method: 'tools/call',
      params: { name: 'hang', arguments: { key: 'k' } },
      call: new FakeCall('ada'),
      signal: controller.signal
    })
    .catch(() => {})
  await until(() => server.hanging.has('k'))
  await t.rejects(connectionOf(app, 'one', 'bob'), /all connections that callers may have of their own, 1, are in use/)
  // One more is the connection for lists, of which nothing was known.
  await until(() => server.conversations.size === 2, 'one of ada, none of bob')
  controller.abort()
  await until(() => ada.closed && server.conversations.size === 1, 'the end of the unused one')
})

t.test('a server has a bounded number of questions open', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { one: entry }, { limits: { maxUpstreamQuestions: 1 } })
  const connection = await connectionOf(app, 'one', 'ada')
  const call = new FakeCall('ada')
  call.answer = async () => await new Promise(() => {})
  const ask = async (): Promise<object> =>
    await connection.request({ method: 'tools/call', params: { name: 'ask_form', arguments: {} }, call })
  ask().catch(() => {})
  await until(() => call.asked.length === 1)
  t.match(await ask(), { isError: true, content: [{ text: /refused: -32603 .*1 questions are open already/ }] })
  t.equal(call.asked.length, 1)
})

t.test('a server without a handshake asks a client with one a bounded number of times during one call', async t => {
  const { entry } = await openFixture(t, 'HTTP', modern)
  const app = await withServers(t, { one: entry }, { limits: { maxUpstreamRounds: 1 } })
  await upstreamsReady(app, ['one'])
  const client = await createClient(app, {
    elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    sample: () => ({ role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' })
  })
  t.match(await client.request('tools/call', { name: 'one__ask_form', arguments: {} }), { content: [{ text: /Ada/ }] })
  await t.rejects(
    client.request('tools/call', { name: 'one__ask_twice', arguments: {} }),
    /one failed: it asks more than 1 times during one call \(limit maxUpstreamRounds\)/
  )
})
