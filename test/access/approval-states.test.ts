import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import { settable } from '../support/clocks.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { gateway } from '../support/gateway.js'
import { Speaker, textOf, type Answer } from '../support/speaker.js'
import { until } from '../support/wait.js'
import { addUpstream } from '../upstreams/relay/fake-upstream.js'

type Json = Record<string, unknown>

const STATELESS = '2026-07-28'
const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const FORM = { elicitation: {} }
const YES = { action: 'accept', content: {} }
const REFUSED = { data: { code: 'PATCHBAY_STATE_REFUSED' } }

async function open (t: Test, wait?: number, more: Partial<Options> = {}) {
  const ran: number[] = []
  const plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    const input = Type.Object({ amount: Type.Number() })
    tools.add(tool({ name: 'pay', description: '', input, run: ({ amount }) => { ran.push(amount); return 'paid' } }))
  }
  const rules = [{ ask: ['pay'], ...(wait !== undefined && { wait }) }]
  const app = await gateway(t, { tools: false, plugins: [plugin], rules, views: { a: {}, b: {} }, ...more })
  return { app, ran }
}

const speaker = (app: FastifyInstance, view?: string): Speaker =>
  new Speaker(app, { version: STATELESS, identity: ADA, capabilities: FORM, ...(view !== undefined && { view }) })

const pay = async (client: Speaker, more: Json = {}): Promise<Answer> =>
  await client.answerTo(client.send('tools/call', { name: 'pay', arguments: { amount: 1 }, ...more }))

/** The state that the client is asked with, and its yes. */
function accepting ({ result }: Answer): { requestState: string, inputResponses: Json } {
  const inputResponses = Object.fromEntries(Object.keys(result['inputRequests'] as Json).map(key => [key, YES]))
  return { requestState: String(result['requestState']), inputResponses }
}

t.test('a state is accepted as long as the rule waits, and runs nothing when its time is over', async t => {
  const clock = settable(t)
  for (const [wait, isGood] of [[120_000, 100_000], [86_400_000, 80_000_000]] as const) {
    const { app, ran } = await open(t, wait)
    const client = speaker(app)
    const late = accepting(await pay(client))
    const inTime = accepting(await pay(client))
    clock.later += isGood
    t.equal(textOf(await pay(client, inTime)), 'paid', `${wait} ms`)
    clock.later += wait - isGood + 1_000
    const after = await pay(client, late)
    t.match(after.error === undefined ? textOf(after) : after.error.message, /was not run|has expired/)
    clock.later += 600_000
    t.match((await pay(client, late)).error, REFUSED, 'expired')
    t.match(textOf(await pay(client, inTime)) ?? 'refused', /was not run|refused/, 'used')
    t.strictSame(ran, [1])
  }
})

t.test('a state of another view, or with one other byte, runs nothing', async t => {
  const { app, ran } = await open(t)
  const brought = accepting(await pay(speaker(app, 'a')))
  for (const view of ['b', undefined]) t.match((await pay(speaker(app, view), brought)).error, REFUSED, view ?? 'none')
  const { requestState } = brought
  for (let at = 0; at < requestState.length; at += 7) {
    const letter = requestState[at] === 'A' ? 'B' : 'A'
    const flipped = `${requestState.slice(0, at)}${letter}${requestState.slice(at + 1)}`
    t.match((await pay(speaker(app, 'a'), { ...brought, requestState: flipped })).error, REFUSED, `byte ${at}`)
  }
  t.strictSame(ran, [])
  t.equal(textOf(await pay(speaker(app, 'a'), brought)), 'paid', 'the right one does')
})

t.test('one state at two nodes at once runs one call', async t => {
  const data = await dataFolder(t)
  const nodes = [await open(t, undefined, { data }), await open(t, undefined, { data })]
  const [one, other] = nodes.map(({ app }) => speaker(app)) as [Speaker, Speaker]
  for (let round = 1; round <= 10; round++) {
    const brought = accepting(await pay(one))
    const answers = await Promise.all([one, other, one, other].map(async client => await pay(client, brought)))
    t.equal(answers.filter(answer => textOf(answer) === 'paid').length, 1)
    t.equal(nodes.flatMap(({ ran }) => ran).length, round)
  }
})

