import type { Test } from 'tap'
import { decide } from '../../../protocol/rules/caller-rules.js'
import { mistakesInRules } from '../../../protocol/rules/mistakes-in-rules.js'
import { RuleSet } from '../../../protocol/rules/rule-set.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { Random } from '../../fuzz/random.js'
import { randomArguments, randomRules, TOOLS } from './random-rules.js'
import { judge, type Caller } from './reference.js'

type Json = Record<string, unknown>

/** How many calls each random set of rules decides about. */
const CALLS = 10

const ANNOTATIONS: Array<Json | undefined> = [
  undefined, { readOnlyHint: true }, { destructiveHint: false }, { openWorldHint: false, destructiveHint: true }, { readOnlyHint: 'yes' }
]

export const CALLERS: ReadonlyArray<{ identity: Identity, caller: Omit<Caller, 'view'> }> = [
  {
    identity: { principal: 'key:ada', scopes: new Set(['mcp']) },
    caller: { names: ['key:ada', 'ada'], scopes: ['mcp'], claims: undefined }
  },
  {
    identity: { principal: 'key:root', scopes: new Set(['admin']) },
    caller: { names: ['key:root', 'root'], scopes: ['admin'], claims: undefined }
  },
  ...['release', 'relay', 7, null, ['other', 'release'], [{}, 'x'], { of: 'release' }].map(team => ({
    identity: { principal: 'https://issuer.test#bob', scopes: new Set(['mcp', 'pay']), claims: { team } },
    caller: { names: ['https://issuer.test#bob', 'bob'], scopes: ['mcp', 'pay'], claims: { team } }
  })),
  {
    identity: { principal: 'https://issuer.test#eve', scopes: new Set(['mcp']), claims: {} },
    caller: { names: ['https://issuer.test#eve', 'eve'], scopes: ['mcp'], claims: {} }
  }
]

/** Compares the decisions of random rules about random calls with those of the reference evaluator. */
export function compareRandom (t: Test, sets: number, seed: string): void {
  const counts: Record<string, number> = { allow: 0, deny: 0, ask: 0 }
  for (let number = 0; number < sets; number++) {
    const random = new Random(`${seed} ${number}`)
    const rules = randomRules(random)
    const fallback = random.pick(['allow', 'deny'] as const)
    const mistakes = mistakesInRules(rules)
    if (mistakes.length > 0) {
      t.fail(`set ${number}: ${JSON.stringify(mistakes)}`)
      return
    }
    const set = new RuleSet(rules, fallback)
    for (let call = 0; call < CALLS; call++) {
      const { identity, caller } = random.pick(CALLERS)
      const view = random.pick([undefined, 'shop', 'other'])
      const name = random.pick(TOOLS)
      const annotations = random.pick(ANNOTATIONS)
      const args = randomArguments(random)
      const found = set.of(identity, view).of({ names: [name], annotations })
      const { effect, rule } = decide(found, args)
      const thing = { name, ...(annotations && { annotations }) }
      const expected = judge(rules as Json[], fallback, { ...caller, view }, thing, args)
      counts[effect] = (counts[effect] ?? 0) + 1
      const isSame = effect === expected.effect && rule?.source === rules[expected.rule ?? -1]
      if (!isSame || (effect !== 'deny' && !found.isShown)) {
        const { isShown } = found
        const what = { rules, fallback, caller, view, name, annotations, args, effect, rule: rule?.label, isShown }
        t.fail(`set ${number} of ${seed}`, { ...what, expected })
        return
      }
    }
  }
  for (const [effect, count] of Object.entries(counts)) t.ok(count > sets / 2, `${effect}: ${count}`)
}
