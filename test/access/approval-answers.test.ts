import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { setMaxListeners } from 'node:events'
import t, { type Test } from 'tap'
import { createClient, tool, type Identity, type Options } from '../../app.js'
import { askFor, type Approver } from '../../plugins/trust/approvals/approve.js'
import { askDesk } from '../../plugins/trust/approvals/ask-desk.js'
import { ApprovalDesk } from '../../plugins/trust/approvals/desk.js'
import type { Form } from '../../plugins/trust/rules/proposal.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Values } from '../../protocol/store.js'
import { memoryStore } from '../../stores/memory/store.js'
import { stopTime } from '../support/clocks.js'
import { gateway } from '../support/gateway.js'
import { ADA as ADAS_KEY, apiKeys, bearer } from '../support/keys.js'
import { ASKING, Speaker, textOf } from '../support/speaker.js'
import { bestTime, cpuTime, cpuTimeOf } from '../support/timing.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const ROOT: Identity = { principal: 'key:root', scopes: new Set(['admin']) }
const FORM = { elicitation: {} }

/** A gateway with a tool that rules ask about, and what it logs. */
async function open (t: Test, rule: Partial<Options['rules'][number]> = { by: 'operator' }, more: Partial<Options> = {}) {
  const lines: Array<{ audit?: Json, msg: string, level: number }> = []
  const write = (line: string): void => { lines.push(JSON.parse(line) as { msg: string, level: number }) }
  const logger = { level: 'info', stream: { write } }
  const ran: string[] = []
  const text = Type.Optional(Type.String())
  const input = Type.Object({ repo: text, branch: text, n: Type.Optional(Type.Number()) })
  const plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    tools.add(tool({ name: 'push', description: '', input, run: args => { ran.push(JSON.stringify(args)); return 'pushed' } }))
  }
  const app = await gateway(t, { tools: false, plugins: [plugin], rules: [{ ask: ['push'], ...rule }], ...more }, { logger })
  const audits = (): Json[] => lines.flatMap(({ audit }) => audit === undefined ? [] : [audit])
  return { app, ran, lines, audits }
}

async function waiting (operator: Speaker): Promise<Json & { id: string, digest: string }> {
  for (;;) {
    const [one] = (await operator.request('patchbay/approvals')).result.approvals as Json[]
    if (one !== undefined) return one as Json & { id: string, digest: string }
    await new Promise(resolve => setImmediate(resolve))
  }
}

const decide = async (operator: Speaker, { id, digest }: Json, decision: string) =>
  await operator.request('patchbay/approvals/decide', { id, digest, decision })

t.test('arguments are shown as the tool gets them: with defaults, own names, and fixed values hidden', async t => {
  const views = {
    prod: {
      override: { push: { name: 'publish', arguments: { repo: { value: 'prod-secret' }, branch: { default: 'main' }, n: { name: 'count' } } } }
    }
  }
  const { app, ran } = await open(t, { by: 'operator' }, { views })
  const operator = new Speaker(app, { identity: ROOT })
  const call = new Speaker(app, { identity: ADA, view: 'prod' }).tool('publish', { count: 3 })
  const one = await waiting(operator)
  t.match(one, { name: 'push', view: 'prod', fixed: ['repo'] })
  t.strictSame(one.arguments, { n: 3, branch: 'main', repo: '***' })
  t.notMatch(JSON.stringify(await app.mcp.store.values.list('approvals/pending')), /prod-secret/, 'nor is it stored')
  await decide(operator, one, 'approve')
  t.equal(textOf(await call), 'pushed')
  t.strictSame(ran.map(text => JSON.parse(text) as Json), [{ n: 3, branch: 'main', repo: 'prod-secret' }])

  app.mcp.rules.replace({ rules: [{ ask: ['push'] }], rulesDefault: 'allow' })
  for (const version of ASKING) {
    const user = new Speaker(app, {
      version, identity: ADA, view: 'prod', capabilities: FORM, answers: { 'elicitation/create': () => ({ action: 'accept', content: {} }) }
    })
    t.equal(textOf(await user.tool('publish', { branch: '***' })), 'pushed', version)
    const question = String(user.asked[0]?.params.message)
    t.match(question, /^Run push with these arguments\? \(rules\.0, view prod\)\n[^]*"branch": "\*\*\*"[^]*"repo": "\*\*\*"/)
    t.match(question, /\nThe operator fixed the value of: repo$/, 'what the caller sent is none of these')
    t.notMatch(question, /prod-secret/)
  }
})

