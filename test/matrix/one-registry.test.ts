import t from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import fixture from './fixture.js'
import { changeTools } from './one-registry.js'

t.test('a tool added over one connection reaches clients of every transport and revision', async t => {
  t.setTimeout(60_000)
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 5 })
  await changeTools(t, place, async () => await place.app.close())
})
