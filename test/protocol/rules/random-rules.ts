import type { Rule } from '../../../protocol/rules/rule.js'
import type { Random } from '../../fuzz/random.js'

type Json = Record<string, unknown>

const PATHS = [
  '/srv/data', '/srv/data/x', '/srv/data/', '/srv/database', '/srv/data/../etc', '/SRV/data/x', '//srv/data', 'srv/data',
  '/srv/./data/y', '/srv/data/a%2eb', '/srv/data/x.', '/srv/data/a\\b', '/srv/data/a b', '/', '/srv/data\u0000',
  'https://a.test/api/v1', 'https://a.test/api', 'https://A.test/api/v1/x', 'https://a.test/api/../x', 'https://a.test:444/api/v1',
  'https://u@a.test/api/v1', 'https://a.test./api/v1', 'https://a.test/api/v1/%2e%2e/x', 'https://a.test/api/v1/a%2fb', 'https://a.test/API/v1'
]
const BASES = ['/srv/data', '/srv', '/', 'https://a.test/api', 'https://a.test']
const VALUES: unknown[] = ['x', 'sandbox-1', 'X', '', '5', 1, 1, 5, 5, 100, -1, 1.5, true, false]
const ODD: unknown[] = [null, [], ['x'], ['x', 5], [null], [['x']], { b: 'x' }, {}, 1e308]
const PLACES = ['a', 'b', 'b', 'a.b', 'a.b.c', 'list', 'path', 'path']
export const TOOLS = ['pay_tool', 'pay_long', 'open_tool', 'secret_tool'] as const
const GLOBS = ['pay*', '*_tool', '*', 'pay_tool', 'open_tool', '*e*o*', 'secret_tool', 'call_tool', 'none*', 'Pay_tool']

/** Arguments with values of all kinds in the places that rules look at. */
export function randomArguments (random: Random): Json {
  const args: Json = {}
  for (const name of ['a', 'b', 'list', 'path']) if (!random.oneIn(4)) args[name] = randomValue(random, 3)
  if (random.oneIn(3)) args['a'] = { b: random.oneIn(2) ? randomValue(random, 1) : { c: randomValue(random, 1) } }
  if (random.oneIn(2)) args['path'] = random.pick(PATHS)
  return args
}

function randomValue (random: Random, depth: number): unknown {
  if (depth > 0 && random.oneIn(4)) return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1))
  return random.oneIn(5) ? random.pick(ODD) : random.oneIn(4) ? random.pick(PATHS) : random.pick(VALUES)
}

function randomMatcher (random: Random, depth: number): unknown {
  const kinds = depth === 0 ? 6 : 9
  switch (random.below(kinds)) {
    case 0: return random.oneIn(6) ? null : random.pick(VALUES)
    case 1: return { is: random.oneIn(6) ? null : random.pick(VALUES) }
    case 2: return { in: [random.pick(VALUES), random.pick(['sandbox-*', '*', 'x', '*x*', 7])] }
    case 3: return { min: random.pick([-1, 1, 5, 100]), ...(random.oneIn(2) && { max: random.pick([1, 5, 100]) }) }
    case 4: return { max: random.pick([0, 5, 100]) }
    case 5: return { under: random.oneIn(2) ? random.pick(BASES) : [random.pick(BASES), random.pick(BASES)] }
    case 6: return { not: randomMatcher(random, depth - 1), ...(random.oneIn(4) && { in: ['*', 1, true] }) }
    case 7: return { each: randomMatcher(random, depth - 1) }
    default: return { has: randomMatcher(random, depth - 1) }
  }
}

function randomCondition (random: Random, depth: number): Json {
  const condition: Json = {
    ...(random.oneIn(3) && { principal: random.pick(['ada', 'key:*', 'https://issuer.test#*', 'bob', ['x', 'ada']]) }),
    ...(random.oneIn(4) && { scope: random.pick(['pay', 'admin', ['mcp', 'pay']]) }),
    ...(random.oneIn(4) && { view: random.pick(['shop', 's*', ['none']]) }),
    ...(random.oneIn(3) && { claim: { team: random.pick(['release', ['rel*', 7], 7, true]) } }),
    ...(depth > 0 && random.oneIn(4) && { not: randomCondition(random, depth - 1) })
  }
  return Object.keys(condition).length === 0 ? { principal: 'ada' } : condition
}

/** Rules of every kind, which have no mistakes; `by` names who may be asked. */
export function randomRules (random: Random, by: ReadonlyArray<'caller' | 'operator'> = ['caller', 'operator']): Rule[] {
  return Array.from({ length: 1 + random.below(6) }, () => {
    const effect = random.pick(['allow', 'deny', 'deny', 'ask'] as const)
    const globs = [random.pick(GLOBS), ...(random.oneIn(3) ? [random.pick(GLOBS)] : [])]
    const where: Json = {}
    for (let left = random.pick([0, 1, 1, 1, 2]); left > 0; left--) {
      const place = random.pick(PLACES)
      where[place] = place === 'path' && !random.oneIn(4) ? { under: random.pick(BASES) } : randomMatcher(random, 2)
    }
    const hints = random.pick([{ destructive: true }, { readOnly: false }, { openWorld: true }])
    return {
      [effect]: globs,
      ...(random.oneIn(3) && { for: randomCondition(random, 2) }),
      ...(Object.keys(where).length > 0 && { where }),
      ...(effect !== 'allow' && random.oneIn(5) && { hints }),
      ...(effect === 'ask' && random.oneIn(2) && { by: random.pick(by) })
    } as unknown as Rule
  })
}
