import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { resource, tool, type Identity, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { ERAS, Speaker, textOf, type Answer } from '../support/speaker.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }

/** A gateway with a tool that says what it ran with, and one that may be a task. */
async function open (t: Test, rules: Options['rules'], more: Partial<Options> = {}, fastify = {}) {
  const ran: string[] = []
  const input = Type.Object({ amount: Type.Optional(Type.Any()), to: Type.Optional(Type.Any()) })
  const plugin = async ({ mcp: { tools, resources } }: FastifyInstance): Promise<void> => {
    resources.add(resource({ uri: 'own://config', name: 'config', read: () => 'configured' }))
    for (const [name, task] of [['pay', undefined], ['pay_long', 'may']] as const) {
      tools.add(tool({
        name,
        description: 'pays',
        input,
        annotations: { readOnlyHint: true },
        ...(task !== undefined && { task }),
        run: args => { ran.push(JSON.stringify(args)); return JSON.stringify(args) }
      }))
    }
  }
  const { plugins = [], ...rest } = more
  const app = await gateway(t, { tools: false, plugins: [plugin, ...plugins], rules, ...rest }, fastify)
  return { app, ran }
}

/** Arguments that a rule with a bound on `amount` must not let pass. */
const ODD: Json[] = [
  {}, { amount: 101 }, { amount: '1' }, { amount: null }, { amount: [1] }, { amount: { max: 1 } }, { amount: true },
  { amount: 1e308 }, { Amount: 1 }, { 'amount ': 1 }, { amоunt: 1 }, { arguments: { amount: 1 } }
]
const SMALL: Options['rules'] = [{ allow: ['pay*'], where: { amount: { max: 100 } } }, { deny: ['pay*'] }]

t.test('plain HTTP, batches, call_tool and tasks refuse what a call refuses, and nothing runs', async t => {
  const { app, ran } = await open(t, SMALL, { rest: true, views: { found: { search: {} } } })
  const roads: Record<string, (args: Json) => Promise<unknown>> = {
    'plain HTTP': async args => {
      const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/tools/pay', payload: args })
      return statusCode === 200 ? 'ran' : body
    },
    'a query': async args => {
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(args)) query.set(name, JSON.stringify(value))
      const { statusCode, body } = await app.inject({ method: 'GET', url: `/api/tools/pay?${query.toString()}` })
      return statusCode === 200 ? 'ran' : body
    },
    'a batch': async args => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: args } }
      const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
      const { body } = await app.inject({ method: 'POST', url: '/message', payload: [ping, call] })
      return (JSON.parse(body) as Array<{ id: number, result?: Json }>).find(({ id }) => id === 1)?.result?.isError === true ? body : 'ran'
    },
    call_tool: async args => {
      const client = new Speaker(app, { view: 'found', identity: ADA })
      return (await client.tool('call_tool', { name: 'pay', arguments: args })).result?.isError === true ? 'no' : 'ran'
    },
    'a task': async args => {
      const client = new Speaker(app, { version: '2025-11-25', identity: ADA })
      const answer = await client.answerTo(client.send('tools/call', { name: 'pay_long', arguments: args, task: {} }))
      return answer.result?.isError === true ? 'no' : answer.error === undefined ? 'ran' : 'error'
    }
  }
  for (const [name, go] of Object.entries(roads)) {
    for (const args of ODD) {
      // A number in a query is a number where the schema says so, and a text of digits nowhere.
      if (name === 'a query' && JSON.stringify(args) === '{"amount":"1"}') continue
      t.not(await go(args), 'ran', `${name} ${JSON.stringify(args)}`)
    }
    t.strictSame(ran, [], name)
  }
  for (const [name, go] of Object.entries(roads)) if (name !== 'a query') t.equal(await go({ amount: 100 }), 'ran', name)
})

t.test('a member __proto__ of arguments is an argument like others, or is refused', async t => {
  const { app, ran } = await open(t, SMALL, { rest: true })
  const text = '{"__proto__":{"amount":1},"constructor":{"prototype":{"amount":1}}}'
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":${text}}}`
  for (const [url, payload] of [['/message', call], ['/api/tools/pay', text]] as const) {
    const { body } = await app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload })
    t.match(body, /isError|not allowed|error|Invalid/, url)
  }
  t.strictSame(ran, [])
})

