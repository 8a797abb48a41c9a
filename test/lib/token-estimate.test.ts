import t from 'tap'
import { estimateTokens } from '../../lib/token-estimate.js'

t.test('tokens are the characters of the JSON divided by four, rounded up', async t => {
  t.equal(estimateTokens({}), 1)
  t.equal(estimateTokens({ name: 'abcdefgh' }), 5, '19 characters')
  const definition = { name: 'x', description: 'é'.repeat(100), inputSchema: { type: 'object' } }
  t.equal(estimateTokens(definition), Math.ceil(JSON.stringify(definition).length / 4), 'characters, not bytes')
})