t.test('the audit log has who said yes or no, on every road, and to which proposal', async t => {
  const { app, audits } = await open(t)
  const operator = new Speaker(app, { identity: ROOT })
  const client = new Speaker(app, { identity: ADA })
  const last = (method: string): Json => audits().filter(audit => audit['method'] === method).at(-1) as Json
  for (const [decision, answer, outcome] of [['approve', 'approved', 'ok'], ['decline', 'declined', 'denied']] as const) {
    const call = client.tool('push')
    const one = await waiting(operator)
    await decide(operator, one, decision)
    await call
    const approval = { id: one.id, answer, by: 'operator', principal: 'key:root' }
    t.match(last('tools/call'), { principal: 'key:ada', outcome, approval })
    t.strictSame(last('patchbay/approvals/decide')['approval'], approval)
  }
  await client.tool('push')
  t.match(last('tools/call'), { outcome: 'denied', approval: { answer: 'declined', principal: 'key:root' } }, 'it stays so, by the same')

  app.mcp.rules.replace({ rules: [{ ask: ['push'], wait: 1_000 }], rulesDefault: 'allow' })
  for (const version of ASKING) {
    for (const [action, answer] of [['accept', 'approved'], ['decline', 'declined']] as const) {
      const user = new Speaker(app, {
        version, principal: `key:${version}`, capabilities: FORM, answers: { 'elicitation/create': () => ({ action, content: {} }) }
      })
      await user.tool('push', { n: 1 })
      t.match(last('tools/call')['approval'], { answer, by: 'user', principal: `key:${version}` }, `${version} ${action}`)
    }
  }
  const silent = new Speaker(app, { identity: ADA, capabilities: FORM })
  await silent.tool('push', { n: 2 })
  t.equal(last('tools/call')['approval'], undefined, 'there is none where no answer came')
})

t.test('no caller answers its own call, nor does one without a name', async t => {
  const { app, ran, lines } = await open(t)
  const [root, other] = [new Speaker(app, { identity: ROOT }), new Speaker(app, { principal: 'key:other' })]
  const call = root.tool('push')
  const one = await waiting(root)
  for (const decision of ['approve', 'decline']) {
    const refused = await decide(root, one, decision)
    t.match(refused.error, { data: { code: 'PATCHBAY_NOT_ALLOWED' }, message: /a call of your own credential, which another operator has to answer/ })
  }
  const anyone = new Speaker(app)
  t.match((await decide(anyone, one, 'approve')).error.message, /needs an operator who is known by name[^]*patchbay key NAME --scope admin/)
  const inside = await createClient(app)
  await t.rejects(inside.request('patchbay/approvals/decide', { id: one.id, decision: 'approve' }), /known by name/)
  t.strictSame(ran, [])
  t.match(lines.filter(({ level }) => level === 40).map(({ msg }) => msg)[0], /a rule asks an operator, and none can answer at this gateway/)
  t.match((await decide(other, one, 'approve')).result, {})
  t.equal(textOf(await call), 'pushed')

  const body = { jsonrpc: '2.0', id: 1, method: 'patchbay/approvals/decide', params: { id: one.id, decision: 'approve' } }
  const keyed = await open(t, { by: 'operator' }, { apiKeys })
  t.notMatch(JSON.stringify(keyed.lines), /none can answer/)
  const { payload } = await keyed.app.inject({ method: 'POST', url: '/message', payload: body, headers: bearer(ADAS_KEY) })
  t.match(JSON.parse(payload), { error: { code: -32601 } })
})

const LIMITS = { maxApprovals: 10, maxApprovalsPerCaller: 10 }
const PROPOSAL = {
  digest: 'd'.repeat(30), owner: 'owner', caller: 'ada', method: 'tools/call', name: 'pay', arguments: {}, rule: 'r', message: undefined, by: 'operator' as const, wait: 60_000
}
const ROOTS = { by: 'operator', principal: 'key:root' } as const

