import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { memoryStore } from '../../../stores/memory/store.js'

t.test('values that have expired are freed by later ones, also where nothing counts them', async t => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const { values } = memoryStore()
  gc()
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < 400; count++) {
    await values.put('space', String(count), `${count}${'x'.repeat(100_000)}`, { expires: Date.now() })
  }
  gc()
  const held = process.memoryUsage().heapUsed - before
  t.ok(held < 15_000_000, `${held} bytes are held of 40,000,000`)
  t.strictSame(await values.keys('space'), [])
})
