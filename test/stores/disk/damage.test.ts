import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import t, { type Test } from 'tap'
import { diskStore } from '../../../stores/disk/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { dataFolder, FILE, GIBIBYTE } from '../../support/environment/on-disk.js'

const ROWS = 300
const EVENTS = 50
const IN_WORDS =
  /^data folder.*: .*(damaged: restore a copy of it or delete it|is not a file of Patchbay|has format -?\d+ and this version of Patchbay knows format 2|cannot be opened); choose another/

interface Found { error?: string, rows?: number, events?: number }

const keyOf = (index: number): string => `key-${String(index).padStart(4, '0')}`

/** A filled folder. Everything is in the main file, or everything is in the latest changes beside it. */
async function filled (t: Test, where: 'file' | 'wal'): Promise<string> {
  const folder = await dataFolder(t)
  const store = diskStore(folder, GIBIBYTE)
  for (let index = 0; index < ROWS; index += 10) {
    await Promise.all(
      Array.from(
        { length: 10 },
        async (_, more) => await store.values.put('space', keyOf(index + more), { text: 'x'.repeat(100) })
      )
    )
  }
  await store.sessions.save('s', RECORD, TOMORROW)
  for (let index = 0; index < EVENTS; index++) {
    await store.sessions.append('s', '0', { text: `event ${index}`, method: 'm' }, false)
  }
  const copy = await dataFolder(t)
  if (where === 'wal') cpSync(folder, copy, { recursive: true })
  await store.close()
  if (where === 'wal') return copy
  const db = new DatabaseSync(join(folder, FILE))
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  cpSync(join(folder, FILE), join(copy, FILE))
  return copy
}

/** What a copy of the folder is like in which one file was changed. */
async function changed (t: Test, folder: string, file: string, change: (bytes: Buffer) => Buffer): Promise<Found> {
  const copy = await dataFolder(t)
  cpSync(folder, copy, { recursive: true })
  writeFileSync(join(copy, file), change(readFileSync(join(folder, file))))
  const found = await look(copy)
  rmSync(copy, { recursive: true })
  return found
}

async function look (folder: string): Promise<Found> {
  try {
    const store = diskStore(folder, GIBIBYTE)
    try {
      const rows = (await store.values.list('space')).length
      const replay = await store.sessions.read('s', '0', 0)
      return { rows, events: replay?.events.length ?? 0 }
    } catch (error) {
      const { name, message } = error as Error
      return { error: `data folder: ${name === 'McpError' ? message : `not in words: ${message}`}; choose another` }
    } finally {
      await store.close()
    }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** Numbers that look random and are the same each time. */
function * random (): Generator<number, never> {
  for (let seed = 1; ;) {
    seed = (seed * 1103515245 + 12345) % 2147483648
    yield seed / 2147483648
  }
}

t.test('what is not damaged is all there', async t => {
  for (const where of ['file', 'wal'] as const) {
    t.strictSame(await look(await filled(t, where)), { rows: ROWS, events: EVENTS })
  }
})

t.test('a file that was cut off anywhere is refused with a reason', async t => {
  const folder = await filled(t, 'file')
  const { length } = readFileSync(join(folder, FILE))
  t.ok(length > 50_000)
  for (let part = 0; part < 50; part++) {
    const { error } = await changed(t, folder, FILE, bytes => bytes.subarray(0, Math.floor(length * part / 50)))
    t.match(error, part === 0 ? /is empty, so it was damaged/ : IN_WORDS, `${part} of 50 parts are left`)
  }
})

t.test('a file of which a page is blank or random is refused with a reason', async t => {
  const folder = await filled(t, 'file')
  const numbers = random()
  const pages = readFileSync(join(folder, FILE)).length / 4096
  for (let page = 0; page < pages; page++) {
    const blank = await changed(t, folder, FILE, bytes => bytes.fill(0, page * 4096, (page + 1) * 4096))
    t.match(blank.error, IN_WORDS, `page ${page} blank`)
    const noise = await changed(t, folder, FILE, bytes => {
      for (let at = page * 4096; at < (page + 1) * 4096; at++) bytes[at] = Math.floor(numbers.next().value * 256)
      return bytes
    })
    t.match(noise.error, IN_WORDS, `page ${page} random`)
  }
})

t.test('whichever bit is flipped, the rest is there or the damage is an error with a reason', async t => {
  const folder = await filled(t, 'file')
  const numbers = random()
  let found = 0
  for (let count = 0; count < 150; count++) {
    const { error, rows = 0, events = 0 } = await changed(t, folder, FILE, bytes => {
      const at = Math.floor(numbers.next().value * bytes.length)
      return bytes.fill((bytes[at] as number) ^ (1 << Math.floor(numbers.next().value * 8)), at, at + 1)
    })
    if (error !== undefined) found++
    const good = error === undefined ? rows >= ROWS - 1 && events >= EVENTS - 1 : IN_WORDS.test(error)
    if (!good) t.fail(error ?? `${rows} rows and ${events} events are left, and nobody is told`)
  }
  t.ok(found > 0, 'some damage was found')
})

t.test('a damaged key is found when the file is opened', async t => {
  const folder = await filled(t, 'file')
  const { error, rows } = await changed(t, folder, FILE, bytes => {
    const at = bytes.indexOf(`space${keyOf(ROWS / 2)}{"text"`)
    t.ok(at > 0)
    return bytes.fill((bytes[at] as number) ^ 0x80, at, at + 1)
  })
  t.match(error, IN_WORDS, `${rows} rows are left, and nobody is told`)
})

// How far the latest changes were written before a process died cannot be distinguished from how much of them was lost:
// a prefix of them remains.
t.test('a cut or damaged log of changes leaves all that came before, and nothing that never was', async t => {
  const folder = await filled(t, 'wal')
  const file = `${FILE}-wal`
  const { length } = readFileSync(join(folder, file))
  t.ok(length > 100_000, 'the changes are there and not in the file')
  let last: Found = { rows: 0, events: 0 }
  for (let part = 0; part <= 25; part++) {
    const found = await changed(t, folder, file, bytes => bytes.subarray(0, Math.floor(length * part / 25)))
    t.equal(found.error, undefined)
    t.ok(
      (found.rows ?? 0) >= (last.rows ?? 0) && (found.events ?? 0) >= (last.events ?? 0),
      `${part} of 25 parts: ${found.rows} rows, ${found.events} events`
    )
    last = found
  }
  t.strictSame(last, { rows: ROWS, events: EVENTS })
  for (let part = 1; part < 25; part++) {
    const found = await changed(t, folder, file, bytes =>
      bytes.fill(0x55, Math.floor((length * part) / 25), Math.floor((length * part) / 25) + 100)
    )
    t.ok(found.error === undefined ? (found.rows ?? 0) <= ROWS : IN_WORDS.test(found.error))
  }
})

t.test('a damaged index of the latest changes is made anew', async t => {
  const folder = await filled(t, 'wal')
  for (const change of [
    (bytes: Buffer) => bytes.fill(0x55),
    (bytes: Buffer) => bytes.subarray(0, 100),
    () => Buffer.alloc(0)
  ]) {
    t.strictSame(await changed(t, folder, `${FILE}-shm`, change), { rows: ROWS, events: EVENTS })
  }
})