/** The values with a process that dies after so many writes: none of its later ones is done. */
function dyingAfter (values: Values, writes: number): Values {
  let left = writes
  const mortal = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
    if (--left < 0) throw new Error('killed')
    return await write(...args)
  }
  return {
    ...values,
    get: values.get.bind(values),
    put: mortal(values.put.bind(values)),
    swap: mortal(values.swap.bind(values)),
    take: mortal(values.take.bind(values)),
    delete: mortal(values.delete.bind(values))
  }
}

t.test('an answer counts as a whole or not at all, wherever the process that stores it is killed', async t => {
  for (const isApproved of [true, false]) {
    for (const writes of [0, 1, 2, 3]) {
      const { values } = memoryStore()
      const desk = new ApprovalDesk(values, LIMITS)
      const wait = desk.wait(PROPOSAL, new AbortController().signal)
      await until(async () => (await desk.list()).length === 1, 'it waits')
      const [one] = await desk.list()
      const dying = new ApprovalDesk(dyingAfter(values, writes), LIMITS)
      const counts = await dying.answer(String(one?.id), { isApproved, ...ROOTS }).catch(() => false)
      t.equal(counts, writes > 0)
      if (!counts) {
        t.equal((await desk.list()).length, 1, 'it still waits, and is listed')
        await desk.answer(String(one?.id), { isApproved, ...ROOTS })
      }
      t.strictSame(await wait, { is: isApproved ? 'approved' : 'declined', by: ROOTS }, `${writes} writes`)
      t.strictSame(await desk.list(), [])
      if (isApproved) continue
      t.strictSame(await desk.wait(PROPOSAL, new AbortController().signal), { is: 'declined', by: ROOTS }, 'it stays declined')
    }
  }
})

t.test('a refusal stays where as many are remembered as may be', async t => {
  const { values } = memoryStore()
  const desk = new ApprovalDesk(values, { maxApprovals: 1, maxApprovalsPerCaller: 1 })
  for (let index = 0; index < 10; index++) t.ok(await desk.decline(PROPOSAL, `other.${index}`, ROOTS))
  const { signal } = new AbortController()
  const wait = desk.wait(PROPOSAL, signal)
  await until(async () => (await desk.list()).length === 1, 'it waits')
  await desk.answer(String((await desk.list())[0]?.id), { isApproved: false, ...ROOTS })
  t.match(await wait, { is: 'declined' })
  t.match(await desk.wait(PROPOSAL, signal), { is: 'declined' })
})

t.test('nested arguments that are too long to be shown cost no more than others', async t => {
  const nested = JSON.parse(`${'['.repeat(60)}${'1,'.repeat(100_000)}1${']'.repeat(60)}`) as unknown
  const proposal = { name: 'pay', digest: 'd', rule: 'r', message: undefined, arguments: nested } as unknown as ReturnType<Approver['describe']>
  const approver = { desk: {} as ApprovalDesk, describe: () => proposal, maxApprovalText: 1_000 }
  const enough = 20 * cpuTime(() => { JSON.stringify(nested) }) + 20
  const cost = await bestTime(enough, async () => await cpuTimeOf(async () => {
    t.match((await askFor({ method: 'tools/call' } as Call, proposal, approver)).why, /limit maxApprovalText/)
  }), 3)
  t.ok(cost < enough, `${cost} ms, at most ${enough} ms`)
  const form: Form = { message: '?', requestedSchema: { default: nested } }
  const { signal } = new AbortController()
  const asking = await bestTime(enough, async () => await cpuTimeOf(async () => {
    const asked = askDesk({} as Call, PROPOSAL, { method: 'elicitation/create', params: { ...form } }, { ...approver, signal })
    await t.rejects(asked, /limit maxApprovalText/)
  }), 3)
  t.ok(asking < 3 * enough, `${asking} ms, at most ${3 * enough} ms`)
})

