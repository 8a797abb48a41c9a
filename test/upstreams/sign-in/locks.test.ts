import t from 'tap'
import { memoryStore } from '../../../stores/memory/store.js'
import { SignIns, type SignIn } from '../../../upstreams/sign-in/sign-ins.js'
import { stopTime } from '../../support/clocks.js'

const SIGN_IN: SignIn = {
  issuer: 'https://issuer.example',
  resource: 'https://server.example/mcp',
  tokenEndpoint: 'https://issuer.example/token',
  client: { id: 'me', method: 'none' },
  accessToken: 'a-token',
  requested: [],
  scopes: [],
  obtainedAt: 0,
  signedInAt: 0
}

const OPTIONS = { ephemeral: false, redis: 'redis://127.0.0.1', secret: 'a secret of all nodes' }

t.test('a process that was killed while it stored a sign-in keeps the next from it for half a minute at most', async t => {
  const { pass } = stopTime(t)
  const { values } = memoryStore()
  const signIns = new SignIns(values, OPTIONS)
  await values.put('upstreams/sign-in-locks', 'linear', 'of a process that is gone', { expires: Date.now() + 30_000 })
  let isStored = false
  const saving = signIns.save('linear', SIGN_IN).then(() => { isStored = true })
  await pass(29_000, 500)
  t.notOk(isStored, 'it may live')
  await pass(3_000, 500)
  await saving
  t.match(await signIns.load('linear'), { accessToken: 'a-token' })
  t.notOk(JSON.stringify(await values.get('upstreams/sign-ins', 'linear')).includes('a-token'), 'sealed')
  t.equal(await values.get('upstreams/sign-in-locks', 'linear'), undefined, 'the lock is free again')
})

t.test('a renewal that takes longer than the lease of its lock spends the refresh token once', async t => {
  const { pass, after } = stopTime(t)
  const { values } = memoryStore()
  const nodes = [1, 2].map(() => new SignIns(values, OPTIONS))
  await nodes[0]?.save('linear', SIGN_IN)
  let renewals = 0
  const all = nodes.map(async node => await node.replace('linear', 'a-token', async present => {
    renewals++
    await after(40_000)
    return { ...present, accessToken: 'another-token' }
  }))
  await pass(44_000, 500)
  t.match(await Promise.all(all), [{ accessToken: 'another-token' }, { accessToken: 'another-token' }])
  t.equal(renewals, 1)
})
