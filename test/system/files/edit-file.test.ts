import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { newestBackup, openFile, replaceFile } from '../../../system/files/edit-file.js'
import { folder } from '../../support/process.js'

const text = (file: string): string => readFileSync(file, 'utf8')
const NEW = Buffer.from('new')

t.test('a file is replaced as a whole, keeps its rights, and leaves a backup beside it', async t => {
  const file = join(await folder(t, { 'a.json': 'old' }), 'a.json')
  chmodSync(file, 0o640)
  replaceFile(openFile(file), NEW, { backup: 'a.json.bak' })
  t.equal(text(file), 'new')
  t.equal(statSync(file).mode & 0o777, 0o640)
  t.equal(text(`${file}.bak`), 'old')
  t.equal(statSync(`${file}.bak`).mode & 0o777, 0o640)
  t.strictSame(readdirSync(join(file, '..')).sort(), ['a.json', 'a.json.bak'], 'nothing else is left behind')
})

t.test('a backup is never replaced: the next one gets a number, and none is left of a file that stays', async t => {
  const file = join(await folder(t, { 'a.json': 'one', 'a.json.bak': 'mine' }), 'a.json')
  t.equal(replaceFile(openFile(file), NEW, { backup: 'a.json.bak' }), `${file}.bak.2`)
  const opened = openFile(file)
  writeFileSync(file, 'other')
  t.throws(() => replaceFile(opened, NEW, { backup: 'a.json.bak' }), /meanwhile/)
  chmodSync(file, 0o644)
  t.equal(replaceFile(openFile(file), NEW, { backup: 'a.json.bak', isPrivate: true }), `${file}.bak.3`)
  t.strictSame([`${file}.bak`, `${file}.bak.2`, `${file}.bak.3`].map(text), ['mine', 'one', 'other'])
  for (const each of [file, `${file}.bak.3`]) t.equal(statSync(each).mode & 0o777, 0o600)
  t.equal(newestBackup(`${file}.bak`), `${file}.bak.3`)
  t.equal(newestBackup(`${file}.none`), undefined)
})

t.test('root keeps the owner of a file, and gives it the backup', { skip: process.getuid?.() !== 0 && 'only root can' }, async t => {
  const file = join(await folder(t, { 'a.json': 'old' }), 'a.json')
  chownSync(file, 1234, 2345)
  replaceFile(openFile(file), NEW, { backup: 'a.json.bak' })
  for (const each of [file, `${file}.bak`]) t.match(statSync(each), { uid: 1234, gid: 2345 })
})

t.test('a file that is not there is made for its owner alone, with its folders', async t => {
  const file = join(await folder(t, {}), 'one', 'two', 'a.json')
  replaceFile(openFile(file), NEW, { backup: 'a.json.bak' })
  t.equal(text(file), 'new')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700)
})

t.test('a symbolic link stays a link, and what it leads to is changed', async t => {
  const place = await folder(t, { real: 'old' })
  symlinkSync('real', join(place, 'second'))
  symlinkSync(join(place, 'second'), join(place, 'first'))
  replaceFile(openFile(join(place, 'first')), NEW)
  t.equal(readlinkSync(join(place, 'first')), join(place, 'second'))
  t.equal(readlinkSync(join(place, 'second')), 'real')
  t.notOk(lstatSync(join(place, 'real')).isSymbolicLink())
  t.equal(text(join(place, 'real')), 'new')

  symlinkSync('later', join(place, 'dangling'))
  replaceFile(openFile(join(place, 'dangling')), NEW)
  t.equal(text(join(place, 'later')), 'new', 'also where there was nothing yet')
  symlinkSync('loop', join(place, 'loop'))
  t.throws(() => openFile(join(place, 'loop')), /leads to itself/)
})

t.test('a read-only file is refused in words', async t => {
  const file = join(await folder(t, { 'a.json': 'old' }), 'a.json')
  chmodSync(file, 0o444)
  t.throws(() => replaceFile(openFile(file), NEW, { backup: 'b' }), {
    message: `${file} is read-only; nothing was written: allow it with chmod u+w first`
  })
  t.equal(text(file), 'old')
  t.strictSame(readdirSync(join(file, '..')), ['a.json'])
})

t.test('a change between reading and writing is noticed, and nothing is written', async t => {
  const file = join(await folder(t, { 'a.json': 'old' }), 'a.json')
  const opened = openFile(file)
  writeFileSync(file, 'old, and more')
  t.throws(() => replaceFile(opened, NEW), /was changed by another program meanwhile; nothing was written: try again$/)
  t.equal(text(file), 'old, and more')

  const absent = openFile(`${file}.other`)
  writeFileSync(`${file}.other`, 'mine')
  t.throws(() => replaceFile(absent, NEW), /meanwhile/)
  t.equal(text(`${file}.other`), 'mine')
  t.strictSame(readdirSync(join(file, '..')).sort(), ['a.json', 'a.json.other'])
})

t.test('of two programs that write at once, one is refused; what a killed one left is no obstacle', async t => {
  const place = await folder(t, { 'a.json': 'old', '.a.json.patchbay-new': 'half' })
  const file = join(place, 'a.json')
  t.throws(() => replaceFile(openFile(file), NEW), {
    message: `${file} cannot be written, and is as it was: another program is writing it; try again`
  })
  t.equal(text(join(place, '.a.json.patchbay-new')), 'half', 'it is not ours')
  const before = new Date(Date.now() - 120_000)
  utimesSync(join(place, '.a.json.patchbay-new'), before, before)
  replaceFile(openFile(file), NEW)
  t.equal(text(file), 'new')
})

t.test('where there is no space left, the old bytes stay, and nothing else', async t => {
  const place = await folder(t, { 'a.json': 'old' })
  const file = join(place, 'a.json')
  const module = pathToFileURL(join(import.meta.dirname, '../../../system/files/edit-file.js')).href
  const script = `import { newestBackup, openFile, replaceFile } from '${module}'
    try { replaceFile(openFile(process.argv[1]), Buffer.alloc(1_000_000, 32)) } catch (error) { process.stdout.write(error.message) }`
  // The kernel refuses to write more than 64 blocks to a file, as it refuses on a disk that is full.
  const shell = 'ulimit -f 64; exec "$@"'
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', shell, 'sh', process.execPath, '--input-type=module', '-e', script, file],
    { encoding: 'utf8' }
  )
  t.equal(
    stdout,
    `${file} cannot be written, and is as it was: the file would be larger than this user may write`,
    stderr
  )
  t.equal(text(file), 'old')
  t.strictSame(readdirSync(place), ['a.json'])
})

t.test('a folder, and a file that is too large, are no files to edit', async t => {
  const place = await folder(t, {})
  mkdirSync(join(place, 'x'))
  t.throws(() => openFile(join(place, 'x')), /is not a file/)
  writeFileSync(join(place, 'y'), Buffer.alloc(16 * 1024 * 1024 + 1))
  t.throws(() => openFile(join(place, 'y')), /has more than 16777216 bytes/)
})
