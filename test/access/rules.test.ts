import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { prompt, resource, tool, type Identity, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { RESOURCE, startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, bearer, BOB } from '../support/keys.js'
import { ERAS, Speaker, textOf, type Answer } from '../support/speaker.js'
import { bestTime, cpuTime } from '../support/timing.js'
import { until } from '../support/wait.js'
import { Watcher } from '../support/watcher.js'

type Json = Record<string, unknown>
type Rules = Options['rules']

const ran: string[] = []

/** Things of each kind, and tools that say with which arguments they ran. */
async function things ({ mcp: { tools, prompts, resources } }: FastifyInstance): Promise<void> {
  const input = Type.Object({ repo: Type.Optional(Type.String()), amount: Type.Optional(Type.Number()) })
  for (const name of ['secret_tool', 'pay_tool', 'open_tool']) {
    tools.add(tool({
      name,
      description: name,
      input,
      run: args => {
        ran.push(name)
        return JSON.stringify(args)
      }
    }))
  }
  for (const name of ['secret', 'open']) {
    prompts.add(prompt({ name: `${name}_prompt`, arguments: { who: { complete: () => [name] } }, get: () => name }))
    resources.add(resource({ uri: `${name}://thing`, name, read: () => name, watch: () => () => {} }))
    resources.add(resource({ uri: `${name}://of/{id}`, name: `${name}s`, complete: { id: () => ['a'] }, list: () => ['x', 'y'].map(id => ({ uri: `${name}://of/${id}`, name: id })), read: ({ id }) => `${name} ${id}` }))
  }
}

const open = async (t: Test, rules: Rules, more: Partial<Options> = {}): Promise<FastifyInstance> =>
  await gateway(t, { plugins: [things], rules, tools: false, ...more })

const KEY: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }

/** All ways to ask for a thing by its name. */
const WAYS: Array<[method: string, params: (name: string) => Json]> = [
  ['tools/call', name => ({ name: `${name}_tool` })],
  ['tools/call', name => ({ name: `${name}_tool`, arguments: 5 })],
  ['prompts/get', name => ({ name: `${name}_prompt` })],
  ['resources/read', name => ({ uri: `${name}://thing` })],
  ['resources/read', name => ({ uri: `${name}://of/x` })],
  ['resources/subscribe', name => ({ uri: `${name}://thing` })],
  ['completion/complete', name => ({ ref: { type: 'ref/prompt', name: `${name}_prompt` }, argument: { name: 'who', value: '' } })],
  ['completion/complete', name => ({ ref: { type: 'ref/resource', uri: `${name}://of/{id}` }, argument: { name: 'id', value: '' } })]
]

t.test('what a rule hides answers like what does not exist, in lists, calls, reads, completion and suggestions', async t => {
  const rules: Rules = [{ deny: ['secret*'], for: { principal: 'ada' } }]
  const app = await open(t, rules)
  for (const version of ERAS) {
    const ada = new Speaker(app, { version, identity: KEY })
    const bob = new Speaker(app, { version, principal: 'key:bob' })
    for (const [method, params] of WAYS) {
      if (version === '2026-07-28' && method === 'resources/subscribe') continue
      const [hidden, missing] = [await ada.request(method, params('secret')), await ada.request(method, params('sacred'))]
      t.equal(JSON.stringify(hidden.error).replaceAll('secret', 'sacred'), JSON.stringify(missing.error), `${version} ${method}`)
      const own = await bob.request(method, params('secret'))
      if (params('').arguments === undefined) t.ok(own.result, `${version} ${method} of another`)
    }
    for (const [method, member] of [['tools/list', 'tools'], ['prompts/list', 'prompts'], ['resources/list', 'resources'], ['resources/templates/list', 'resourceTemplates']]) {
      const { result } = await ada.request(String(method))
      t.notMatch(JSON.stringify(result?.[String(member)]), /secret/, `${version} ${method}`)
      t.match(JSON.stringify((await bob.request(String(method))).result), /secret/)
    }
    t.notMatch(JSON.stringify((await ada.tool('secre_tool')).error), /secret/, 'no suggestion')
    t.match(JSON.stringify((await bob.tool('secre_tool')).error), /secret_tool/)
  }
})

