import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { tool } from '../../app.js'
import type { Rule, RulesDefault } from '../../protocol/rules/rule.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { Random } from '../fuzz/random.js'
import { CALLERS } from '../protocol/rules/random-decisions.js'
import { randomArguments, randomRules, TOOLS } from '../protocol/rules/random-rules.js'
import { judge, type Caller, type Judged } from '../protocol/rules/reference.js'
import { gateway } from '../support/gateway.js'
import { ERAS, Speaker, type Answer } from '../support/speaker.js'

type Json = Record<string, unknown>

const ANYONE: { identity: Identity, caller: Omit<Caller, 'view'> } =
  { identity: { principal: undefined, scopes: 'all' }, caller: { names: [], scopes: ['admin'], claims: undefined } }
const SURE = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
const ACCEPTING = { version: '2026-07-28', capabilities: { elicitation: {} } }

/** Two gateways on one store, whose tools say that they ran; `pay_long` asks its user something first. */
async function openNodes (t: Test): Promise<{ nodes: FastifyInstance[], ran: string[] }> {
  const ran: string[] = []
  const plugin = async ({ mcp: { tools } }: FastifyInstance): Promise<void> => {
    for (const name of TOOLS) {
      tools.add(tool({
        name,
        description: name,
        input: Type.Object({}),
        run: async (_input, call) => {
          if (name === 'pay_long') await call.elicit('sure', SURE)
          ran.push(name)
          return 'done'
        }
      }))
    }
  }
  const views = { shop: { search: {}, override: { pay_tool: { name: 'spend' } } } }
  const options = { tools: false, plugins: [plugin], rest: true, views }
  const open = async (): Promise<FastifyInstance> => await gateway(t, options)
  const [first, second] = [await open(), await open()]
  // The store of the first, as both would have it in Redis.
  Object.defineProperty(second.mcp.store, 'values', { value: first.mcp.store.values })
  second.mcp.dispatcher.sealer.replaceSecret(await first.mcp.store.values.get('patchbay', 'secret') as string)
  return { nodes: [first, second], ran }
}

const rankOf: Record<Judged['effect'], number> = { allow: 0, ask: 1, deny: 2 }

interface Case {
  readonly rules: Rule[]
  readonly fallback: RulesDefault
  readonly name: (typeof TOOLS)[number]
  readonly args: Json
}

/** The verdict of the plain evaluator about a call, also by way of another tool. */
function expected (
  { rules, fallback, name, args }: Case,
  caller: Omit<Caller, 'view'>,
  view?: string,
  by?: string
): Judged['effect'] {
  const of = (name: string, args: Json): Judged['effect'] =>
    judge(rules as Json[], fallback, { ...caller, view }, { name }, args).effect
  const own = of(name, args)
  if (by === undefined) return own
  const other = of(by, { name: view === 'shop' && name === 'pay_tool' ? 'spend' : name, arguments: args })
  return rankOf[own] >= rankOf[other] ? own : other
}

/**
 * Sends a call and its retries to the nodes in turn, each question of which is accepted; `between` runs after the
 * first.
 */
async function callInTurn (
  nodes: readonly FastifyInstance[],
  identity: Identity,
  { name, args }: Case,
  between: () => void
): Promise<Answer> {
  let params: Json = { name, arguments: args }
  for (let round = 0; ; round++) {
    const client = new Speaker(nodes[round % nodes.length] as FastifyInstance, { ...ACCEPTING, identity })
    const answer = await client.answerTo(client.send('tools/call', params))
    client.close()
    const { inputRequests, requestState } = answer.result ?? {}
    if (inputRequests === undefined) return answer
    if (round === 0) between()
    const keys = Object.keys(inputRequests as Json)
    const inputResponses = Object.fromEntries(keys.map(key => [key, { action: 'accept', content: {} }]))
    params = { name, arguments: args, inputResponses, requestState }
  }
}

/** Compares what runs by random rules on every road with what a plain evaluator allows. */
export async function compareRoads (t: Test, sets: number, seed: string): Promise<void> {
  const { nodes, ran } = await openNodes(t)
  const [app] = nodes as [FastifyInstance]
  const take = ({ rules, fallback }: Pick<Case, 'rules' | 'fallback'>): void => {
    for (const { mcp } of nodes) mcp.rules.replace({ rules, rulesDefault: fallback })
  }
  const hasRun = async (go: () => Promise<unknown>): Promise<boolean> => {
    ran.length = 0
    await go()
    return ran.length === 1
  }
  const counts = { ran: 0, refused: 0 }
  for (let number = 0; number < sets; number++) {
    const random = new Random(`${seed} ${number}`)
    const rulesOf = () => ({ rules: randomRules(random, ['caller']), fallback: random.pick(['allow', 'deny'] as const) })
    const [one, name, args] = [rulesOf(), random.pick(TOOLS.filter(name => name !== 'pay_long')), randomArguments(random)]
    const set: Case = { ...one, name, args }
    const { identity, caller } = random.pick(CALLERS)
    take(set)
    const speak = (view?: string): Speaker =>
      new Speaker(app, { version: random.pick(ERAS), identity, ...(view !== undefined && { view }) })
    const inShop = name === 'pay_tool' ? 'spend' : name
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const roads: Array<[road: string, effect: Judged['effect'], go: () => Promise<unknown>]> = [
      ['a call', expected(set, caller), async () => await speak().tool(name, args)],
      ['a view', expected(set, caller, 'shop'), async () => await speak('shop').tool(inShop, args)],
      ['call_tool', expected(set, caller, 'shop', 'call_tool'), async () =>
        await speak('shop').tool('call_tool', { name: inShop, arguments: args })],
      ['plain HTTP', expected(set, ANYONE.caller), async () =>
        await app.inject({ method: 'POST', url: `/api/tools/${name}`, payload: args })],
      ['a batch', expected(set, ANYONE.caller), async () =>
        await app.inject({ method: 'POST', url: '/message', payload: [message, { jsonrpc: '2.0', id: 2, method: 'ping' }] })]
    ]
    const fail = (road: string, more: object): void => { t.fail(`${seed} ${number}: ${road}`, { set, caller, ...more }) }
    for (const [road, effect, go] of roads) {
      const isRun = await hasRun(go)
      counts[isRun ? 'ran' : 'refused']++
      if (isRun !== (effect === 'allow')) return fail(road, { effect, isRun })
    }
    const listed = ((await speak().request('tools/list')).result.tools as Json[]).map(each => each['name'])
    if (!listed.includes(name) && expected(set, caller) !== 'deny') return fail('tools/list', { listed })
    // A call that was asked about under some rules is decided anew by those at its retry, which another node gets.
    const [before, after]: Case[] = [{ ...set, name: 'pay_long' }, { ...rulesOf(), name: 'pay_long', args }]
    const isOpen = before !== undefined && after !== undefined && [before, after].every(each => expected(each, caller) !== 'deny')
    const isRun = await hasRun(async () => await callInTurn(nodes, identity, before as Case, () => take(after as Case)))
    counts[isRun ? 'ran' : 'refused']++
    if (isRun !== isOpen) return fail('a retried question', { after, isRun, isOpen })
  }
  for (const [what, count] of Object.entries(counts)) t.ok(count > sets, `${what}: ${count}`)
}
