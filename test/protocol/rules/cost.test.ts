import t from 'tap'
import { decide } from '../../../protocol/rules/caller-rules.js'
import type { Rule } from '../../../protocol/rules/rule.js'
import { RuleSet } from '../../../protocol/rules/rule-set.js'
import type { Identity } from '../../../protocol/wire/identity.js'

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }

/** The best time of one of many decisions, in microseconds. */
function bestOf (work: () => void): number {
  const rounds = Array.from({ length: 20 }, () => {
    const start = performance.now()
    for (let count = 0; count < 2_000; count++) work()
    return (performance.now() - start) / 2
  })
  return Math.min(...rounds)
}

t.test('a decision with 50 rules takes some microseconds, with their arguments too', async t => {
  const rules = Array.from({ length: 50 }, (_, index): Rule => ({
    [index % 2 === 0 ? 'deny' : 'allow']: [`server${index}__*`, index < 10 ? 'github__*' : '*__other'],
    for: { not: { principal: `bot-${index}` } },
    where: { repo: { in: [`never-${index}-*`] }, amount: { min: 1e9 } }
  }))
  const set = new RuleSet(rules, 'allow')
  const item = {}
  const args = { repo: 'some/repository', amount: 5, title: 'x' }
  const time = bestOf(() => {
    decide(set.of(ADA, undefined).ofItem(item, () => ({ names: ['github__create_issue'] })), args)
  })
  t.comment(`${time.toFixed(2)} µs, ten rules with arguments left`)
  // bench/questions/rules.ts measures that it is less than five.
  t.ok(time < 50, `${time} µs`)
})
