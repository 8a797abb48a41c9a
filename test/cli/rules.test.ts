import { join } from 'node:path'
import t from 'tap'
import { explainCall } from '../../cli/commands/rules.js'
import { unknownInRules } from '../../loader/unknown-in-rules.js'
import { ADA, listed } from '../support/keys.js'
import { folder } from '../support/process.js'

const RULES = [
  { deny: ['*__delete_*'], for: { not: { scope: 'admin' } }, name: 'no-deletes' },
  { allow: ['git__push'], where: { branch: { not: 'main' } } },
  { deny: ['git__push'], message: 'push to a branch of your own' },
  { deny: ['files__*'], for: { claim: { team: 'guests' } } }
]

t.test('patchbay rules explain says which rule decides, and what each before it says', async t => {
  const options = { apiKeys: [listed('ada', ADA), listed('root', ADA, ['admin'])], rules: RULES }
  const cwd = await folder(t, { 'patchbay.json': JSON.stringify(options), 'open.json': JSON.stringify({ oauth: { issuer: 'https://issuer.test', resource: 'https://gateway.test/mcp' }, rules: RULES }) })
  const explained = (...words: string[]) => explainCall(['explain', ...words, '--config', join(cwd, 'patchbay.json')], {}, cwd)

  t.match(explained('ada', 'git__delete_all'), {
    isDenied: true,
    report: /^no-deletes {2}deny {3}matches\ngit__delete_all is denied for ada by no-deletes, and does not exist for this caller\n$/
  })
  t.match(explained('root', 'git__delete_all'), { isDenied: false, report: /is for other callers[^]*is allowed for root by rulesDefault/ })
  t.match(explained('ada', 'git__push', '{"branch":"fix"}'), { isDenied: false, report: /rules\.1 +allow +matches\ngit__push is allowed for ada by rules\.1\n/ })
  t.match(explained('ada', 'git__push', '{"branch":"main"}').report, /is about other arguments[^]*by rules\.2\nthe caller reads: push to a branch of your own/)
  t.match(explained('ada', 'git__push').report, /missing or odd, so it opens nothing[^]*no arguments were given/)
  t.match(explained('{"principal":"x","scopes":["mcp"],"claims":{"team":"guests"}}', 'files__read').isDenied, true)
  t.match(JSON.parse(explained('ada', 'git__push', '--json').report), { effect: 'deny', decider: 'rules.2', isShown: true })

  const open = explainCall(['explain', 'bob', 'files__read', '--config', join(cwd, 'open.json')], {}, cwd)
  t.match(open, { isDenied: true, report: /a claim that is not known or odd, so it counts as a match[^]*taken for the subject of a token/ })

  for (const [words, wrong] of [
    [['adda', 'git__push'], /no key of the name "adda"; did you mean "ada"\?; give anonymous/],
    [['ada'], /a caller and a name are needed/],
    [['ada', 'x', '[]'], /ARGUMENTS must be a JSON object/],
    [['{"scopes":7}', 'x'], /CALLER must be an identity/]
  ] as const) t.throws(() => explained(...words), { message: wrong }, words.join(' '))
  t.throws(() => explainCall(['list'], {}, cwd), { message: /there is no patchbay rules list/ })
})

t.test('names in rules that match nothing are named at the start, and claims that keys do not have', async t => {
  const known = {
    names: ['calculate', 'git__push'],
    starts: ['git__', 'git+'].map(start => ({ start, alias: 'git', isListed: false })),
    views: ['work'],
    keys: ['ada'],
    hasKeys: true,
    hasTokens: false,
    scopes: undefined,
    schemaOf: () => undefined
  }
  t.strictSame(unknownInRules([
    { deny: ['calcualte', 'calc*', 'git__later', 'git+file:///x', '*__delete_*', 'other__*'] },
    { allow: ['*'], for: { principal: ['ada', 'adda', 'key:a*'], view: ['work', 'wrok'], not: { claim: { team: 'x' } } } }
  ], known), [
    'option rules.0.deny has "calcualte", which fits nothing here; did you mean "calculate"?',
    'option rules.0.deny has "other__*", which fits nothing here',
    'option rules.1.for.principal has "adda", and there is no such key; did you mean "ada"?',
    'option rules.1.for.view has "wrok", and there is no such view; did you mean "work"?',
    'option rules.1.for.not.claim is about claims of tokens: there are no tokens without option oauth'
  ])
  const claim = [{ deny: ['*'], for: { claim: { team: 'x' } } }]
  t.match(unknownInRules(claim, { ...known, keys: undefined, hasTokens: true }), [/API keys have none, and never match/])
  t.strictSame(unknownInRules(claim, { ...known, keys: undefined, hasKeys: false, hasTokens: true }), [])
})