t.test('a client that leaves while it is asked, or answers with an error or nonsense, runs nothing', async t => {
  const { app, ran } = await open(t)
  const leaving = new Speaker(app, { identity: ADA, capabilities: FORM })
  leaving.send('tools/call', { name: 'pay', arguments: { amount: 1 } })
  await leaving.until(() => leaving.asked.length === 1)
  leaving.close()
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0, 'it is gone')
  const answers: unknown[] = [{ action: 'yes' }, {}, { content: {} }, { action: ['accept'] }, { action: 'Accept' }, true]
  for (const given of answers) {
    const client = new Speaker(app, { identity: ADA, capabilities: FORM, answers: { 'elicitation/create': () => given } })
    t.notMatch(JSON.stringify(await client.tool('pay', { amount: 2 })), /paid/, JSON.stringify(given))
    const stateless = speaker(app)
    const { requestState, inputResponses } = accepting(await pay(stateless))
    const nonsense = Object.fromEntries(Object.keys(inputResponses).map(key => [key, given]))
    t.notMatch(JSON.stringify(await pay(stateless, { requestState, inputResponses: nonsense })), /paid/)
  }
  const failing = new Speaker(app, { identity: ADA, capabilities: FORM })
  const id = failing.send('tools/call', { name: 'pay', arguments: { amount: 3 } })
  await failing.until(() => failing.asked.length === 1)
  failing.refuse({ code: -1, message: 'no user here' })
  t.notMatch(JSON.stringify(await failing.answerTo(id)), /paid/)
  t.strictSame(ran, [])
})

const DONE = { content: [{ type: 'text', text: 'paid' }] }
const MORE = { method: 'elicitation/create', params: { message: 'More?', requestedSchema: { type: 'object', properties: {} } } }

t.test('an approved tool of a server runs once, may ask more, and its server is not told of the approval', async t => {
  for (const version of [STATELESS, '2025-11-25']) {
    const { app } = await open(t, undefined, { rules: [{ ask: ['files__tool'] }] })
    const { connection } = addUpstream(app, version)
    t.after(() => connection.arrived.end())
    const client = new Speaker(app, { version: STATELESS, identity: ADA, capabilities: FORM, answers: { 'elicitation/create': () => YES } })
    const answer = client.tool('files__tool', { amount: 1 })
    const first = await connection.arrived.next()
    t.notOk('inputResponses' in first.params || 'requestState' in first.params)
    if (version === STATELESS) {
      first.resolve({ resultType: 'input_required', inputRequests: { more: MORE }, requestState: 'theirs' })
      const second = await connection.arrived.next()
      t.match(second.params, { inputResponses: { more: YES }, requestState: 'theirs' })
      t.strictSame(Object.keys(second.params.inputResponses as Json), ['more'])
      second.resolve(DONE)
    } else {
      first.resolve(DONE)
    }
    t.equal(textOf(await answer), 'paid', version)
    t.equal(client.asked.length, version === STATELESS ? 2 : 1)
  }
})

t.test('a server gets nothing of an approved call that was not shown, but its trace', async t => {
  const { app } = await open(t, undefined, { rules: [{ ask: ['files__tool'] }] })
  const { connection } = addUpstream(app, STATELESS)
  t.after(() => connection.arrived.end())
  const client = new Speaker(app, { version: STATELESS, identity: ADA, capabilities: FORM, answers: { 'elicitation/create': () => YES } })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const _meta = { 'vendor.example/force': true, traceparent }
  const answer = client.request('tools/call', { name: 'files__tool', arguments: { amount: 1 }, amount: 999, _meta })
  const { params, resolve } = await connection.arrived.next()
  resolve(DONE)
  t.strictSame(params, { name: 'tool', arguments: { amount: 1 }, _meta: { traceparent } })
  t.equal(textOf(await answer), 'paid')
})

t.test('a server that makes a task of an approved call is not told of the approval', async t => {
  const { app } = await open(t, undefined, { rules: [{ ask: ['files__tool'] }] })
  const { connection } = addUpstream(app, STATELESS)
  Object.assign(connection.server, { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } })
  t.after(() => connection.arrived.end())
  const client = new Speaker(app, { version: STATELESS, identity: ADA, capabilities: FORM, answers: { 'elicitation/create': () => YES } })
  const answer = client.tool('files__tool', { amount: 1 })
  const task = { taskId: 'theirs', status: 'working', pollIntervalMs: 100 }
  ;(await connection.arrived.next()).resolve({ ...task, resultType: 'task', ttlMs: 60_000 })
  const look = await connection.arrived.next()
  t.equal(look.method, 'tasks/get')
  look.resolve({ ...task, status: 'completed', result: { ...DONE, resultType: 'complete' } })
  t.equal(textOf(await answer), 'paid')
})

t.test('an approved tool of a server runs over plain HTTP', async t => {
  const { app } = await open(t, undefined, { rest: true, rules: [{ ask: ['files__tool'] }] })
  const { connection } = addUpstream(app, '2025-11-25')
  t.after(() => connection.arrived.end())
  const url = '/api/tools/files__tool'
  const asked = (await app.inject({ method: 'POST', url, payload: { amount: 1 } })).json<Json>()
  const answers = Object.fromEntries(Object.keys(asked.questions as Json).map(key => [key, YES]))
  const running = app.inject({ method: 'POST', url: `${url}/answers`, payload: { arguments: { amount: 1 }, state: asked.state, answers } })
  ;(await connection.arrived.next()).resolve(DONE)
  t.match((await running).body, 'paid')
})
