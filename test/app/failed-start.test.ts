import t from 'tap'
import { build, type Store } from '../../app.js'

t.test('a gateway that cannot be built closes its store', async t => {
  const data = t.testdir({})
  const stores: Store[] = []
  await t.rejects(
    build({
      data,
      plugins: [
        async app => {
          stores.push(app.mcp.store)
        },
        'no-such-plugin.ts'
      ]
    }),
    /no-such-plugin.ts/
  )
  const [store] = stores
  t.ok(store !== undefined)
  await t.rejects(Promise.resolve(store?.values.put('space', 'key', 1)), /closed/)
})
