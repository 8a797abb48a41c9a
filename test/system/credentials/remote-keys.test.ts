import { errors, exportJWK, generateKeyPair, type JWK } from 'jose'
import t from 'tap'
import { CredentialUnknowable } from '../../../system/credentials/credential-error.js'
import { RemoteKeys } from '../../../system/credentials/remote-keys.js'

const MINUTE = 60_000

/** An issuer that is asked through `load`, and a clock that the test sets. */
async function remote () {
  const { publicKey } = await generateKeyPair('ES256')
  const jwk = await exportJWK(publicKey)
  const state = {
    now: 0,
    asked: 0,
    loading: 0,
    keys: [{ ...jwk, kid: 'a', alg: 'ES256' }] as JWK[],
    down: false,
    troubles: [] as string[]
  }
  const keys = new RemoteKeys(async () => {
    state.asked++
    state.loading++
    await new Promise(resolve => setImmediate(resolve))
    state.loading--
    if (state.down) throw new Error('connection refused')
    return { keys: state.keys }
  }, error => { if (error !== undefined) state.troubles.push(error.message) }, () => state.now)
  const find = async (kid: string) => await keys.find({ alg: 'ES256', kid }, { payload: '', signature: '' })
  const rotate = () => { state.keys = [{ ...jwk, kid: 'b', alg: 'ES256' }] }
  return { state, keys, find, rotate }
}

t.test('a hundred simultaneous lookups of keys make one request', async t => {
  const { state, find } = await remote()
  await Promise.all(Array.from({ length: 100 }, async () => await find('a')))
  t.equal(state.asked, 1)
  await find('a')
  t.equal(state.asked, 1, 'and then nobody has to ask')
})

t.test('an unknown key is requested once a minute, however many lookups there are', async t => {
  const { state, find, rotate } = await remote()
  await find('a')
  const failures = await Promise.allSettled(
    Array.from({ length: 100 }, async (_nothing, index) => await find(`unknown ${index}`))
  )
  t.ok(
    failures.every(
      failure =>
        failure.status === 'rejected' && (failure.reason as { code: string }).code === 'ERR_JWKS_NO_MATCHING_KEY'
    )
  )
  t.equal(state.asked, 1)
  rotate()
  state.now = MINUTE
  await Promise.all(Array.from({ length: 100 }, async () => await find('b')))
  t.equal(state.asked, 2, 'a new key of the issuer is found')
  await t.rejects(find('a'), { code: 'ERR_JWKS_NO_MATCHING_KEY' }, 'and the old one is gone')
})

t.test('keys are fetched anew after ten minutes, while the old ones serve', async t => {
  const { state, find } = await remote()
  await find('a')
  state.now = 11 * MINUTE
  await Promise.all(Array.from({ length: 100 }, async () => await find('a')))
  t.equal(state.asked, 2)
})

t.test('known keys serve for an hour while the issuer is down, which is asked once a minute', async t => {
  const { state, find } = await remote()
  await find('a')
  state.down = true
  for (let minute = 11; minute < 60; minute++) {
    state.now = minute * MINUTE
    await find('a')
    await find('a')
    await turnsUntil(() => state.loading === 0)
  }
  t.equal(state.asked, 1 + 49)
  await t.rejects(find('new'), errors.JWKSNoMatchingKey, 'a key that is not among the known ones is not one')
  state.now = 60 * MINUTE
  await t.rejects(find('a'), CredentialUnknowable, 'by then nobody can tell')
  state.down = false
  state.now += 5_000
  await find('a')
})

t.test('without any keys the issuer is asked every five seconds at most', async t => {
  const { state, keys, find } = await remote()
  state.down = true
  keys.warm()
  await turnsUntil(() => state.troubles.length > 0)
  t.strictSame(state.troubles, ['connection refused'])
  await t.rejects(Promise.all(Array.from({ length: 100 }, async () => await find('a'))), CredentialUnknowable)
  t.equal(state.asked, 1)
  state.now = 4_999
  await t.rejects(find('a'), CredentialUnknowable)
  t.equal(state.asked, 1)
  state.now = 5_000
  state.down = false
  await find('a')
  t.equal(state.asked, 2)
})

t.test('a document that is no set of keys is refused', async t => {
  for (const nonsense of [null, 1, 'keys', [], {}, { keys: {} }, { keys: [1] }]) {
    await t.rejects(
      new RemoteKeys(async () => nonsense).find({ alg: 'ES256' }, { payload: '', signature: '' }),
      CredentialUnknowable,
      JSON.stringify(nonsense)
    )
  }
})

async function turnsUntil (done: () => boolean): Promise<void> {
  do await new Promise(resolve => setImmediate(resolve))
  while (!done())
}
