import t from 'tap'
import { randomToken } from '../../lib/random-token.js'

t.test('tokens have the bytes that were asked for, and none comes twice', async t => {
  const tokens = Array.from({ length: 5_000 }, (_, index) =>
    randomToken(6 + (index % 13), index % 2 === 0 ? 'hex' : 'base64url')
  )
  t.equal(new Set(tokens).size, tokens.length)
  t.ok(
    tokens.every(
      (token, index) => Buffer.from(token, index % 2 === 0 ? 'hex' : 'base64url').length === 6 + (index % 13)
    )
  )
  t.notOk(
    tokens.some(token => Buffer.from(token, 'hex').every(byte => byte === 0) && /^0+$/.test(token)),
    'nor bytes that were cleared'
  )
})
