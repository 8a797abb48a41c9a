import { writeFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FolderWatchers } from '../../../system/files/folder-watchers.js'
import { until } from '../../support/wait.js'
import { tree } from '../../support/environment/tree.js'

function watching (t: Test): FolderWatchers {
  const watchers = new FolderWatchers()
  t.teardown(() => watchers.close())
  return watchers
}

/** Waits until all changes in a folder are reported: those of one folder are in order. */
async function settled (watchers: FolderWatchers, root: string): Promise<void> {
  const { after, stop } = await watched(watchers, join(root, 'marker'))
  await writeFile(join(root, 'marker'), '')
  await after(1)
  stop()
}

async function watched (watchers: FolderWatchers, ...files: string[]) {
  const changes = { count: 0 }
  const stop = await watchers.watch(files, () => { changes.count++ })
  return { changes, stop, after: async (count: number) => await until(() => changes.count >= count) }
}

t.test('a listener is called when a file is changed, replaced, removed and created again', async t => {
  const root = await tree(t, { a: '1', b: '1' })
  const watchers = watching(t)
  const { changes, after } = await watched(watchers, join(root, 'a'))
  await writeFile(join(root, 'a'), '2')
  await after(1)
  await settled(watchers, root)
  changes.count = 0
  await writeFile(join(root, 'new'), '3')
  await rename(join(root, 'new'), join(root, 'a'))
  await after(1)
  await rm(join(root, 'a'))
  await after(2)
  await writeFile(join(root, 'a'), '4')
  await after(3)
  await settled(watchers, root)
  changes.count = 0
  await writeFile(join(root, 'b'), '2')
  await settled(watchers, root)
  t.equal(changes.count, 0, 'its neighbours are not its business')
})

t.test('changes at one time are reported once, and lasting changes while they last', async t => {
  const root = await tree(t, { a: '' })
  const watchers = watching(t)
  const { changes } = await watched(watchers, join(root, 'a'))
  for (let count = 0; count < 10; count++) writeFileSync(join(root, 'a'), `${count}`)
  await until(() => changes.count > 0)
  await settled(watchers, root)
  t.ok(changes.count <= 2, `told ${changes.count} times`)
  changes.count = 0
  let writes = 0
  await until(async () => {
    await writeFile(join(root, 'a'), String(writes++))
    return changes.count > 2
  }, 'reports while changes last')
  t.ok(changes.count < writes, `told ${changes.count} times of ${writes}`)
})

t.test('files of one folder share a watcher, which ends with the last of them', async t => {
  const root = await tree(t, { a: '', b: '', 'sub/c': '' })
  const watchers = watching(t)
  const [a, again, b, c] = (await Promise.all(
    ['a', 'a', 'b', 'sub/c'].map(async name => await watched(watchers, join(root, name)))
  )) as [Watched, Watched, Watched, Watched]
  t.equal(watchers.size, 2)
  a.stop()
  a.stop()
  await writeFile(join(root, 'a'), '1')
  await again.after(1)
  t.equal(a.changes.count, 0)
  c.stop()
  t.equal(watchers.size, 1)
  again.stop()
  b.stop()
  t.equal(watchers.size, 0)
  const anew = await watched(watchers, join(root, 'a'))
  await writeFile(join(root, 'a'), '2')
  await anew.after(1)
})

t.test('a listener that was removed is not called', async t => {
  const root = await tree(t, { a: '' })
  const watchers = watching(t)
  const { changes, stop } = await watched(watchers, join(root, 'a'))
  await writeFile(join(root, 'a'), '1')
  stop()
  await settled(watchers, root)
  t.equal(changes.count, 0)
})

t.test('the watches of a removed folder end, and the folder that replaces it can be watched', async t => {
  const root = await tree(t, { 'sub/a': '' })
  const watchers = watching(t)
  const before = await watched(watchers, join(root, 'sub/a'))
  await rm(join(root, 'sub'), { recursive: true })
  await before.after(1)
  await mkdir(join(root, 'sub'))
  await writeFile(join(root, 'sub/a'), '')
  const after = await watched(watchers, join(root, 'sub/a'))
  await writeFile(join(root, 'sub/a'), '1')
  await after.after(1)
  before.stop()
  after.stop()
  t.equal(watchers.size, 0)
})

t.test('a folder whose parent was moved is not mistaken for the one at its path', async t => {
  const root = await tree(t, { 'x/sub/a': '' })
  const watchers = watching(t)
  await watched(watchers, join(root, 'x/sub/a'))
  await rename(join(root, 'x'), join(root, 'y'))
  await mkdir(join(root, 'x/sub'), { recursive: true })
  await writeFile(join(root, 'x/sub/a'), '')
  const after = await watched(watchers, join(root, 'x/sub/a'))
  await writeFile(join(root, 'x/sub/a'), '1')
  await after.after(1)
  t.equal(watchers.size, 2)
})

t.test('a watch of several files that cannot begin leaves none behind', async t => {
  const root = await tree(t, { a: '' })
  const watchers = watching(t)
  await t.rejects(watched(watchers, join(root, 'a'), join(root, 'nowhere', 'b')), { code: 'ENOENT' })
  t.equal(watchers.size, 0)
})

type Watched = Awaited<ReturnType<typeof watched>>
