import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { dataFolder, FILE, opened } from '../../support/environment/on-disk.js'
import { worker } from './worker.js'

/** The file as it was made before subscriptions were rows. */
const FORMAT_1 = `
  CREATE TABLE entries (space TEXT NOT NULL, key TEXT NOT NULL, expires INTEGER, value TEXT NOT NULL, UNIQUE (space, key)) STRICT;
  CREATE INDEX expiring ON entries (space, expires) WHERE expires IS NOT NULL;
  CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, writer TEXT NOT NULL, space TEXT NOT NULL, key TEXT NOT NULL) STRICT;
  CREATE TABLE sessions (id TEXT PRIMARY KEY, home TEXT NOT NULL, owner TEXT NOT NULL, record TEXT NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE streams (
    session TEXT NOT NULL, stream TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, seen INTEGER NOT NULL,
    size INTEGER NOT NULL, ended INTEGER NOT NULL, last_word TEXT NOT NULL, UNIQUE (session, stream)) STRICT;
  CREATE TABLE events (
    session TEXT NOT NULL, stream TEXT NOT NULL, number INTEGER NOT NULL, method TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (session, stream, number)) STRICT;
  PRAGMA application_id = 0x50425931;
  PRAGMA user_version = 1;`

const OLD = { ...RECORD, client: { name: 'c', version: '1' }, subscriptions: ['test://b', 'test://a', 'test://ä \ud800'] }

function makeOld (folder: string): void {
  const db = new DatabaseSync(join(folder, FILE))
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(`BEGIN; ${FORMAT_1} COMMIT`)
  db.prepare('INSERT INTO entries (space, key, value) VALUES (?, ?, ?)').run('notes', 'one', '"kept"')
  const add = db.prepare('INSERT INTO sessions (id, home, owner, record, expires) VALUES (?, ?, ?, ?, ?)')
  add.run('s', 'home', 'one', JSON.stringify(OLD), TOMORROW)
  add.run('none', 'home', 'one', JSON.stringify(RECORD), TOMORROW)
  add.run('damaged', 'home', 'one', '{"greeted":', TOMORROW)
  db.close()
}

t.test('a file of the format before is brought to the new one, and nothing is lost', async t => {
  const folder = await dataFolder(t)
  makeOld(folder)
  const { values, sessions } = opened(t, folder)
  t.equal(await values.get('notes', 'one'), 'kept')
  const record = await sessions.load('s')
  t.strictSame({ ...record, subscriptions: record?.subscriptions.sort() }, JSON.parse(JSON.stringify({ ...OLD, subscriptions: [...OLD.subscriptions].sort() })))
  t.strictSame((await sessions.adopt('none', 'elsewhere', TOMORROW))?.subscriptions, [])
  await t.rejects(sessions.load('damaged'), /damaged/)
  await sessions.adopt('s', 'elsewhere', TOMORROW)
  await sessions.update('s', { subscriptions: new Map(OLD.subscriptions.map(uri => [uri, false])) }, TOMORROW)
  t.strictSame((await sessions.load('s'))?.subscriptions, [])
})

t.test('processes that open such a file at the same moment all go on with the new one', async t => {
  const folder = await dataFolder(t)
  makeOld(folder)
  const children = Array.from({ length: 4 }, () => worker(t))
  await Promise.all(children.map(async child => await child.ask('open', folder)))
  t.strictSame((await opened(t, folder).sessions.load('s'))?.subscriptions.length, 3)
  t.strictSame(await children[0]?.ask('list', 'notes'), [{ key: 'one', value: 'kept' }])
})
