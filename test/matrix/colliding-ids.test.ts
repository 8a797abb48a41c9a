import t from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import { useSameIds } from './colliding-ids.js'
import fixture from './fixture.js'

t.test('clients that use the same ids at the same time each get their own', async t => {
  t.setTimeout(60_000)
  await useSameIds(t, await listening(t, { plugins: [sharedFixture, fixture] }))
})