t.test('a rule on arguments keeps the tool listed, and refuses the call in words', async t => {
  const rules: Rules = [
    { allow: ['pay_tool'], where: { amount: { max: 100 } }, name: 'small' },
    { deny: ['pay_tool'], message: 'at most 100 are paid without a form' },
    { deny: ['open_prompt', 'open:*'], where: { who: 'eve', uri: { in: ['open://thing', 'open://of/x*'] } } }
  ]
  const app = await open(t, rules)
  for (const version of ERAS) {
    const client = new Speaker(app, { version })
    t.match(JSON.stringify((await client.request('tools/list')).result), /pay_tool/)
    ran.length = 0
    t.match(textOf(await client.tool('pay_tool', { amount: 100 })), /100/)
    for (const args of [{ amount: 101 }, {}, { repo: 'a' }]) {
      const { result } = await client.tool('pay_tool', args)
      t.match(result, { isError: true, content: [{ type: 'text', text: 'at most 100 are paid without a form' }] })
    }
    t.strictSame(ran, ['pay_tool'], 'one of them ran')
    const { error } = await client.request('prompts/get', { name: 'open_prompt', arguments: { who: 'eve' } })
    t.match(error, { code: -32602, data: { code: 'PATCHBAY_NOT_ALLOWED' } }, 'the missing uri closes')
    t.match(textOfRead(await client.request('resources/read', { uri: 'open://of/y' })), 'open y', 'another uri')
  }
})

const textOfRead = ({ result }: Answer): unknown => (result?.contents as Json[])[0]?.text

t.test('reads through a template go by the URI, however it is spelled', async t => {
  const app = await open(t, [{ deny: ['open://of/x*'] }, { allow: ['secret://of/a'] }, { deny: ['secret*'] }])
  const client = new Speaker(app)
  t.equal(textOfRead(await client.request('resources/read', { uri: 'open://of/y' })), 'open y')
  const listed = JSON.stringify((await client.request('resources/list')).result)
  t.match(listed, /open:\/\/of\/y/)
  t.notMatch(listed, /open:\/\/of\/x/, 'what a template lists goes by its URI, too')
  for (const uri of ['open://of/x', 'open://of/%78', 'open://of/%2578', 'OPEN://of/x', 'open://of/X']) {
    t.match((await client.request('resources/read', { uri })).error, { code: -32002 }, uri)
  }
  t.equal(textOfRead(await client.request('resources/read', { uri: 'secret://of/a' })), 'secret a', 'allowed, though the template is not')
  t.match((await client.request('resources/read', { uri: 'secret://of/b' })).error, { code: -32002 })
  t.notMatch(JSON.stringify((await client.request('resources/templates/list')).result), /secret/)
})

t.test('a view, search and resources as tools give what the rules give, by their canonical names', async t => {
  const app = await open(t, [{ deny: ['secret*'], for: { view: 'work' } }, { deny: ['pay_tool'], where: { amount: { min: 5 } } }], {
    views: {
      work: { resourcesAsTools: true, search: { always: ['read_resource'] } },
      other: { override: { secret_tool: { name: 'lookup' } } }
    }
  })
  const work = new Speaker(app, { view: 'work' })
  const find = async (query: string): Promise<string> => JSON.stringify((await work.tool('find_tools', { query })).result)
  t.notMatch(await find('secret'), /secret_tool/)
  t.match(await find('pay'), /pay_tool/)
  const by = async (name: string, args: Json = {}): Promise<Answer> => await work.tool('call_tool', { name, arguments: args })
  t.equal(JSON.stringify((await by('secret_tool')).error).replaceAll('secret', 'sacred'), JSON.stringify((await by('sacred_tool')).error))
  t.match((await by('pay_tool', { amount: 5 })).result, { isError: true })
  t.match(textOf(await by('pay_tool', { amount: 4 })), /4/)
  const read = async (uri: string): Promise<string> => JSON.stringify(await work.tool('read_resource', { uri }))
  t.equal((await read('secret://thing')).replaceAll('secret', 'sacred').replace(/"id":\d+/, ''), (await read('sacred://thing')).replace(/"id":\d+/, ''))
  t.match(await read('open://thing'), /open/)
  t.notMatch(JSON.stringify((await work.tool('list_resources')).result), /secret/)
  const other = new Speaker(app, { view: 'other' })
  t.ok((await other.tool('lookup')).result, 'the rule is for another view')
  app.mcp.rules.replace({ rules: [{ deny: ['secret_tool'] }], rulesDefault: 'allow' })
  t.match((await other.tool('lookup')).error, { code: -32602 }, 'by its canonical name')
})

t.test('arguments are compared as the tool gets them: with fixed values and defaults, under its own names', async t => {
  const app = await open(t, [{ deny: ['pay_tool'], where: { repo: 'prod' } }, { deny: ['open_tool'], where: { amount: { min: 5 } } }], {
    views: {
      work: {
        override: {
          pay_tool: { arguments: { repo: { value: 'prod' } } },
          open_tool: { arguments: { amount: { name: 'sum', default: 9 } } }
        }
      }
    }
  })
  const client = new Speaker(app, { view: 'work' })
  t.match((await client.tool('pay_tool')).result, { isError: true })
  t.match((await client.tool('open_tool')).result, { isError: true }, 'the default')
  t.match((await client.tool('open_tool', { sum: 5 })).result, { isError: true })
  t.match(textOf(await client.tool('open_tool', { sum: 4 })), /"amount":4/)
})

