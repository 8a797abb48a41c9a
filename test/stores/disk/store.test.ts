import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import t, { type Test } from 'tap'
import { diskStore } from '../../../stores/disk/store.js'
import { within } from '../../support/wait.js'
import { mounted } from './mount.js'
import { dataFolder, FILE, GIBIBYTE, opened } from '../../support/environment/on-disk.js'
import { worker } from './worker.js'

/** The error of opening; fails when there is none. */
function refusal (t: Test, folder: string): string {
  try {
    opened(t, folder)
  } catch (error) {
    return (error as Error).message
  }
  t.fail('the store opened')
  return ''
}

async function altered (t: Test, sql: string): Promise<string> {
  const folder = await dataFolder(t)
  await diskStore(folder, GIBIBYTE).close()
  const db = new DatabaseSync(join(folder, FILE))
  db.exec(sql)
  db.close()
  return folder
}

t.test('a folder that is not there is made, for its owner alone', async t => {
  const folder = join(await dataFolder(t), 'a', 'b ä', 'c')
  const store = opened(t, folder)
  await store.values.put('space', 'key', 1)
  t.equal(store.kind, 'disk')
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const file of readdirSync(folder)) t.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
})

t.test('a store that is closed leaves one file that holds everything', async t => {
  const folder = await dataFolder(t)
  const store = opened(t, folder)
  for (let count = 0; count < 100; count++) await store.values.put('space', String(count), 'x'.repeat(1_000))
  await store.close()
  const copy = await dataFolder(t)
  copyFileSync(join(folder, FILE), join(copy, FILE))
  t.equal((await opened(t, copy).values.list('space')).length, 100)
})

t.test('values that have expired are removed by later ones that expire, also where nothing counts them', async t => {
  const folder = await dataFolder(t)
  const store = opened(t, folder)
  for (let count = 0; count < 20; count++) await store.values.put('space', `old ${count}`, 1, { expires: Date.now() })
  await store.values.put('space', 'new', 1, { expires: Date.now() + 60_000 })
  await store.close()
  const db = new DatabaseSync(join(folder, FILE))
  t.same(db.prepare("SELECT key FROM entries WHERE space = 'space'").all(), [{ key: 'new' }])
  db.close()
})

t.test('what is written in the turn in which the store is closed is kept', async t => {
  const folder = await dataFolder(t)
  const store = opened(t, folder)
  const written = Promise.all([store.values.put('space', 'a', 1), store.values.increment('space', 'b', 2)])
  await store.close()
  t.strictSame(await written, [undefined, 2])
  t.equal((await opened(t, folder).values.list('space')).length, 2)
})

t.test('a closed store refuses calls, and can be closed again', async t => {
  const store = opened(t, await dataFolder(t))
  await store.values.put('space', 'key', 1)
  await store.close()
  const why = { name: 'McpError', message: 'Storage failed: the store is closed' }
  await t.rejects(store.values.put('space', 'key', 2), why)
  await t.rejects(store.values.increment('space', 'key', 2), why)
  await t.rejects(store.values.get('space', 'key'), why)
  await t.rejects(store.values.list('space'), why)
  await t.rejects(store.sessions.load('s'), why)
  await t.rejects(store.sessions.append('s', '0', { text: 'x', method: 'm' }, false), why)
  await t.resolves(store.close())
})

for (const [what, remove] of Object.entries({
  removed: (file: string) => rmSync(file),
  replaced: (file: string) => {
    renameSync(file, `${file}.old`)
    copyFileSync(`${file}.old`, file)
  }
})) {
  t.test(`a file that is ${what} while it is open is missed, and nothing more is acknowledged`, async t => {
    const folder = await dataFolder(t)
    const store = opened(t, folder)
    await store.values.put('space', 'key', 1)
    const troubled = new Promise<void>(resolve => {
      store.onFailureChange(resolve)
    })
    remove(join(folder, FILE))
    await within(60_000, async () => await troubled)
    t.equal(store.failure, 'the data file was removed or replaced: start the gateway again')
    await t.rejects(store.values.put('space', 'key', 2), {
      name: 'McpError',
      message: 'Storage failed: the data file was removed or replaced: start the gateway again'
    })
    await t.rejects(store.values.increment('space', 'other', 2), /removed or replaced/)
  })
}

