import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { ApiKeys, digestOf, hashOf, makeKey } from '../../../system/credentials/api-key.js'

const listed = (name: string, key: string, more: object = {}) => ({ name, hash: hashOf(key), scopes: ['mcp'], ...more })

t.test('a key is found by its digest, and nothing else is', async t => {
  const keys = new ApiKeys([
    listed('ada', 'one'),
    listed('alan', 'two', { scopes: ['notes', 'exec'], expires: '2100-01-01' })
  ])
  t.equal(keys.size, 2)
  t.strictSame(keys.find(digestOf('one')), { principal: 'key:ada', scopes: new Set(['mcp']), expires: undefined })
  t.strictSame(keys.find(digestOf('two')), {
    principal: 'key:alan',
    scopes: new Set(['notes', 'exec']),
    expires: Date.UTC(2100, 0, 1)
  })
  for (const other of ['', 'One', 'one ', 'three', hashOf('one')]) t.equal(keys.find(digestOf(other)), undefined, other)
})

t.test('a new key is long, random and fit for a header', async t => {
  const made = new Set(Array.from({ length: 1_000 }, makeKey))
  t.equal(made.size, 1_000)
  for (const key of made) t.match(key, /^pb_[\w-]{43}$/)
  t.equal(hashOf('abc'), 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

t.test('every key is compared, in constant time, whichever it is and whether there is one', async t => {
  const { timingSafeEqual } = crypto
  let compared = 0
  crypto.timingSafeEqual = (a, b) => { compared++; return timingSafeEqual(a, b) }
  syncBuiltinESMExports()
  t.teardown(() => { crypto.timingSafeEqual = timingSafeEqual; syncBuiltinESMExports() })
  const keys = new ApiKeys(['a', 'b', 'c', 'd'].map(key => listed(key, key)))
  for (const key of ['a', 'd', 'nobody']) {
    compared = 0
    keys.find(digestOf(key))
    t.equal(compared, 4, key)
  }
})

t.test('a list that makes no sense is refused by the name of the option', async t => {
  t.throws(() => new ApiKeys([listed('ada', 'one'), listed('alan', 'one')]), {
    message: /^option apiKeys\.1\.hash is listed twice/
  })
  t.throws(() => new ApiKeys([listed('ada', 'one', { expires: '2030-13-45' })]), {
    message: /^option apiKeys\.0\.expires must be a time/
  })
  t.equal(
    new ApiKeys([listed('ada', 'old'), listed('ada', 'new')]).find(digestOf('new'))?.principal,
    'key:ada',
    'one holder may have two keys, to change over'
  )
})
