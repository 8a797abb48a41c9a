import t from 'tap'
import { RecycledMap } from '../../../lib/calls/recycled-map.js'

t.test('what was set stays, in its order, however much is set and deleted meanwhile', async t => {
  const map = new RecycledMap<number, string>()
  map.set(-1, 'kept')
  for (let key = 0; key < 1_000; key++) {
    map.set(key, 'passing')
    t.ok(map.delete(key))
  }
  map.set(1_000, 'last')
  t.equal(map.delete(5), false)
  t.equal(map.size, 2)
  t.equal(map.get(-1), 'kept')
  t.strictSame(map.keys(), [-1, 1_000])
  t.strictSame(map.values(), ['kept', 'last'])
})