t.test('many calls of a caller at once get no more places, refusals and uses than their limits', async t => {
  const { values } = memoryStore()
  const limits = { maxApprovals: 1_000, maxApprovalsPerCaller: 3 }
  const [desk, other] = [new ApprovalDesk(values, limits), new ApprovalDesk(values, limits)]
  const [ending, racing] = [new AbortController(), new AbortController()]
  setMaxListeners(0, ending.signal, racing.signal)
  const begin = async (desk: ApprovalDesk, index: number): Promise<string> =>
    (await desk.wait({ ...PROPOSAL, digest: `digest ${index}` }, ending.signal)).is
  const waits = Array.from({ length: 20 }, async (_, index) => await begin(desk, index))
  await until(async () => (await desk.list()).length > 0, 'some wait')
  const full = waits.slice(3).map(async wait => await wait)
  t.strictSame(new Set(await Promise.all(full)), new Set(['full for caller']))
  t.equal((await desk.list()).length, 3)
  const late = Array.from({ length: 20 }, async (_, index) => await begin(index % 2 === 0 ? desk : other, 20 + index))
  t.strictSame(new Set(await Promise.all(late)), new Set(['full for caller']))
  ending.abort()
  await Promise.all(waits)
  let refused = 0
  const nodes = Array.from({ length: 20 }, async (_, index) => {
    const proposal = { ...PROPOSAL, digest: `digest ${index}` }
    const { is } = await (index % 2 === 0 ? desk : other).wait(proposal, racing.signal)
    if (is === 'full for caller') refused++
  })
  await until(() => refused >= 17, 'all but three are refused by two nodes')
  t.ok((await desk.list()).length <= 3)
  racing.abort()
  await Promise.all(nodes)
  const decline = async (id: string): Promise<boolean> => await desk.decline(PROPOSAL, id, ROOTS)
  const declined = await Promise.all(Array.from({ length: 40 }, async (_, index) => await decline(`ada.${index}`)))
  t.equal(declined.filter(Boolean).length, 30)
  t.ok(await decline('bob.1'), 'another caller')
  const use = async (owner: string, token: string): Promise<boolean> => await desk.use(owner, token, 'mark', 1_000)
  const used = await Promise.all(Array.from({ length: 310 }, async (_, index) => await use('ada', `${index}`)))
  t.equal(used.filter(Boolean).length, 300)
  t.ok(await use('bob', '1'), 'another caller')
})

t.test('an answer counts, and a lost call waits again, though nothing tells of it', async t => {
  const { values } = memoryStore()
  t.intercept(values, 'onChange', { value: () => () => {} })
  const desk = new ApprovalDesk(values, { maxApprovals: 9, maxApprovalsPerCaller: 9 })
  const { pass } = stopTime(t)
  const end = desk.wait({ ...PROPOSAL, wait: 60_000 }, new AbortController().signal)
  const pending = async (): Promise<string> => {
    let id: string | undefined
    await until(async () => (id = (await desk.list())[0]?.id) !== undefined, 'it waits')
    return String(id)
  }
  await values.delete('approvals/pending', await pending())
  await pass(5_000)
  await desk.answer(await pending(), { isApproved: true, ...ROOTS })
  await pass(5_000)
  t.match(await end, { is: 'approved' })
})

t.test('a call whose time is over is not announced once more', async t => {
  const { values } = memoryStore()
  const desk = new ApprovalDesk(values, { maxApprovals: 9, maxApprovalsPerCaller: 9 })
  const announced: string[] = []
  desk.announce = ({ id }) => { announced.push(id) }
  const { pass } = stopTime(t)
  const end = desk.wait({ ...PROPOSAL, wait: 4_000 }, new AbortController().signal)
  await until(() => announced.length > 0, 'it waits')
  // The time that is left is a difference of fractions, and may be a little longer.
  await pass(4_001)
  t.match(await end, { is: 'unanswered' })
  t.equal(announced.length, 1)
  t.strictSame(await desk.list(), [])
})

t.test('an answer is bound to the whole digest of its call', async t => {
  const { values } = memoryStore()
  const desk = new ApprovalDesk(values, { maxApprovals: 9, maxApprovalsPerCaller: 9 })
  const [one, other] = [{ ...PROPOSAL, digest: `${'d'.repeat(63)}1` }, { ...PROPOSAL, digest: `${'d'.repeat(63)}2` }]
  const ending = new AbortController()
  const ends = [one, other].map(async proposal => await desk.wait(proposal, ending.signal))
  await until(async () => (await desk.list()).length === 2, 'both wait')
  const { id = '' } = (await desk.list()).find(({ digest }) => digest === one.digest) ?? {}
  await desk.answer(id, { isApproved: true, ...ROOTS })
  t.match(await ends[0], { is: 'approved' })
  ending.abort()
  t.match(await ends[1], { is: 'unanswered' })
})
