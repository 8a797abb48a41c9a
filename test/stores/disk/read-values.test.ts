import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readValues } from '../../../stores/disk/read-values.js'
import { diskStore } from '../../../stores/disk/store.js'

const SIZE = 64 * 1024 * 1024

t.test('the values of a folder are read while a gateway uses it, and after it, and nothing changes there', async t => {
  const folder = t.testdir({})
  const store = diskStore(folder, SIZE)
  await store.values.put('lists', 'a', { one: 1 })
  await store.values.put('lists', 'gone', 2, { expires: Date.now() - 1 })
  await store.values.put('other', 'b', 3)
  t.strictSame(readValues(folder, 'lists'), [{ key: 'a', value: { one: 1 } }], 'in use')
  await store.values.put('lists', 'c', 'later')
  t.equal(readValues(folder, 'lists').length, 2, 'as it is now')
  await store.close()
  const [files, bytes] = [readdirSync(folder), readFileSync(join(folder, 'patchbay.db'))]
  t.equal(readValues(folder, 'lists').length, 2, 'closed')
  t.strictSame(readdirSync(folder), files, 'no file was added')
  t.ok(bytes.equals(readFileSync(join(folder, 'patchbay.db'))))
})

t.test('a folder without a file of ours has no values', async t => {
  const folder = t.testdir({})
  t.strictSame(readValues(folder, 'lists'), [])
  t.strictSame(readValues(join(folder, 'none'), 'lists'), [])
  t.strictSame(readdirSync(folder), [])
  writeFileSync(join(folder, 'patchbay.db'), 'no database, and long enough to be looked at')
  t.strictSame(readValues(folder, 'lists'), [])
})