t.test('a file of a newer format is refused and left alone', async t => {
  const folder = await altered(t, 'PRAGMA user_version = 6')
  t.match(
    refusal(t, folder),
    /^data folder .*: patchbay\.db has format 6 and this version of Patchbay knows format 5; choose another with --data, or keep nothing with --ephemeral$/
  )
  const db = new DatabaseSync(join(folder, FILE))
  t.strictSame({ ...db.prepare('PRAGMA user_version').get() }, { user_version: 6 })
  db.close()
})

t.test('a file of another program is refused and left alone', async t => {
  const folder = await altered(t, 'PRAGMA application_id = 252006674; CREATE TABLE theirs (a)')
  t.match(refusal(t, folder), /^data folder .*: patchbay\.db is not a file of Patchbay; choose another/)
  const db = new DatabaseSync(join(folder, FILE))
  t.strictSame({ ...db.prepare('SELECT count(*) AS count FROM theirs').get() }, { count: 0 })
  db.close()
})

t.test('a database of another program in the place of ours is refused', async t => {
  const folder = await dataFolder(t)
  const db = new DatabaseSync(join(folder, FILE))
  db.exec('CREATE TABLE theirs (a)')
  db.close()
  t.match(refusal(t, folder), /is not a file of Patchbay/)
})

t.test('an empty file is not taken for a new store', async t => {
  const folder = await dataFolder(t)
  writeFileSync(join(folder, FILE), '')
  t.match(
    refusal(t, folder),
    /^data folder .*: patchbay\.db is empty, so it was damaged: restore a copy of it or delete it; choose another/
  )
  t.equal(statSync(join(folder, FILE)).size, 0, 'and stays as it was')
})

t.test('a file that is no database is refused and left alone', async t => {
  const folder = await dataFolder(t)
  writeFileSync(join(folder, FILE), 'these are my notes\n'.repeat(1_000))
  t.match(
    refusal(t, folder),
    /^data folder .*: the data file is damaged: restore a copy of it or delete it; choose another/
  )
  t.equal(statSync(join(folder, FILE)).size, 19_000)
})

t.test('latest changes without their file are not thrown away', async t => {
  const folder = await dataFolder(t)
  writeFileSync(join(folder, `${FILE}-wal`), 'latest changes')
  t.match(
    refusal(t, folder),
    /patchbay\.db is missing, but patchbay\.db-wal with the latest changes is there: restore the one or delete the other/
  )
  t.strictSame(readdirSync(folder), [`${FILE}-wal`])
})

t.test('a folder that is a file is refused', async t => {
  const folder = join(await dataFolder(t), 'file')
  writeFileSync(folder, 'a file')
  t.match(refusal(t, folder), /^data folder .*file: it is not a folder; choose another/)
  t.match(refusal(t, join(folder, 'below')), /^data folder .*below: it is not a folder; choose another/)
})

t.test('a data file that is a folder is refused', async t => {
  const folder = await dataFolder(t)
  mkdirSync(join(folder, FILE))
  t.match(refusal(t, folder), /^data folder .*: the data file cannot be opened; choose another/)
})

t.test(
  'a folder that is not writable is refused',
  { skip: existsSync('/sys/kernel') ? false : 'there is no /sys' },
  async t => {
    t.match(
      refusal(t, '/sys/patchbay'),
      /^data folder \/sys\/patchbay: it (may not be written|is on a disk that may only be read); choose another/
    )
  }
)

t.test('a new folder on a disk that may only be read is refused', async t => {
  const disk = await mounted(t, 'size=1m')
  if (disk === undefined) return
  execFileSync('mount', ['-o', 'remount,ro', disk])
  t.match(refusal(t, disk), /^data folder .*: it is on a disk that may only be read; choose another/)
  t.match(
    refusal(t, join(disk, 'below')),
    /^data folder .*: it (is on a disk that may only be read|cannot be made); choose another/
  )
})

t.test('a store on a disk that may only be read is refused at once, and not at the first note', async t => {
  const disk = await mounted(t, 'size=4m')
  if (disk === undefined) return
  const child = worker(t)
  await child.ask('open', disk)
  await child.ask('put', 'space', 'key', 1)
  await child.stop()
  execFileSync('mount', ['-o', 'remount,ro', disk])
  t.match(refusal(t, disk), /^data folder .*: .*(may not be written|may only be read|cannot be opened); choose another/)
})