t.test('a rule about call_tool or read_resource counts for what is done by it, with its own arguments', async t => {
  const { app, ran } = await open(t, [
    { deny: ['call_tool'], where: { name: { in: ['pay_*'] } }, message: 'not by search' },
    { ask: ['call_tool'], where: { 'arguments.amount': { min: 10 } } },
    { deny: ['read_resource'], where: { uri: { in: ['*config*'] } }, message: 'not this one' }
  ], { views: { found: { search: {}, resourcesAsTools: true } } })
  for (const version of ERAS) {
    ran.length = 0
    const client = new Speaker(app, { version, view: 'found', identity: ADA })
    const by = async (name: string, args: Json): Promise<Answer> => await client.tool('call_tool', { name, arguments: args })
    t.equal(textOf(await by('pay_long', { amount: 1 })), 'not by search', version)
    t.match(textOf(await by('pay', { amount: 10 })), /needs an approval of its user/)
    t.match(textOf(await by('pay', {})), /needs an approval/, 'a missing argument asks')
    t.strictSame(ran, [])
    t.match(textOf(await by('pay', { amount: 9 })), /9/)
    t.match(textOf(await client.tool('pay', { amount: 50 })), /50/, 'the rule is not about the tool itself')
    t.equal(textOf(await by('read_resource', { uri: 'own://config' })), 'not this one', 'by both')
    t.equal(textOf(await client.tool('read_resource', { uri: 'own://config' })), 'not this one')
  }
})

t.test('what waits for an operator by call_tool is the call of its target: one approval, which runs it once', async t => {
  const audits: Json[] = []
  const write = (line: string): void => {
    const { audit } = JSON.parse(line) as { audit?: Json }
    if (audit?.['method'] === 'tools/call') audits.push(audit)
  }
  const { app, ran } = await open(t, [{ ask: ['pay'], by: 'operator' }], {
    audit: true,
    views: { found: { search: {}, override: { pay: { name: 'spend' } } } }
  }, { logger: { level: 'info', stream: { write } } })
  const operator = new Speaker(app, { identity: { principal: 'key:root', scopes: new Set(['admin']) } })
  const args = { amount: 5 }
  const calls: Record<string, [name: string, params: Json]> = {
    'its name': ['spend', args],
    'its canonical name': ['pay', args],
    call_tool: ['call_tool', { name: 'spend', arguments: args }]
  }
  for (const version of ERAS) {
    const digests = new Set<unknown>()
    for (const [road, [name, params]] of Object.entries(calls)) {
      ran.length = 0
      audits.length = 0
      const client = new Speaker(app, { version, identity: ADA, view: 'found' })
      const answer = client.tool(name, params)
      let waiting: Json[] = []
      await until(async () => {
        waiting = (await operator.request('patchbay/approvals')).result.approvals as Json[]
        return waiting.length > 0
      }, 'the approval')
      t.match(waiting, { length: 1, 0: { caller: 'ada', name: 'pay', arguments: args, rule: 'rules.0' } }, road)
      const { id, digest } = waiting[0] as Json
      digests.add(digest)
      t.strictSame(ran, [])
      await operator.request('patchbay/approvals/decide', { id, digest, decision: 'approve' })
      t.match(textOf(await answer), /5/, `${version} ${road}`)
      t.strictSame(ran, [JSON.stringify(args)])
      t.strictSame((await operator.request('patchbay/approvals')).result.approvals, [], 'no other waits')
      t.match(audits, { length: 1, 0: { tool: 'pay', outcome: 'ok', rule: 'rules.0' } })
    }
    t.equal(digests.size, 1, 'the same call on every road')
  }
})

t.test('a rule about a file of a skill counts for that file alone, and one about its SKILL.md for all', async t => {
  const root = t.testdir()
  for (const name of ['pdf', 'tax']) {
    mkdirSync(join(root, 'skills', name), { recursive: true })
    writeFileSync(join(root, 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: Of ${name}.\n---\n`)
    writeFileSync(join(root, 'skills', name, 'secret.txt'), 'secret')
    writeFileSync(join(root, 'skills', name, 'open.txt'), 'open')
  }
  const { app } = await open(t, [{ deny: ['skill://pdf/secret*', 'skill://tax/SKILL.md'] }], { plugins: [join(root, 'skills')] })
  const client = new Speaker(app, { identity: ADA })
  const isRead = async (uri: string): Promise<boolean> => (await client.request('resources/read', { uri })).error === undefined
  t.equal(await isRead('skill://pdf/SKILL.md'), true)
  t.equal(await isRead('skill://pdf/open.txt'), true)
  t.equal(await isRead('skill://pdf/secret.txt'), false)
  t.equal(await isRead('skill://tax/SKILL.md'), false)
  t.equal(await isRead('skill://tax/open.txt'), false)
  for (const method of ['skills/get', 'resources/directory/read']) {
    const uri = method === 'skills/get' ? 'skill://tax/SKILL.md' : 'skill://tax'
    t.ok((await client.request(method, { uri })).error, method)
  }
})
