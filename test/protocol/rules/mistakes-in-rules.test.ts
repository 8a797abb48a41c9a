import t from 'tap'
import { resolveOptions } from '../../../options.js'
import type { OptionsError } from '../../../options/mistakes.js'

function mistakesOf (rules: unknown, rulesDefault: unknown = 'allow'): string[] {
  try {
    resolveOptions({ rules, rulesDefault } as Parameters<typeof resolveOptions>[0])
    return []
  } catch (error) {
    return (error as OptionsError).mistakes.map(({ text }) => text)
  }
}

/** The sentences about wrong rules, by the rule. */
const WRONG: Array<[rule: unknown, text: RegExp]> = [
  [7, /option rules\.0/],
  [{}, /^option rules\.0 must have exactly one of "allow", "deny" and "ask"$/],
  [{ allow: ['a'], deny: ['b'] }, /exactly one of .*, not allow and deny$/],
  [{ deny: 'a' }, /^option rules\.0\.deny must be a list of names or globs/],
  [{ deny: [] }, /^option rules\.0\.deny must be a list/],
  [{ deny: ['a'], fro: {} }, /^option rules\.0 has no "fro"; did you mean "for"\?$/],
  [{ deny: ['a'], for: {} }, /^option rules\.0\.for must be an object with/],
  [{ deny: ['a'], for: { principle: 'a' } }, /^option rules\.0\.for has no "principle"; did you mean "principal"\?$/],
  [{ deny: ['a'], for: { not: { scope: [] } } }, /^option rules\.0\.for\.not\.scope must be a text, or a list/],
  [{ deny: ['a'], for: { claim: { team: {} } } }, /^option rules\.0\.for\.claim\.team must be a text, a number/],
  [{ deny: ['a'], where: { repo: { inn: ['a'] } } }, /^option rules\.0\.where\.repo has no "inn"; did you mean "in"\?$/],
  [{ deny: ['a'], where: { repo: {} } }, /^option rules\.0\.where\.repo must be a value, or an object with/],
  [{ deny: ['a'], where: { 'a..b': 1 } }, /must name an argument/],
  [{ deny: ['a'], where: { n: { min: '1' } } }, /^option rules\.0\.where\.n\.min must be a number$/],
  [{ deny: ['a'], where: { p: { under: 'data' } } }, /^option rules\.0\.where\.p\.under must be an absolute path or a URL/],
  [{ deny: ['a'], where: { p: { under: '/srv/%2e%2e' } } }, /must be an absolute path or a URL without escapes/],
  [{ allow: ['a'], hints: { destructive: true } }, /^option rules\.0\.hints cannot stand in a rule with "allow"/],
  [{ deny: ['a'], hints: { readOnly: true } }, /^option rules\.0\.hints\.readOnly must be false$/],
  [{ deny: ['a'], by: 'operator' }, /^option rules\.0\.by is for rules with "ask"$/],
  [{ deny: ['a'], questions: 'operator' }, /^option rules\.0\.questions is for rules with "allow" or "ask"$/],
  [{ allow: ['a'], wait: 1_000 }, /^option rules\.0\.wait is for rules with "ask" or "questions"$/],
  [{ deny: ['a'], name: 'a b' }, /^option rules\.0\.name must be up to 64 letters/],
  [{ deny: ['a'], for: Array.from({ length: 12 }).reduce<unknown>(inner => ({ not: inner }), { scope: 'a' }) }, /nested deeper than 8/]
]

t.test('a wrong rule is refused at the start with its place and what was expected', async t => {
  for (const [rule, text] of WRONG) t.match(mistakesOf([rule]).join('; '), text, JSON.stringify(rule))
  t.match(mistakesOf([{ deny: ['a'], name: 'x' }, { allow: ['a'], name: 'x' }]).join(), /^option rules\.1\.name is the name of rules\.0, too/)
  t.match(mistakesOf(Array.from({ length: 1_001 }, () => ({ deny: ['a'] }))).join(), /at most 1000 rules/)
  t.match(mistakesOf([], 'ask').join(), /^option rulesDefault must be allow or deny/)
  t.strictSame(mistakesOf([
    { deny: ['*__delete_*'], for: { not: { scope: 'admin' } } },
    { allow: ['a'], for: { principal: ['bot-*'], claim: { team: ['release'] }, view: ['dev'] }, where: { repo: { in: ['sandbox-*'] }, amount: { max: 100 }, path: { under: '/srv/data' } }, message: 'no' }
  ]), [])
})
