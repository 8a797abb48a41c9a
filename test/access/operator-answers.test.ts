import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import { ApprovalDesk } from '../../plugins/trust/approvals/desk.js'
import { mistakeInForm } from '../../protocol/questions/form-mistake.js'
import { gateway } from '../support/gateway.js'
import { bearer, listed } from '../support/keys.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { ERAS, Speaker, textOf } from '../support/speaker.js'
import { inFrontOf } from '../support/upstreams.js'
import { openFixture } from '../upstreams/fixture/open.js'

type Json = Record<string, unknown>
type Pending = Json & { id: string, digest: string }

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const ROOT: Identity = { principal: 'key:root', scopes: new Set(['admin']) }
const KEY = 'pb_ada-0123456789-0123456789-0123456789-012'
const FORM = { elicitation: {} }
const schema = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 5 }, age: { type: 'integer', minimum: 18 } },
  required: ['name']
}

/** A gateway with a tool that asks for a name, and what it logs. */
async function open (t: Test, rule: Options['rules'][number] = { allow: ['greet'], questions: 'operator' }, more: Partial<Options> = {}) {
  const audits: Json[] = []
  const write = (line: string): void => {
    const { audit } = JSON.parse(line) as { audit?: Json }
    if (audit?.['method'] === 'tools/call') audits.push(audit)
  }
  const plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    tools.add(tool({
      name: 'greet',
      description: '',
      input: Type.Object({ word: Type.Optional(Type.String()) }),
      run: async ({ word = 'Hello' }, call) => {
        const { action, content } = await call.elicit('name', { message: 'Your name?', requestedSchema: schema })
        return action === 'accept' ? `${word} ${String((content as Json)['name'])}` : action
      }
    }))
  }
  const app = await gateway(t, { tools: false, plugins: [plugin], rules: [rule], ...more }, { logger: { level: 'info', stream: { write } } })
  return { app, audits, operator: new Speaker(app, { identity: ROOT }) }
}

async function waiting (operator: Speaker): Promise<Pending> {
  for (;;) {
    const [one] = (await operator.request('patchbay/approvals')).result.approvals as Pending[]
    if (one !== undefined) return one
    await new Promise(resolve => setImmediate(resolve))
  }
}

const answer = async (operator: Speaker, { id, digest }: Pending, content: Json, decision = 'approve') =>
  await operator.request('patchbay/approvals/decide', { id, digest, decision, content })

t.test('an operator answers a question of a tool for a client that cannot be asked, in every revision', async t => {
  const { app, audits, operator } = await open(t)
  for (const version of ERAS) {
    const client = new Speaker(app, { version, identity: ADA })
    const call = client.tool('greet', { word: 'Hi' })
    const one = await waiting(operator)
    t.match(one, { name: 'greet', caller: 'ada', arguments: { word: 'Hi' }, form: { message: 'Your name?', requestedSchema: schema } })
    for (const [content, wrong] of [
      [{}, /"name" is missing/], [{ name: 3 }, /"name" must be a text/], [{ name: 'much too long' }, /at most 5/], [{ name: 'Eve', age: 3 }, /at least 18/],
      [{ name: 'Eve', more: 1 }, /no field "more"/]
    ] as Array<[Json, RegExp]>) {
      t.match((await answer(operator, one, content)).error, { data: { code: 'PATCHBAY_WRONG_ANSWER' }, message: wrong })
    }
    t.match((await answer(operator, one, { name: 'Eve', age: 20 })).result, {})
    t.equal(textOf(await call), 'Hi Eve', version)
    t.match(audits.at(-1), { outcome: 'ok', answers: [{ id: one.id, answer: 'answered', by: 'operator', principal: 'key:root' }] })
  }
})

t.test('over POST /message, and at another node that shares the store', async t => {
  const { app, operator } = await open(t, { allow: ['greet'], questions: 'operator' }, { apiKeys: [listed('ada', KEY)] })
  const post = async (): Promise<string> => (await app.inject({
    method: 'POST', url: '/message', headers: bearer(KEY), payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet' } }
  })).body
  const first = post()
  await answer(operator, await waiting(operator), { name: 'Eve' })
  t.match(JSON.parse(await first), { result: { content: [{ text: 'Hello Eve' }] } })
  const second = post()
  const { id } = await waiting(operator)
  const other = new ApprovalDesk(app.mcp.store.values, { maxApprovals: 9, maxApprovalsPerCaller: 9 })
  await t.rejects(other.answer(id, { isApproved: true, by: 'operator', content: { name: 3 } }), /must be a text/)
  t.ok(await other.answer(id, { isApproved: true, by: 'operator', content: { name: 'Max' } }))
  t.match(JSON.parse(await second), { result: { content: [{ text: 'Hello Max' }] } })
})

t.test('declined stays declined, late is cancelled, and a client that can be asked is asked itself', async t => {
  const { app, audits, operator } = await open(t)
  const client = new Speaker(app, { identity: ADA })
  const call = client.tool('greet')
  await answer(operator, await waiting(operator), {}, 'decline')
  t.equal(textOf(await call), 'decline')
  t.equal(textOf(await client.tool('greet')), 'decline', 'without another question')
  t.match(audits.at(-1)?.['answers'], [{ answer: 'declined', principal: 'key:root' }])
  app.mcp.rules.replace({ rules: [{ allow: ['greet'], questions: 'operator', wait: 1_000 }], rulesDefault: 'allow' })
  t.equal(textOf(await client.tool('greet')), 'cancel', 'late')
  for (const version of ERAS.slice(2)) {
    const answers = { 'elicitation/create': () => ({ action: 'accept', content: { name: 'Own' } }) }
    const own = new Speaker(app, { version, identity: ADA, capabilities: FORM, answers })
    t.equal(textOf(await own.tool('greet')), 'Hello Own', version)
  }
  t.strictSame((await operator.request('patchbay/approvals')).result.approvals, [])
})

