import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import { memoryStore } from '../../stores/memory/store.js'
import { ApprovalDesk } from '../../plugins/trust/approvals/desk.js'
import { gateway } from '../support/gateway.js'
import { ASKING, ERAS, Speaker, textOf, type Answer } from '../support/speaker.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>

const FORM = { elicitation: {} }
const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const ROOT: Identity = { principal: 'key:root', scopes: new Set(['admin']) }

/** A gateway whose tools note what they ran with, and rules that ask about them. */
async function open (t: Test, rule: Options['rules'][number] = { ask: ['pay', 'ask_more'] }, more: Partial<Options> = {}) {
  const ran: string[] = []
  const input = Type.Object({ amount: Type.Optional(Type.Number()), text: Type.Optional(Type.String()) })
  const plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    tools.add(tool({ name: 'pay', description: '', input, run: args => { ran.push(JSON.stringify(args)); return 'paid' } }))
    tools.add(tool({
      name: 'ask_more',
      description: '',
      input,
      run: async (_args, call) => {
        const { action } = await call.elicit('more', { message: 'More?', requestedSchema: { type: 'object', properties: {} } })
        ran.push(action)
        return action
      }
    }))
  }
  const app = await gateway(t, { tools: false, plugins: [plugin], rules: [rule], ...more })
  return { app, ran }
}

const answering = (action: string) => ({ 'elicitation/create': () => ({ action, ...(action === 'accept' && { content: {} }) }) })

t.test('the own user is shown what would run, and it runs once with exactly that', async t => {
  for (const version of ASKING) {
    const { app, ran } = await open(t, { ask: ['pay'], message: 'This costs money.' })
    const client = new Speaker(app, { version, identity: ADA, capabilities: FORM, answers: answering('accept') })
    t.equal(textOf(await client.tool('pay', { amount: 5, text: 'a\u202eb' })), 'paid', version)
    t.strictSame(ran, [JSON.stringify({ amount: 5, text: 'a\u202eb' })])
    t.match(client.asked[0]?.params.message, /^This costs money\.\nRun pay with these arguments\? \(rules\.0\)\n[^]*"amount": 5[^]*a\\u\{202e\}b/)
    t.equal(textOf(await client.tool('pay', { amount: 5, text: 'a\u202eb' })), 'paid')
    t.equal(client.asked.length, 2, 'asked each time')
  }
})

t.test('declined, cancelled, unanswered: not run, in words, and a refusal stays for the same call', async t => {
  for (const version of ASKING) {
    const { app, ran } = await open(t)
    const client = new Speaker(app, { version, identity: ADA, capabilities: FORM, answers: answering('decline') })
    t.match(textOf(await client.tool('pay', { amount: 1 })), /^pay was not run: the user declined this call/)
    t.match((await client.tool('pay', { amount: 1 })).result, { isError: true })
    t.equal(client.asked.length, 1, 'it is not asked again')
    await client.tool('pay', { amount: 2 })
    t.equal(client.asked.length, 2, 'another call is')
    const other = new Speaker(app, { version, identity: ADA, capabilities: FORM, answers: answering('cancel') })
    t.match(textOf(await other.tool('pay', { amount: 3 })), /^pay was not run: it needs an approval of the user/)
    t.strictSame(ran, [])
  }
  const { app, ran } = await open(t, { ask: ['pay'], wait: 1_000 })
  const silent = new Speaker(app, { identity: ADA, capabilities: FORM })
  t.match(textOf(await silent.tool('pay')), /needs an approval of the user, and there is none/)
  t.strictSame(ran, [])
})

