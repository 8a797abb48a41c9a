import t from 'tap'
import type { Client, JsonObject } from '../../../console/client/contract.js'
import { readAccess, toneOf, useInWords, whyInWords } from '../../../console/state/access.js'

const clientOf = (answer: JsonObject): Client => ({
  era: 'modern',
  server: { name: 's', version: '1', revision: 'r', capabilities: {} },
  request: async () => answer,
  onNotification: () => () => {},
  subscribe: async () => () => {}
})

t.test('what a caller may do is said in words, with the rules in their order', async t => {
  const { own, keys, more } = await readAccess(clientOf({
    use: 'depends on arguments',
    steps: [{ rule: 'small', effect: 'allow', byArguments: true }, { rule: 'rulesDefault', effect: 'deny' }],
    keys: [{ name: 'ci', use: 'denied', scopes: ['mcp'], view: 'dev', steps: [{ rule: 'rules.1', effect: 'deny' }] }, 3],
    more: 2
  }), 'pay')
  t.equal(useInWords(own), 'may call it with some arguments')
  t.equal(whyInWords(own), 'small (allow) where the arguments say so, else rulesDefault (deny)')
  t.equal(toneOf(own), 'warn')
  t.match(keys, [{ name: 'ci', view: 'dev', scopes: ['mcp'] }])
  t.equal(keys.length, 1, 'what cannot be shown is left out')
  t.equal(whyInWords(keys[0] ?? own), 'rules.1 (deny)')
  t.equal(more, 2)
})

t.test('without reasons there is none, and a word that is not known is shown as it is', async t => {
  const { own, scopes, keys } = await readAccess(clientOf({ use: 'later' }), 'pay')
  t.strictSame([useInWords(own), whyInWords(own), scopes, keys], ['later', '', [], []])
})