t.test('nothing is asked where no rule lets an operator answer, and no caller answers its own question', async t => {
  for (const rules of [[], [{ allow: ['greet'] }], [{ allow: ['other'], questions: 'operator' as const }]]) {
    const { app } = await open(t, { allow: ['greet'] }, { rules })
    for (const version of ERAS) {
      const refused = await new Speaker(app, { version, identity: ADA }).tool('greet')
      t.match(JSON.stringify(refused), /cannot be asked|PATCHBAY_CAPABILITY_MISSING/, version)
    }
  }
  const { app, operator } = await open(t)
  const own = operator.tool('greet')
  const one = await waiting(operator)
  t.match((await answer(operator, one, { name: 'Eve' })).error.data.code, 'PATCHBAY_NOT_ALLOWED')
  await answer(new Speaker(app, { principal: 'key:other' }), one, { name: 'Eve' })
  t.equal(textOf(await own), 'Hello Eve')
  t.match(await gateway(t, { rules: [{ deny: ['x'], questions: 'operator' }] }).catch(String), /rules\.0\.questions is for rules with "allow" or "ask"/)
})

t.test('an operator who may answer questions does not approve in place of the user, nor the other way round', async t => {
  const { app, audits, operator } = await open(t, { ask: ['greet'], questions: 'operator' })
  t.match(textOf(await new Speaker(app, { identity: ADA }).tool('greet')), /needs an approval of its user, and this client cannot be asked/)
  app.mcp.rules.replace({ rules: [{ ask: ['greet'], by: 'operator', questions: 'operator' }], rulesDefault: 'allow' })
  for (const version of ERAS) {
    const call = new Speaker(app, { version, identity: ADA }).tool('greet', { word: version })
    const first = await waiting(operator)
    t.equal(first['form'], undefined)
    t.match((await answer(operator, first, { name: 'Eve' })).error.message, /asks no question/)
    await operator.request('patchbay/approvals/decide', { id: first.id, decision: 'approve' })
    await answer(operator, await waiting(operator), { name: 'Eve' })
    t.equal(textOf(await call), `${version} Eve`)
    t.match(audits.at(-1), { approval: { id: first.id, answer: 'approved' }, answers: [{ answer: 'answered' }] })
  }
})

t.test('questions of upstream servers of both eras are answered for clients of all revisions', async t => {
  for (const revision of [newestLegacy, modern]) {
    const { entry } = await openFixture(t, 'HTTP', revision)
    const { app } = await inFrontOf(t, { up: entry }, { rules: [{ allow: ['up__*'], questions: 'operator' }] })
    const operator = new Speaker(app, { identity: ROOT })
    for (const version of ERAS) {
      const call = new Speaker(app, { version, identity: ADA }).tool('up__ask_form')
      const early = call.then(answer => { throw new Error(JSON.stringify(answer)) })
      const one = await Promise.race([waiting(operator), early])
      t.match(one, { name: 'up__ask_form' })
      await answer(operator, one, { name: 'Eve' })
      t.match(textOf(await call), /Eve/, `${version} in front of ${String(revision.version)}`)
    }
  }
})

t.test('a form is checked by its flat fields, and nothing of it is compiled', async t => {
  const of = (f: object, value: unknown): string | undefined => mistakeInForm({ properties: { f } }, { f: value })
  for (const [field, right, wrong] of [
    [{ type: 'string', minLength: 2 }, '🙂🙂', '🙂'],
    [{ type: 'string', format: 'email' }, 'a@b', 'ab'],
    [{ type: 'string', format: 'uri' }, 'https://a.test/', 'a'],
    [{ type: 'string', format: 'date' }, '2026-01-31', '2026-13-31'],
    [{ type: 'string', format: 'date-time' }, '2026-01-31T10:00:00Z', '2026-01-31'],
    [{ type: 'number', maximum: 1 }, 0.5, 2],
    [{ type: 'integer' }, 1, 1.5],
    [{ type: 'boolean' }, false, 'false'],
    [{ type: 'string', enum: ['a', 'b'] }, 'a', 'c'],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, 'a', 'A'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['a'], ['a', 'b']],
    [{ type: 'array', items: { anyOf: [{ const: 'a' }] }, minItems: 1 }, ['a'], ['b']]
  ] as Array<[object, unknown, unknown]>) {
    t.equal(of(field, right), undefined, JSON.stringify(field))
    t.match(of(field, wrong), /^the field "f" must/, JSON.stringify(field))
  }
  t.equal(of({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`), undefined, 'a pattern of a server costs nothing')
  t.match(mistakeInForm({}, { toString: 1 }), /no field "toString"/)
  t.equal(mistakeInForm({}, { toString: 1 }, true), undefined, 'programs may send more')
  t.match(mistakeInForm({ additionalProperties: false }, { more: 1 }, true), /no field "more"/, 'unless the form forbids it')
})
