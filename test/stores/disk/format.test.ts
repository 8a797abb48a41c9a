import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import t from 'tap'
import { build } from '../../../app.js'
import type { SessionStore } from '../../../protocol/store.js'
import { TOMORROW } from '../../support/stream-log.js'
import { dataFolder, FILE, opened } from '../../support/environment/on-disk.js'
import { worker } from './worker.js'
import { copyFormat2, fillFormat2, FORMAT_2, makeFormat1, OLD_RECORD, SUBSCRIBED } from './old-files.js'
import { pause } from '../../support/wait.js'

const record = async (sessions: SessionStore, id: string) => (await sessions.load(id))?.record

const { greeted, ...AGREED } = OLD_RECORD
const UPGRADED = { ...AGREED, initialized: greeted }

t.test('a file of format 1 is upgraded, and nothing is lost', async t => {
  const folder = await dataFolder(t)
  makeFormat1(folder)
  const { values, sessions } = opened(t, folder)
  t.equal(await values.get('notes', 'one'), 'kept')
  t.strictSame(await sorted(record(sessions, 's')), {
    ...UPGRADED,
    client: { name: 'c' },
    subscriptions: [...SUBSCRIBED].sort()
  })
  t.strictSame(await record(sessions, 'none'), { ...UPGRADED, subscriptions: [] })
  await t.rejects(sessions.load('damaged'), /damaged/)
  await sessions.update('s', { subscriptions: new Map(SUBSCRIBED.map(uri => [uri, false])) }, TOMORROW)
  t.strictSame((await record(sessions, 's'))?.subscriptions, [])
  await sessions.finish('s')
  t.match((await sessions.read('s', 'r', 0))?.events, [{ number: 1, method: '', text: 'interrupted' }])
})

t.test('a file that a gateway of format 2 left when it was killed is upgraded, and nothing is lost', async t => {
  const folder = await dataFolder(t)
  copyFormat2(folder)
  const { values, sessions } = opened(t, folder)
  t.equal(await values.get('counter', 'value'), 1)
  t.match((await values.list('notes'))[0]?.value, { content: 'kept since format 2' })
  t.strictSame(
    new Set(await sessions.takeOver('host.example 127.0.0.1:8080')),
    new Set([FORMAT_2.session, FORMAT_2.other])
  )
  t.strictSame(await sorted(record(sessions, FORMAT_2.session)), {
    revision: '2025-11-25',
    initialized: true,
    client: { name: 'fixture', version: '1.2.3' },
    capabilities: { roots: {}, sampling: {} },
    logLevel: 'debug',
    subscriptions: ['server://counter', 'server://status']
  })
  await sessions.finish(FORMAT_2.session)
  const { events = [], ended } = await sessions.read(FORMAT_2.session, FORMAT_2.stream, FORMAT_2.events) ?? {}
  t.match(
    events.map(({ text }) => JSON.parse(text) as unknown),
    [{ id: 'cut off', error: { code: -32603, message: /was stopped/ } }]
  )
  t.equal(ended, true)
})

t.test('a gateway goes on with the sessions of format 2', async t => {
  const folder = await dataFolder(t)
  copyFormat2(folder)
  const app = await build({ data: folder, grace: 200 })
  t.teardown(async () => await app.close())
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-session-id': FORMAT_2.session,
    'mcp-protocol-version': '2025-11-25'
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'increment_counter', arguments: {} } }
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/mcp', headers, payload: call })
  t.equal(statusCode, 200)
  t.match(body, '"value":2')
  const replay = await app.inject({
    url: '/mcp',
    headers: { ...headers, 'last-event-id': `${FORMAT_2.stream}-${FORMAT_2.events}` }
  })
  t.match(replay.body, '"id":"cut off","error"')
})

t.test('processes that open an old file at the same moment all go on with the upgraded one', async t => {
  const folder = await dataFolder(t)
  makeFormat1(folder)
  const children = Array.from({ length: 4 }, () => worker(t))
  await Promise.all(children.map(async child => await child.ask('open', folder)))
  t.strictSame((await record(opened(t, folder).sessions, 's'))?.subscriptions.length, 3)
  t.strictSame(await children[0]?.ask('list', 'notes'), [{ key: 'one', value: 'kept' }])
})

t.test('a file as large as maxData allows is upgraded, although that takes more pages', async t => {
  const folder = await dataFolder(t)
  copyFormat2(folder)
  const size = fillFormat2(folder, 1_000)
  const store = opened(t, folder, size)
  t.match(await record(store.sessions, 'filler 999'), UPGRADED)
  await t.rejects(store.values.put('space', 'key', 'x'.repeat(100_000)), /maxData/, 'the limit holds after that')
})

t.test(
  'a process waits while another upgrades the file, for longer than for a lock later',
  { timeout: 20_000 },
  async t => {
    const folder = await dataFolder(t)
    copyFormat2(folder)
    const child = worker(t)
    await child.ask('ready')
    const busy = new DatabaseSync(join(folder, FILE))
    busy.exec('BEGIN IMMEDIATE')
    const opening = child.ask('open', folder)
    await pause(
      2_500,
      'the other process waits for the lock inside of SQLite, by its own clock: two seconds would be too little'
    )
    busy.exec('ROLLBACK')
    busy.close()
    await opening
    t.match(await child.ask('list', 'notes'), [{ value: { content: 'kept since format 2' } }])
  }
)

async function sorted<T extends { subscriptions: string[] }> (record: Promise<T | undefined>): Promise<T | undefined> {
  const found = await record
  found?.subscriptions.sort()
  return found
}