t.test('a batch and a retried question are decided each by its own arguments', async t => {
  const app = await open(t, [{ deny: ['pay_tool', 'ask'], where: { amount: { min: 5 } } }], {
    plugins: [things, async ({ mcp }) => {
      mcp.tools.add(tool({
        name: 'ask',
        description: '',
        input: Type.Object({ amount: Type.Number() }),
        run: async ({ amount }, call) => {
          const answer = await call.elicit('sure', { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })
          return `${answer.action} ${amount}`
        }
      }))
    }]
  })
  const call = (id: number, amount: number): object =>
    ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'pay_tool', arguments: { amount } } })
  const { body } = await app.inject({ method: 'POST', url: '/message', payload: [call(1, 4), call(2, 5)] })
  const answers = new Map((JSON.parse(body) as Json[]).map(each => [each.id, each.result as Json]))
  t.notMatch(answers.get(1), { isError: true })
  t.match(answers.get(2), { isError: true })

  const client = new Speaker(app, { version: '2026-07-28', capabilities: { elicitation: {} } })
  const first = await client.answerTo(client.send('tools/call', { name: 'ask', arguments: { amount: 4 } }))
  const { requestState } = first.result
  const retry = { requestState, inputResponses: { sure: { action: 'accept', content: {} } } }
  const send = async (amount: number, more: Json): Promise<Answer> =>
    await client.answerTo(client.send('tools/call', { name: 'ask', arguments: { amount }, ...more }))
  t.match((await send(5, retry)).error, { data: { code: 'PATCHBAY_STATE_REFUSED' } }, 'the state is of another call')
  t.match((await send(5, { inputResponses: retry.inputResponses })).result, { isError: true })
  t.match(textOf(await send(4, retry)), 'accept 4')
})