t.test('a client that cannot be asked is told so, and nothing runs', async t => {
  const { app, ran } = await open(t)
  for (const version of ERAS) {
    t.match(textOf(await new Speaker(app, { version, identity: ADA }).tool('pay')), /this client cannot be asked/, version)
  }
  const { body } = await app.inject({ method: 'POST', url: '/message', payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay' } } })
  t.match(JSON.parse(body), { result: { isError: true } })
  t.strictSame(ran, [])
})

/** The answer to one request, without answering what it asks. */
const once = async (client: Speaker, args: Json, more: Json = {}): Promise<Answer> =>
  await client.answerTo(client.send('tools/call', { name: 'pay', arguments: args, ...more }))

t.test('forged, replayed, swapped and foreign answers of a stateless client run nothing', async t => {
  const { app, ran } = await open(t)
  const client = new Speaker(app, { version: '2026-07-28', identity: ADA, capabilities: FORM })
  const asked = await once(client, { amount: 1 })
  const { requestState, inputRequests } = asked.result
  const [key = ''] = Object.keys(inputRequests as Json)
  const yes = { action: 'accept', content: {} }
  const isAskedAgain = (answer: Answer): boolean => answer.result?.inputRequests !== undefined
  t.ok(isAskedAgain(await once(client, { amount: 1 }, { inputResponses: { [key]: yes } })), 'an answer without its state')
  t.ok(isAskedAgain(await once(client, { amount: 1 }, { inputResponses: { approval: yes, 'patchbay/approval': yes } })), 'guessed keys')
  t.ok(isAskedAgain(await once(client, { amount: 1 }, { requestState, inputResponses: { other: yes } })), 'a state without the answer')
  t.match((await once(client, { amount: 2 }, { requestState, inputResponses: { [key]: yes } })).error, { data: { code: 'PATCHBAY_STATE_REFUSED' } }, 'other arguments')
  const eve = new Speaker(app, { version: '2026-07-28', principal: 'key:eve', capabilities: FORM })
  t.match((await once(eve, { amount: 1 }, { requestState, inputResponses: { [key]: yes } })).error, { data: { code: 'PATCHBAY_STATE_REFUSED' } }, 'another caller')
  t.strictSame(ran, [])
  const accepted = { requestState, inputResponses: { [key]: yes } }
  const racing = await Promise.all([1, 2, 3, 4, 5].map(async () => await once(client, { amount: 1 }, accepted)))
  t.equal(racing.filter(answer => textOf(answer) === 'paid').length, 1, 'one of five')
  t.match(textOf(await once(client, { amount: 1 }, accepted)), /was not run/, 'a replay')
  t.strictSame(ran, ['{"amount":1}'])
})

t.test('a tool that asks more goes on with its approval, and each of its states runs once', async t => {
  for (const by of ['caller', 'operator'] as const) {
    const { app, ran } = await open(t, { ask: ['ask_more'], by })
    const operator = new Speaker(app, { identity: ROOT })
    const client = new Speaker(app, { version: '2026-07-28', identity: ADA, capabilities: FORM })
    const send = async (more: Json): Promise<Answer> =>
      await client.answerTo(client.send('tools/call', { name: 'ask_more', arguments: {}, ...more }))
    const accepting = ({ result }: Answer): Json => ({
      requestState: result.requestState,
      inputResponses: Object.fromEntries(Object.keys(result.inputRequests as Json).map(key => [key, { action: 'accept', content: {} }]))
    })
    const first = send({})
    if (by === 'operator') await decide(operator, 'approve')
    const question = by === 'caller' ? await send(accepting(await first)) : await first
    t.strictSame(Object.keys(question.result.inputRequests as Json), ['more'], by)
    const [one, two] = await Promise.all([send(accepting(question)), send(accepting(question))])
    t.strictSame([one, two].map(textOf).filter(text => text === 'accept').length, 1)
    t.strictSame(ran, ['accept'])
  }
})

/** The calls that wait, as soon as there is one. */
async function waiting (operator: Speaker, count = 1): Promise<Array<Json & { id: string, digest: string }>> {
  for (;;) {
    const { approvals } = (await operator.request('patchbay/approvals')).result
    if ((approvals as Json[]).length >= count) return approvals as Array<Json & { id: string, digest: string }>
    await new Promise(resolve => setImmediate(resolve))
  }
}

async function decide (operator: Speaker, decision: string): Promise<Json> {
  const [one] = await waiting(operator)
  t.match((await operator.request('patchbay/approvals/decide', { id: one?.id, decision, digest: one?.digest })).result, {})
  return one as Json
}

t.test('an operator sees what waits and answers once; callers cannot', async t => {
  const { app, ran } = await open(t, { ask: ['pay'], by: 'operator' })
  const operator = new Speaker(app, { identity: ROOT })
  for (const version of ERAS) {
    ran.length = 0
    const client = new Speaker(app, { version, identity: ADA })
    const answer = client.tool('pay', { amount: 7 })
    const [one] = await waiting(operator)
    t.match(one, { caller: 'ada', name: 'pay', arguments: { amount: 7 }, rule: 'rules.0', by: 'operator' })
    for (const method of ['patchbay/approvals', 'patchbay/approvals/decide']) {
      const refused = await client.request(method, { id: one?.id, decision: 'approve' })
      t.equal(refused.error.code, -32601, 'the method does not exist for the caller')
    }
    const wrong = await operator.request('patchbay/approvals/decide', { id: one?.id, decision: 'approve', digest: 'x' })
    t.match(wrong.error, { data: { code: 'PATCHBAY_INVALID_PARAMS' } })
    t.strictSame(ran, [])
    const two = await Promise.all([1, 2].map(async () => await operator.request('patchbay/approvals/decide', { id: one?.id, decision: 'approve' })))
    t.equal(two.filter(({ error }) => error === undefined).length, 1, 'one of two approvers')
    t.equal(textOf(await answer), 'paid', version)
    t.strictSame(ran, ['{"amount":7}'])
  }
  const client = new Speaker(app, { identity: ADA })
  const declined = client.tool('pay', { amount: 8 })
  await decide(operator, 'decline')
  t.match(textOf(await declined), /the operator declined this call/)
  t.match(textOf(await client.tool('pay', { amount: 8 })), /the operator declined/, 'it stays so')
  t.strictSame((await operator.request('patchbay/approvals')).result.approvals, [])
})

t.test('an approval is good for the call it was of: not for another caller, other arguments or other rules', async t => {
  const { app, ran } = await open(t, { ask: ['pay'], by: 'operator', wait: 60_000 })
  const operator = new Speaker(app, { identity: ROOT })
  const ada = new Speaker(app, { identity: ADA })
  const eve = new Speaker(app, { principal: 'key:eve' })
  const calls = [ada.tool('pay', { amount: 1 }), eve.tool('pay', { amount: 1 }), ada.tool('pay', { amount: 2 })]
  const all = await waiting(operator, 3)
  const mine = all.find(({ caller, arguments: given }) => caller === 'ada' && (given as Json).amount === 1)
  await operator.request('patchbay/approvals/decide', { id: mine?.id, decision: 'approve' })
  t.equal(textOf(await calls[0] as Answer), 'paid')
  t.strictSame(ran, ['{"amount":1}'])
  app.mcp.rules.replace({ rules: [{ ask: ['pay'], by: 'operator', message: 'new' }], rulesDefault: 'allow' })
  for (const { id } of await waiting(operator, 2)) await operator.request('patchbay/approvals/decide', { id, decision: 'approve' })
  for (const call of calls.slice(1)) t.match(textOf(await call), /the rules changed while it waited/)
  t.strictSame(ran, ['{"amount":1}'])
})

t.test('as many calls wait as the limits allow, in all and of one caller, with as much text', async t => {
  const limits = { maxApprovals: 3, maxApprovalsPerCaller: 2, maxApprovalText: 200 }
  const { app, ran } = await open(t, { ask: ['pay'], by: 'operator', wait: 60_000 }, { limits })
  const operator = new Speaker(app, { identity: ROOT })
  const [ada, eve] = [new Speaker(app, { identity: ADA }), new Speaker(app, { principal: 'key:eve' })]
  for (const amount of [1, 2]) ada.send('tools/call', { name: 'pay', arguments: { amount } })
  await waiting(operator, 2)
  t.match(textOf(await ada.tool('pay', { amount: 3 })), /limit maxApprovalsPerCaller/)
  eve.send('tools/call', { name: 'pay', arguments: { amount: 1 } })
  await waiting(operator, 3)
  t.match(textOf(await eve.tool('pay', { amount: 2 })), /limit maxApprovals\)/)
  t.match(textOf(await eve.tool('pay', { text: 'x'.repeat(200) })), /limit maxApprovalText/)
  t.strictSame(ran, [])
})

t.test('a rule on hints asks about what may destroy, and no hint waives what asks', async t => {
  const { app } = await open(t, { ask: ['*'], by: 'operator', hints: { destructive: true }, wait: 1_000 }, {
    plugins: [async ({ mcp: { tools } }) => {
      tools.add(tool({ name: 'reads', description: '', annotations: { readOnlyHint: true }, run: () => 'done' }))
      tools.add(tool({ name: 'says_nothing', description: '', run: () => 'done' }))
    }]
  })
  const client = new Speaker(app, { identity: ADA })
  t.equal(textOf(await client.tool('reads')), 'done')
  t.match(textOf(await client.tool('says_nothing')), /needs an approval of the operator, and there is none/)
  app.mcp.rules.replace({ rules: [{ ask: ['reads'], by: 'operator', wait: 1_000 }], rulesDefault: 'allow' })
  t.match(textOf(await client.tool('reads')), /needs an approval/)
})

t.test('two nodes and two approvers at once: a call runs once or not at all, 200 times', async t => {
  const { values } = memoryStore()
  const limits = { maxApprovals: 1_000, maxApprovalsPerCaller: 1_000 }
  const desks = [new ApprovalDesk(values, limits), new ApprovalDesk(values, limits)] as const
  for (let round = 0; round < 200; round++) {
    const digest = `digest-${round}-${'x'.repeat(20)}`
    const shown = { caller: 'ada', method: 'tools/call', name: 'pay', arguments: {}, rule: 'rules.0', message: undefined }
    const proposal = { ...shown, digest, owner: 'owner', by: 'operator' as const, wait: 2_000 }
    const ending = new AbortController()
    const waits = desks.map(async desk => await desk.wait(proposal, ending.signal))
    let id = ''
    await until(async () => {
      id = (await desks[0].list()).find(({ digest }) => digest === proposal.digest)?.id ?? ''
      return id !== ''
    }, 'it waits')
    const answers = await Promise.all(desks.map(async desk => await desk.answer(id, { isApproved: true, by: 'operator' })))
    const first = await Promise.race(waits)
    ending.abort()
    const ends = await Promise.all(waits)
    t.equal(answers.filter(Boolean).length, 1)
    t.equal(first.is, 'approved')
    t.equal(ends.filter(({ is }) => is === 'approved').length, 1)
  }
})
