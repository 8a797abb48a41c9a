import { build, createClient, tool, type Options } from '../../app.js'
import { decide } from '../../protocol/rules/caller-rules.js'
import type { Rule } from '../../protocol/rules/rule.js'
import { RuleSet } from '../../protocol/rules/rule-set.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { definitionsOf, fingerprintOf } from '../../upstreams/pins/definitions.js'
import { differencesBetween } from '../../upstreams/pins/differences.js'
import { hold } from '../../upstreams/pins/review.js'
import type { Finding, Question } from '../measure/goal.js'
import { median, ratioOf, short, spreadOf } from '../measure/statistics.js'
import { longestTurn } from '../measure/turns.js'

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }
const CALLS = 20_000
const MANY = 5_000
const PINNED = 10_000

/** Measures what rules cost a call and a list, and pins the event loop. */
export const rules: Question = async ({ rounds, say }) => {
  say('rules, a call')
  const call = await timeOfCalls(rounds)
  say('rules, a list')
  const list = await timeOfLists(rounds)
  say('pins, the longest turn')
  return [
    {
      what: 'rules, a call with 50 of them, in the same process',
      goal: '≤ 1.25 of a call without',
      ours: ratioOf(call.ruled, call.free),
      limit: `${short(median(call.free))} µs without`,
      peers: []
    },
    row('rules, a decision with 50 of them, ten with arguments left, µs', '≤ 5 µs', timesOf(rounds, decision())),
    row(`rules, what a caller sees of ${MANY} tools with 50 of them, ms`, '≤ 15 ms', list),
    row(`pins, the longest turn while ${PINNED} tools are compared and held, ms`, '≤ 20 ms', await longestTurns(rounds))
  ]
}

const row = (what: string, goal: string, samples: number[]): Finding =>
  ({ what, goal, ours: spreadOf(samples), limit: '-', peers: [] })

/** The time of one of many, in microseconds, for each round. */
function timesOf (rounds: number, work: () => unknown): number[] {
  for (let count = 0; count < CALLS; count++) work()
  return Array.from({ length: rounds }, () => {
    const start = performance.now()
    for (let count = 0; count < CALLS; count++) work()
    return (performance.now() - start) * 1_000 / CALLS
  })
}

function decision (): () => unknown {
  const set = new RuleSet(rulesFor(index => index < 10 ? 'github__*' : '*__other'), 'allow')
  const item = {}
  const args = { repo: 'some/repository', amount: 5, title: 'x' }
  return () => decide(set.of(ADA, undefined).ofItem(item, () => ({ names: ['github__create_issue'] })), args)
}

const rulesFor = (globOf: (index: number) => string): Rule[] => Array.from({ length: 50 }, (_, index): Rule => ({
  [index % 2 === 0 ? 'deny' : 'allow']: [`server${index}__*`, globOf(index)],
  for: { not: { principal: `bot-${index}` } },
  where: { repo: { in: [`never-${index}-*`] }, amount: { min: 1e9 } }
}))

/** The time of one call in the same process, without rules and with 50 that have to be looked at, in microseconds. */
async function timeOfCalls (rounds: number): Promise<Record<'free' | 'ruled', number[]>> {
  const gateways = {
    free: await gatewayWith({}),
    ruled: await gatewayWith({ rules: rulesFor(index => index < 10 ? 'tool_0' : '*__other') })
  }
  const samples: Record<'free' | 'ruled', number[]> = { free: [], ruled: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? ['free', 'ruled'] as const : ['ruled', 'free'] as const) {
      const client = await createClient(gateways[name].app)
      const start = performance.now()
      for (let count = 0; count < 2_000; count++) {
        await client.request('tools/call', { name: 'tool_0', arguments: { repo: 'some/repository', amount: 5 } })
      }
      if (round > 0) samples[name].push((performance.now() - start) / 2)
      await client.close()
    }
  }
  await Promise.all(Object.values(gateways).map(async ({ close }) => await close()))
  return samples
}

/** The time in which all tools are looked at for one caller, once its rules are known, in milliseconds. */
async function timeOfLists (rounds: number): Promise<number[]> {
  const rules: Rule[] = Array.from({ length: 50 }, (_, index): Rule =>
    ({ deny: [`tool_${index}_*`, `*_${index}x`], for: { principal: ['ada', 'bot-*'] } }))
  const { app, close } = await gatewayWith({ rules })
  const { tools, scopes } = app.mcp
  const caller = { identity: ADA, channel: {}, peer: {} } as Parameters<typeof scopes.allows>[0]
  const pass = (): number => {
    const start = performance.now()
    for (const name of tools.names()) {
      const item = tools.get(name)
      if (item !== undefined) scopes.allows(caller, 'tools', name, item)
    }
    return performance.now() - start
  }
  pass()
  const samples = Array.from({ length: rounds }, pass)
  await close()
  return samples
}

async function gatewayWith (options: Partial<Options>) {
  const app = await build({ tools: false, plugins: [], ephemeral: true, audit: false, ...options })
  await app.ready()
  const base = tool({ name: 'many', description: 'x', run: () => '' })
  app.mcp.tools.relay([], Array.from({ length: MANY }, (_, index) =>
    ({ ...base, name: `tool_${index}`, listed: { ...base.listed, name: `tool_${index}` } })))
  return { app, close: async () => await app.close() }
}

/** The longest turn of the event loop while definitions are compared, held and hashed, in milliseconds. */
async function longestTurns (rounds: number): Promise<number[]> {
  const [accepted, offered] = [listsWith(''), listsWith(' Changed.')]
  const section = { source: 'x', ...definitionsOf(accepted) }
  const work = async (): Promise<void> => {
    await differencesBetween(section, definitionsOf(offered))
    await hold('up', offered, { section, failure: undefined }, undefined)
    await fingerprintOf(definitionsOf(offered))
  }
  const samples: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const longest = await longestTurn(work)
    if (round > 0) samples.push(longest)
  }
  return samples
}

const listsWith = (more: string) => ({
  lists: {
    tools: Array.from({ length: PINNED }, (_, index) => ({
      name: `tool_${index}`,
      description: `Does what number ${index} is for, and says so in a sentence or two.${more}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(['path', 'query'].map(name => [name, { type: 'string', description: name }]))
      }
    })),
    prompts: [],
    resources: [],
    templates: [],
    skills: []
  },
  hints: {},
  completes: false,
  reads: false
})
