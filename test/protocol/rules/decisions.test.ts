import t from 'tap'
import { decide, decider } from '../../../protocol/rules/caller-rules.js'
import type { Matcher, Rule } from '../../../protocol/rules/rule.js'
import { RuleSet } from '../../../protocol/rules/rule-set.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { bestTime, cpuTime } from '../../support/timing.js'

const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }

function effectOf (rules: Rule[], args: Params | undefined, identity = ADA): string {
  const found = new RuleSet(rules, 'allow').of(identity, undefined).of({ names: ['tool'] })
  return decide(found, args).effect
}

/** Values by matcher: those that fit, and those that are odd for it. */
const MATCHERS: Array<{ matcher: Matcher, fits: unknown[], misses: unknown[], odd: unknown[] }> = [
  { matcher: 'a', fits: ['a'], misses: ['b', ''], odd: [1, null, ['a'], {}, true] },
  { matcher: { is: 1 }, fits: [1], misses: [2], odd: ['1', null, [1]] },
  { matcher: null, fits: [null], misses: ['a', 0], odd: [] },
  { matcher: { in: ['sandbox-*', 7] }, fits: ['sandbox-', 'sandbox-x', 7], misses: ['sandbo', 'x-sandbox-', 8], odd: [true, null, ['sandbox-a'], {}] },
  { matcher: { min: 1, max: 100 }, fits: [1, 100, 1.5], misses: [0, 101, -1], odd: ['50', null, [50], true] },
  { matcher: { not: { in: ['secret-*'] } }, fits: ['a'], misses: ['secret-a'], odd: [1, null, ['a']] },
  { matcher: { each: { in: ['bug', 'doc*'] } }, fits: [['bug'], ['bug', 'docs'], []], misses: [['bug', 'x'], ['x']], odd: ['bug', [1], null, { 0: 'bug' }] },
  { matcher: { has: 'admin' }, fits: [['x', 'admin'], [1, 'admin']], misses: [['x'], []], odd: ['admin', [1], null] },
  { matcher: { under: ['/srv', 'https://a.test/x'] }, fits: ['/srv/a', 'https://a.test/x/y'], misses: [], odd: ['../a', 5, '/etc', null] }
]

t.test('a value that is missing or odd opens no allow, and closes every deny', async t => {
  for (const { matcher, fits, misses, odd } of MATCHERS) {
    const allow: Rule[] = [{ allow: ['tool'], where: { a: matcher } }, { deny: ['*'] }]
    const deny: Rule[] = [{ deny: ['tool'], where: { a: matcher } }]
    const what = (value: unknown): string => `${JSON.stringify(matcher)} of ${JSON.stringify(value)}`
    for (const value of fits) {
      t.equal(effectOf(allow, { a: value }), 'allow', what(value))
      t.equal(effectOf(deny, { a: value }), 'deny', what(value))
    }
    for (const value of misses) {
      t.equal(effectOf(allow, { a: value }), 'deny', what(value))
      t.equal(effectOf(deny, { a: value }), 'allow', what(value))
    }
    for (const args of [...odd.map(value => ({ a: value })), {}, undefined, { b: 'a' }]) {
      t.equal(effectOf(allow, args), 'deny', what(args))
      t.equal(effectOf(deny, args), 'deny', what(args))
    }
  }
})

t.test('arguments inside others are found by their path, own members only', async t => {
  const rules: Rule[] = [{ allow: ['tool'], where: { 'a.b': 'x' } }, { deny: ['*'] }]
  t.equal(effectOf(rules, { a: { b: 'x' } }), 'allow')
  for (const args of [{ 'a.b': 'x' }, { a: [{ b: 'x' }] }, { a: null }, { a: 'x' }, { a: Object.create({ b: 'x' }) }]) {
    t.equal(effectOf(rules, args as Params), 'deny', JSON.stringify(args))
  }
  t.equal(effectOf([{ allow: ['tool'], where: { constructor: { not: 'x' } } }, { deny: ['*'] }], {}), 'deny')
})

t.test('an argument that clearly does not fit keeps a deny open, whatever the others are', async t => {
  const rules: Rule[] = [{ deny: ['tool'], where: { a: 'x', b: 'y' } }]
  t.equal(effectOf(rules, { a: 'z' }), 'allow')
  t.equal(effectOf(rules, { a: 'x' }), 'deny')
})

t.test('callers are known by the name of their key or the subject of their token, and by nothing that looks like it', async t => {
  const names = (principal: string | undefined, glob: string): string =>
    effectOf([{ deny: ['*'], for: { principal: glob } }], {}, { principal, scopes: 'all' })
  t.equal(names('key:ada', 'ada'), 'deny')
  t.equal(names('key:ada', 'key:*'), 'deny')
  t.equal(names('https://issuer.test#ada', 'ada'), 'deny')
  t.equal(names('https://issuer.test#ada', 'https://issuer.test#*'), 'deny')
  t.equal(names('https://issuer.test#key:ada', 'key:ada'), 'allow', 'a subject that poses as a key')
  t.equal(names('https://issuer.test?client=ada', 'ada'), 'allow', 'a client that poses as a subject')
  t.equal(names('tenant#ada', 'ada'), 'allow', 'the principal of a host application')
  t.equal(names(undefined, '*'), 'allow')
})