t.test('the audit log and the watch feed name the rule that decided', async t => {
  const lines: Array<{ audit?: Json, msg: string }> = []
  const logger = { level: 'info', stream: { write: (line: string) => { lines.push(JSON.parse(line) as { audit?: Json, msg: string }) } } }
  const app = await gateway(t, {
    plugins: [things],
    tools: false,
    rules: [{ deny: ['secret*'], name: 'no-secrets' }, { deny: ['pay_tool'], where: { amount: { min: 5 } } }, { allow: ['open_tool'] }]
  }, { logger })
  const watcher = await Watcher.open(t, app)
  const client = new Speaker(app)
  await client.tool('secret_tool')
  await client.tool('pay_tool', { amount: 5 })
  await client.tool('pay_tool', { amount: 4 })
  await client.tool('open_tool')
  const audits = lines.flatMap(({ audit, msg }) => audit?.method === 'tools/call' ? [{ ...audit, msg }] : [])
  t.match(audits, [
    { tool: 'secret_tool', outcome: 'denied', rule: 'no-secrets', msg: /^tools\/call secret_tool denied [\d.]+ ms by no-secrets \(/ },
    { tool: 'pay_tool', outcome: 'denied', rule: 'rules.1' },
    { tool: 'pay_tool', outcome: 'ok' },
    { tool: 'open_tool', outcome: 'ok', rule: 'rules.2' }
  ])
  t.notOk('rule' in (audits[2] ?? {}) && audits[2]?.['rule' as never] !== undefined, 'no rule where none decided')
  const ended = (): Json[] => watcher.batches.flatMap(batch => batch.ended ?? [])
  await until(() => ended().filter(({ rule }) => rule !== undefined).length >= 3, 'the feed has them')
  t.match(ended().filter(({ rule }) => rule !== undefined), [{ rule: 'no-secrets', outcome: 'denied' }, { rule: 'rules.1' }, { rule: 'rules.2' }])
})

t.test('new rules count from the next call, and only callers whose lists changed are notified', async t => {
  const app = await open(t, [])
  const clients = { ada: new Speaker(app, { identity: KEY }), bob: new Speaker(app, { principal: 'key:bob' }) }
  const listening = new Speaker(app, { version: '2026-07-28', identity: KEY })
  await listening.listen({ toolsListChanged: true, promptsListChanged: true })
  for (const client of Object.values(clients)) await client.subscribe('secret://thing')
  app.mcp.rules.replace({ rules: [{ deny: ['secret*', 'open_prompt'], for: { principal: 'ada' }, }, { deny: ['pay_tool'], where: { amount: 1 } }], rulesDefault: 'allow' })
  t.match((await clients.ada.tool('secret_tool')).error, { code: -32602 })
  for (const method of ['notifications/tools/list_changed', 'notifications/prompts/list_changed', 'notifications/resources/list_changed']) {
    await clients.ada.next(method)
  }
  await listening.next('notifications/tools/list_changed')
  app.mcp.resources.updated('secret://thing')
  await clients.bob.next('notifications/resources/updated')
  t.strictSame(clients.bob.notifications, [], 'nothing changed for the other')
  t.strictSame(clients.ada.notifications, [], 'what is hidden by now is not updated')
})

t.test('anonymous callers share prepared pages, which new rules prepare again', async t => {
  const app = await open(t, [{ deny: ['pay_tool'] }])
  const list = async (): Promise<string> => {
    const { body } = await app.inject({ method: 'POST', url: '/message', payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
    return body
  }
  const first = await list()
  t.equal(await list(), first)
  t.notMatch(first, /pay_tool/)
  app.mcp.rules.replace({ rules: [{ deny: ['open_tool'] }], rulesDefault: 'allow' })
  t.match(await list(), /pay_tool/)
  t.notMatch(await list(), /open_tool/)
})

t.test('keys are told apart, and scopes that a reload takes away count at once', async t => {
  const app = await open(t, [{ deny: ['secret*'], for: { not: { scope: 'admin' } } }], { apiKeys })
  const names = async (key: string): Promise<string> => {
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    return (await app.inject({ method: 'POST', url: '/message', headers: bearer(key), payload })).body
  }
  t.notMatch(await names(ADA), /secret_tool/)
  t.match(await names(BOB), /secret_tool/)
  app.mcp.identities.replaceKeys(apiKeys.map(key => ({ ...key, scopes: ['mcp'] })))
  app.mcp.scopes.replaceScopes({})
  t.notMatch(await names(BOB), /secret_tool/)
})

t.test('claims of tokens decide, on other nodes too, and a claim that new rules name closes until it is read', async t => {
  const issuer = await startIssuer(t)
  const forTeam = { claim: { team: 'release' } }
  const app = await open(t, [{ allow: ['secret*'], for: forTeam }, { deny: ['secret*'] }], {
    oauth: { issuer: issuer.url, resource: RESOURCE }
  })
  const token = await issuer.sign({ sub: 'ada', team: ['release'], level: 3 })
  const sees = async (credential: string): Promise<boolean> => {
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { body } = await app.inject({ method: 'POST', url: '/message', headers: bearer(credential), payload })
    return body.includes('secret_tool')
  }
  t.equal(await sees(token), true)
  t.equal(await sees(await issuer.sign({ sub: 'bob', team: 'other' })), false)
  t.equal(await sees(await issuer.sign({ sub: 'bob' })), false)

  const { identities } = app.mcp
  const identity = await identities.authenticate(token)
  t.strictSame(identity.claims, { team: ['release'] }, 'only what rules name')
  const carried = JSON.parse(JSON.stringify(identities.carry(identity))) as ReturnType<typeof identities.carry>
  t.strictSame(identities.adopt(carried)?.claims, { team: ['release'] })

  const client = new Speaker(app, { identity })
  app.mcp.rules.replace({ rules: [{ deny: ['secret*'], for: { claim: { level: 3 } } }], rulesDefault: 'allow' })
  t.equal(await sees(token), false, 'the token is read again')
  t.match((await client.tool('secret_tool')).error, { code: -32602 }, 'the connection of before')
  app.mcp.rules.replace({ rules: [{ deny: ['secret*'], for: { claim: { level: 4 } } }], rulesDefault: 'allow' })
  t.equal(await sees(token), true)
})

t.test('a list of 5,000 tools with 50 rules costs milliseconds, once it is known', async t => {
  const rules: Rules = Array.from({ length: 50 }, (_, index) => ({ deny: [`tool_${index}_*`, `*_${index}x`], for: { principal: ['ada', 'bot-*'] } }))
  const app = await open(t, rules, { pageSize: 1_000 })
  const base = tool({ name: 'many', description: 'x', run: () => '' })
  app.mcp.tools.relay([], Array.from({ length: 5_000 }, (_, index) => ({ ...base, name: `tool_${index}_y`, listed: { ...base.listed, name: `tool_${index}_y` } })))
  const caller = { identity: KEY, channel: {}, peer: {} } as Parameters<typeof app.mcp.scopes.allows>[0]
  const pass = (): number => cpuTime(() => {
    for (const name of app.mcp.tools.names()) {
      const item = app.mcp.tools.get(name)
      if (item !== undefined) app.mcp.scopes.allows(caller, 'tools', name, item)
    }
  })
  pass()
  const best = await bestTime(15, async () => pass(), 30)
  t.ok(best < 15, `${best} ms`)
  t.comment(`${best} ms`)
})
