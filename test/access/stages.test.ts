import t, { type Test } from 'tap'
import type { Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { Speaker, textOf } from '../support/speaker.js'
import { FakeUpstream } from '../upstreams/lists/fake-upstream.js'
import { tool } from '../upstreams/lists/served.js'
import { servedPins } from '../upstreams/pins/served-pins.js'

const NAME = 'up__pay'

/** Each stage, what makes it refuse a call, and how that looks. */
const STAGES = [
  { stage: 'view', refusal: /^Invalid params: Unknown tool: up__pay$/ },
  { stage: 'scope', refusal: /^Forbidden: this needs the scope pay/ },
  { stage: 'rule', refusal: /^the rule says no$/ },
  { stage: 'pin', refusal: /it is left out: it was never accepted/ },
  { stage: 'rate', refusal: /Too many calls/ },
  { stage: 'ask', refusal: /needs an approval of its user/ }
] as const

type Stage = (typeof STAGES)[number]['stage']

/** The answer to the last of several calls of a tool that these stages refuse. */
async function answerBehind (t: Test, stages: ReadonlySet<Stage>): Promise<{ text: string, ran: number }> {
  const rules: Options['rules'] = [
    ...(stages.has('rule') ? [{ deny: [NAME], where: { amount: { min: 1 } }, message: 'the rule says no' }] : []),
    ...(stages.has('ask') ? [{ ask: [NAME] }] : [])
  ]
  const app = await gateway(t, {
    tools: false,
    views: { shop: stages.has('view') ? { exclude: [NAME] } : {} },
    scopes: stages.has('scope') ? { [`tools/${NAME}`]: ['pay'] } : {},
    toolRates: stages.has('rate') ? { [NAME]: 1 } : {},
    rules
  })
  const upstream = new FakeUpstream('up', { tools: [tool('pay')] }, stages.has('pin') ? { pins: 'hold' } : {})
  const { connect } = await servedPins(t, [upstream], { app })
  await connect(upstream)
  const client = new Speaker(app, { view: 'shop', identity: { principal: 'key:ada', scopes: new Set(['mcp']) } })
  Object.assign(client.peer.channel ?? {}, { hasStatus: true })
  const answers = await Promise.all([1, 2, 3].map(async amount => await client.tool(NAME, { amount })))
  const last = answers.at(-1)
  return {
    text: last?.error?.message ?? (last === undefined ? '' : textOf(last)),
    ran: upstream.connection.of('tools/call').length
  }
}

t.test('of all that refuses a call, the first says so: view, scope, rule, pin, rate, and the person who is asked', async t => {
  for (const [index, { stage, refusal }] of STAGES.entries()) {
    const { text, ran } = await answerBehind(t, new Set(STAGES.slice(index).map(({ stage }) => stage)))
    t.match(text, refusal, stage)
    t.equal(ran, 0, `${stage}: nothing ran`)
  }
  t.equal((await answerBehind(t, new Set())).ran, 3)
})
