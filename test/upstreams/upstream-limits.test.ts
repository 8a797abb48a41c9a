import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Client, type Options } from '../../app.js'
import type { UpstreamStatus } from '../../upstreams/ports.js'
import { gateway } from '../support/gateway.js'
import { newestLegacy } from '../support/specification/revisions.js'
import { inTime, until } from '../support/wait.js'
import { openFixture } from './fixture/open.js'

/** A program that reads its input and never answers. */
const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }

type Servers = NonNullable<Options['mcpServers']>

async function withServers (t: Test, mcpServers: Servers, options: Partial<Options> = {}): Promise<FastifyInstance> {
  return await gateway(t, { tools: false, plugins: [], ephemeral: true, mcpServers, ...options })
}

const statusOf = (app: FastifyInstance, alias: string): UpstreamStatus | undefined => app.mcp.upstreams.status().find(status => status.alias === alias)

async function clientOf (app: FastifyInstance, principal: string, answer?: () => Promise<object>): Promise<Client> {
  return await createClient(app, {
    identity: { principal, scopes: 'all' },
    ...(answer === undefined ? {} : { capabilities: { elicitation: {} }, answers: { 'elicitation/create': answer } })
  })
}

t.test('a server that is not ready in time has failed, and is tried again', async t => {
  const app = await withServers(t, { silent }, { upstreamStartTimeout: 500 })
  await until(() => statusOf(app, 'silent')?.lastError !== undefined)
  t.match(statusOf(app, 'silent'), { state: 'backing off', lastError: 'it was not ready within 0.5 s' })
})

t.test('a few servers start at a time; the others wait for them, unless a call needs one', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { a: silent, b: entry }, { maxUpstreamStarts: 1 })
  await until(() => statusOf(app, 'a')?.state === 'starting')
  t.equal(statusOf(app, 'b')?.state, 'starting')
  const connection = await inTime(app.mcp.upstreams.get('b')?.shared() ?? Promise.reject(new Error('none')), 'the start')
  t.equal(connection.closed, false)
  t.equal(statusOf(app, 'a')?.state, 'starting')
})

t.test('single callers have a bounded number of processes, and unused ones end', async t => {
  const { server, entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { one: { ...entry, isolate: 'principal' } }, { maxUpstreamConnections: 1, upstreamIdle: 200 })
  await until(() => statusOf(app, 'one')?.tools !== 0 && statusOf(app, 'one')?.state === 'ready')
  const [ada, bob] = [await clientOf(app, 'ada'), await clientOf(app, 'bob')]
  const hanging = ada.request('tools/call', { name: 'one__hang', arguments: { key: 'k' } })
  hanging.catch(() => {})
  await until(() => server.hanging.has('k'))
  t.equal(server.conversations.size, 2, 'one is for lists')
  await t.rejects(bob.request('tools/call', { name: 'one__echo', arguments: { text: 'a' } }), /1 callers use connections of their own already/)
  ada.close()
  await until(() => server.conversations.size === 1, 'the end of the unused one')
})

t.test('a server has a bounded number of questions open', async t => {
  const { server, entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await withServers(t, { one: entry }, { maxUpstreamQuestions: 1 })
  await until(() => statusOf(app, 'one')?.tools !== 0 && statusOf(app, 'one')?.state === 'ready')
  let asked = 0
  const ada = await clientOf(app, 'ada', async () => { asked++; return await new Promise(() => {}) })
  const ask = async (): Promise<object> => await ada.request('tools/call', { name: 'one__ask_form', arguments: {} })
  ask().catch(() => {})
  await until(() => asked === 1)
  t.match(await ask(), { isError: true, content: [{ text: /refused: -32603 .*1 questions are open already/ }] })
  t.equal(asked, 1)
  t.equal(server.runs.get('ask_form'), 2)
})
