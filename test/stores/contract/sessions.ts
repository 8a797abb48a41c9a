import type { Test } from 'tap'
import type { SessionChange, SessionRecord } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { until } from '../../support/wait.js'
import type { Open } from '../contract.js'

const FULL: SessionRecord = {
  revision: '2025-06-18',
  initialized: true,
  client: { name: 'c 😀', version: '1', nested: [null, 'a\0b'] },
  capabilities: { roots: { listChanged: true }, elicitation: {} },
  logLevel: 'debug',
  subscriptions: ['file:///ä b', 'test://a'],
  principal: 'ada'
}
const { subscriptions, ...AGREEMENT } = FULL
const CHANGE: SessionChange = { agreement: AGREEMENT, subscriptions: new Map(subscriptions.map(uri => [uri, true])) }
const YESTERDAY = Date.now() - 86_400_000

export function sessions (t: Test, open: Open): void {
  t.test('a session comes back as it was last kept', async t => {
    const box = await open(t)
    t.equal(await box.store.sessions.load('s'), undefined)
    await box.store.sessions.save('s', RECORD, TOMORROW)
    await box.pause()
    t.strictSame((await box.store.sessions.load('s'))?.record, JSON.parse(JSON.stringify(RECORD)))
    await box.store.sessions.save('s', FULL, TOMORROW)
    await box.pause()
    t.strictSame((await box.store.sessions.load('s'))?.record, FULL)
  })

  t.test('what is kept of a session is a copy', async t => {
    const { store: { sessions } } = await open(t)
    const record = structuredClone(FULL)
    const saved = sessions.save('s', record, TOMORROW)
    record.subscriptions.push('test://later')
    await saved
    t.strictSame((await sessions.load('s'))?.record, FULL)
  })

  t.test('sessions are kept apart', async t => {
    const { store: { sessions } } = await open(t)
    for (const id of ['a', 'A', 'a ', '__proto__', 'constructor']) {
      await sessions.save(id, { ...RECORD, principal: id }, TOMORROW)
    }
    for (const id of ['a', 'A', 'a ', '__proto__', 'constructor']) {
      t.equal((await sessions.load(id))?.record.principal, id)
    }
    t.equal(await sessions.load('toString'), undefined)
  })

  t.test('a principal has no more sessions than allowed', async t => {
    const { store: { sessions } } = await open(t)
    const save = async (id: string, principal: string | undefined, expires = TOMORROW) =>
      await sessions.save(id, { ...RECORD, principal }, expires, 2)
    t.strictSame([await save('a', 'ada'), await save('b', 'ada'), await save('c', 'ada')], [true, true, false])
    t.equal(await sessions.load('c'), undefined)
    t.equal(await save('b', 'ada'), true, 'a session does not count against itself')
    for (const principal of ['bob', 'ada\0', undefined, undefined, undefined]) {
      t.equal(await save(`of ${principal}`, principal), true)
    }
    await sessions.remove('a')
    t.strictSame([await save('c', 'ada'), await save('d', 'ada')], [true, false])
    await sessions.touch(['b'], YESTERDAY)
    t.equal(await save('d', 'ada'), true, 'one that has expired does not count')
    await sessions.touch(['c', 'd'], TOMORROW + 60_000)
    t.equal(await save('e', 'ada'), false)
  })

  t.test('a session that has expired is not there', async t => {
    const { store: { sessions } } = await open(t)
    await sessions.save('old', RECORD, YESTERDAY)
    await sessions.save('young', RECORD, TOMORROW)
    t.equal(await sessions.load('old'), undefined)
    t.ok(await sessions.load('young'))
    const expires = Date.now() + 300
    await sessions.save('short', RECORD, expires)
    t.ok(await sessions.load('short'))
    await until(async () => await sessions.load('short') === undefined, 'the end of the session')
    t.ok(Date.now() >= expires)
  })

  t.test('sweeping removes what has expired, with its streams, and nothing else', async t => {
    const box = await open(t)
    await box.store.sessions.save('old', RECORD, TOMORROW)
    await box.store.sessions.save('young', RECORD, TOMORROW)
    for (const id of ['old', 'young']) await box.store.sessions.append(id, '0', { text: id, method: 'm' }, false)
    await box.store.sessions.touch(['old'], YESTERDAY)
    await box.pause()
    await box.store.sessions.sweep()
    await box.pause()
    const { sessions } = box.store
    await sessions.touch(['old'], TOMORROW)
    t.equal(await sessions.load('old'), undefined, 'it is gone for good')
    t.equal(await sessions.append('old', '0', { text: 'late', method: 'm' }, false), undefined)
    t.equal(await sessions.read('old', '0', 0), undefined)
    t.match(await sessions.read('young', '0', 0), { events: [{ text: 'young' }] })
  })

  t.test('sweeping again and again removes whatever has expired, however much it is', async t => {
    const { store: { sessions } } = await open(t)
    const ids = Array.from({ length: 1_500 }, (_, index) => `s${index}`)
    await Promise.all(ids.map(async id => await sessions.save(id, RECORD, YESTERDAY)))
    await sessions.sweep()
    await sessions.sweep()
    await sessions.touch(ids, TOMORROW)
    t.strictSame(
      (await Promise.all(ids.map(async id => await sessions.load(id)))).filter(found => found !== undefined),
      []
    )
  })

  t.test('a session that is touched lives longer, and one that is not there does not come to life', async t => {
    const box = await open(t)
    const soon = Date.now() + 200
    for (const id of ['a', 'untouched']) await box.store.sessions.save(id, FULL, soon)
    await box.store.sessions.touch(['a', 'b'], TOMORROW)
    await box.pause()
    await until(async () => await box.store.sessions.load('untouched') === undefined, 'the end of another session')
    t.strictSame((await box.store.sessions.load('a'))?.record, FULL)
    t.equal(await box.store.sessions.load('b'), undefined)
    await box.store.sessions.touch([], TOMORROW)
  })

  t.test('a session that no other node has used since can be removed for that', async t => {
    const { store: { sessions } } = await open(t)
    for (const id of ['a', 'b']) await sessions.save(id, RECORD, TOMORROW)
    await sessions.touch(['b'], TOMORROW + 1)
    for (const id of ['a', 'b', 'c']) await sessions.removeUnused(id, TOMORROW)
    t.equal(await sessions.load('a'), undefined)
  })

  t.test('what changes in a session is kept while it is there', async t => {
    const box = await open(t)
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), false)
    t.equal(await box.store.sessions.load('s'), undefined, 'nothing comes to life by that')
    await box.store.sessions.save('s', RECORD, Date.now() + 1_000)
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), true)
    await box.pause()
    t.strictSame((await box.store.sessions.load('s'))?.record, FULL)
    t.equal(
      await box.store.sessions.update('s', { agreement: { logLevel: 'error' }, subscriptions: new Map() }, TOMORROW),
      true
    )
    t.strictSame((await box.store.sessions.load('s'))?.record, { ...FULL, logLevel: 'error' }, 'member by member')
    await box.store.sessions.remove('s')
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), false)
  })

  t.test('a subscription comes and goes without the rest of its session', async t => {
    const box = await open(t)
    const wanted = async (...changes: Array<[uri: string, wanted: boolean]>) =>
      await box.store.sessions.update('s', { subscriptions: new Map(changes) }, TOMORROW)
    await box.store.sessions.save('s', FULL, TOMORROW)
    t.equal(await wanted(['test://odd \ud800 \0', true], ['test://a', false], ['test://none', false]), true)
    await box.pause()
    t.strictSame((await box.store.sessions.load('s'))?.record.subscriptions.sort(), [
      'file:///ä b',
      'test://odd \ud800 \0'
    ])
    await wanted(['test://odd \ud800 \0', false], ['file:///ä b', true])
    t.strictSame((await box.store.sessions.load('s'))?.record, { ...FULL, subscriptions: ['file:///ä b'] })
    await box.store.sessions.remove('s')
    await box.store.sessions.save('s', RECORD, TOMORROW)
    t.strictSame((await box.store.sessions.load('s'))?.record.subscriptions, [], 'they go with the session')
  })

  t.test('a session that is removed is gone with its streams', async t => {
    const box = await open(t)
    await box.store.sessions.save('a', RECORD, TOMORROW)
    await box.store.sessions.open('a', 'f00', 'last word')
    for (const stream of ['0', 'f00']) await box.store.sessions.append('a', stream, { text: 'x', method: 'm' }, false)
    await box.store.sessions.remove('a')
    await box.store.sessions.remove('a')
    await box.pause()
    const { sessions } = box.store
    t.equal(await sessions.load('a'), undefined)
    await sessions.finish('a')
    await sessions.save('a', RECORD, TOMORROW)
    t.same(
      await sessions.read('a', '0', 0),
      { after: 0, events: [], ended: false },
      'one of the same id has none of them'
    )
    t.match(await sessions.append('a', '0', { text: 'y', method: 'm' }, false), { after: 0 })
  })
}
