import t from 'tap'
import { aboutTokens, tokensOfAll } from '../../../console/state/costs.js'
import { groupItems } from '../../../console/state/filter.js'
import { itemsOf } from '../../../console/state/lists.js'
import { estimateTokens } from '../../../lib/token-estimate.js'

const RAW = [{ name: 'calculate' }, { name: 'github__search', description: 'x'.repeat(100) }, { name: 'github__get' }]

t.test('the page estimates the tokens of a definition as the gateway does', async t => {
  const items = itemsOf(RAW, 'tool')
  t.equal(tokensOfAll(items), RAW.reduce((sum, raw) => sum + estimateTokens(raw), 0))
  t.equal(aboutTokens(1), 'about 1 token')
  t.equal(aboutTokens(estimateTokens(RAW[0] ?? {})), 'about 5 tokens')
})

t.test('a group has the tokens of all its items, however few are drawn', async t => {
  const [own, github] = groupItems(itemsOf(RAW, 'tool'), 1)
  t.match(own, { name: '', total: 1, tokens: estimateTokens(RAW[0] ?? {}) })
  t.match(github, { name: 'github', total: 2, items: [], tokens: estimateTokens(RAW[1] ?? {}) + estimateTokens(RAW[2] ?? {}) })
})