t.test('a claim that is odd or was not read opens no allow and closes a deny, also behind not', async t => {
  const of = (claims: Record<string, unknown> | undefined): string[] => {
    const identity: Identity = { principal: 'https://issuer.test#ada', scopes: new Set(), claims }
    const forTeam: Rule['for'] = { claim: { team: ['release', 7] } }
    return [forTeam, { not: forTeam }].flatMap(condition => [
      effectOf([{ allow: ['*'], for: condition }, { deny: ['*'] }], {}, identity),
      effectOf([{ deny: ['*'], for: condition }], {}, identity)
    ])
  }
  t.strictSame(of({ team: 'release' }), ['allow', 'deny', 'deny', 'allow'])
  t.strictSame(of({ team: ['x', 'release'] }), ['allow', 'deny', 'deny', 'allow'])
  t.strictSame(of({ team: 7 }), ['allow', 'deny', 'deny', 'allow'])
  t.strictSame(of({ team: 'other' }), ['deny', 'allow', 'allow', 'deny'])
  t.strictSame(of({ team: null }), ['deny', 'allow', 'allow', 'deny'], 'a token without the claim')
  t.strictSame(of(undefined), ['deny', 'allow', 'allow', 'deny'], 'a key has no claims')
  t.strictSame(of({ team: { of: 'release' } }), ['deny', 'deny', 'deny', 'deny'], 'an odd claim')
  t.strictSame(of({}), ['deny', 'deny', 'deny', 'deny'], 'a claim that was not read')
})

t.test('hints of a server can close and never open', async t => {
  const found = (rule: Rule, annotations: unknown): string => {
    const rules = new RuleSet([rule], 'allow').of(ADA, undefined).of({ names: ['tool'], annotations })
    return decide(rules, {}).effect
  }
  const destructive: Rule = { deny: ['*'], hints: { destructive: true } }
  for (const annotations of [undefined, {}, { destructiveHint: true }, { destructiveHint: 'no' }, { readOnlyHint: 'true' }, 7]) {
    t.equal(found(destructive, annotations), 'deny', JSON.stringify(annotations))
  }
  t.equal(found(destructive, { destructiveHint: false }), 'allow')
  t.equal(found(destructive, { readOnlyHint: true }), 'allow')
  t.equal(found({ deny: ['*'], hints: { readOnly: false } }, { destructiveHint: false }), 'deny')
  t.equal(found({ deny: ['*'], hints: { openWorld: true } }, { openWorldHint: false }), 'allow')
})

t.test('a URI behind a template is named by all its spellings: some close, all open', async t => {
  const of = (rules: Rule[], strict: string[], all = strict): string => {
    const found = new RuleSet(rules, 'allow').of(ADA, undefined).of({ names: ['files+file:///{path}'], spellings: { strict, all } })
    return decide(found, {}).effect
  }
  const allow: Rule[] = [{ allow: ['files+file:///srv/*'] }, { deny: ['*'] }]
  t.equal(of(allow, ['files+file:///srv/a']), 'allow')
  t.equal(of(allow, ['files+file:///srv/../etc', 'files+file:///etc']), 'deny')
  t.equal(of([{ allow: ['files+*'] }, { deny: ['*'] }], ['files+file:///etc']), 'allow', 'by the template')
  t.equal(of([{ deny: ['files+file:///etc/*'] }], ['files+file:///x', 'files+file:///etc/y']), 'deny')
  t.equal(of([{ deny: ['files+file:///etc/*'] }], ['x'], ['x', 'files+FILE:///ETC/y']), 'deny')
})

t.test('the rule that decides is named, or the default', async t => {
  const rules: Rule[] = [{ deny: ['a'], name: 'no-a' }, { allow: ['b'] }]
  const of = (name: string): string => decider(decide(new RuleSet(rules, 'deny').of(ADA, undefined).of({ names: [name] }), {}))
  t.strictSame(['a', 'b', 'c'].map(of), ['no-a', 'rules.1', 'rulesDefault'])
})

t.test('1 MiB of arguments and globs with many stars are compared in one pass', async t => {
  const texts = ['a'.repeat(2 ** 20), `${'a'.repeat(2 ** 20)}b`]
  const globs = ['*a*a*a*a*b', `${'*a'.repeat(200)}*b`, '*a*a*c*b', `*${'a'.repeat(100)}b${'a'.repeat(100)}*`]
  for (const glob of globs) {
    for (const text of texts) {
      const rules = new RuleSet([{ deny: ['tool'], where: { text: { in: [glob] }, list: { each: { in: [glob] } } } }], 'allow')
      const found = rules.of(ADA, undefined).of({ names: ['tool'] })
      const args = { text, list: Array.from({ length: 1_000 }, () => text.slice(-1_000)) }
      const ms = await bestTime(5, async () => cpuTime(() => { decide(found, args) }))
      t.ok(ms < 100, `some milliseconds, where each star anew would take minutes: ${glob.slice(0, 20)}: ${ms} ms`)
    }
  }
})
