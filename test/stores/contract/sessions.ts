import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { SessionChange, SessionRecord } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
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
    await box.store.sessions.save('s', RECORD, 'home', TOMORROW)
    await box.pause()
    t.strictSame(await box.store.sessions.load('s'), JSON.parse(JSON.stringify(RECORD)))
    await box.store.sessions.save('s', FULL, 'home', TOMORROW)
    await box.pause()
    t.strictSame(await box.store.sessions.load('s'), FULL)
  })

  t.test('what is kept of a session is a copy', async t => {
    const { store: { sessions } } = await open(t)
    const record = structuredClone(FULL)
    const saved = sessions.save('s', record, 'home', TOMORROW)
    record.subscriptions.push('test://later')
    await saved
    t.strictSame(await sessions.load('s'), FULL)
  })

  t.test('sessions are kept apart', async t => {
    const { store: { sessions } } = await open(t)
    for (const id of ['a', 'A', 'a ', '__proto__', 'constructor']) await sessions.save(id, { ...RECORD, principal: id }, 'home', TOMORROW)
    for (const id of ['a', 'A', 'a ', '__proto__', 'constructor']) t.equal((await sessions.load(id))?.principal, id)
    t.equal(await sessions.load('toString'), undefined)
  })

  t.test('a session that has expired is not there', async t => {
    const { store: { sessions } } = await open(t)
    await sessions.save('old', RECORD, 'home', YESTERDAY)
    await sessions.save('young', RECORD, 'home', TOMORROW)
    t.equal(await sessions.load('old'), undefined)
    t.strictSame(await sessions.listByNode('home'), ['young'])
    const expires = Date.now() + 300
    await sessions.save('short', RECORD, 'home', expires)
    t.ok(await sessions.load('short'))
    while (await sessions.load('short') !== undefined) await sleep(5)
    t.ok(Date.now() >= expires)
  })

  t.test('sweeping removes what has expired, with its streams, and nothing else', async t => {
    const box = await open(t)
    await box.store.sessions.save('old', RECORD, 'home', TOMORROW)
    await box.store.sessions.save('young', RECORD, 'home', TOMORROW)
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
    await Promise.all(ids.map(async id => await sessions.save(id, RECORD, 'home', YESTERDAY)))
    await sessions.sweep()
    await sessions.sweep()
    await sessions.touch(ids, TOMORROW)
    t.strictSame(await sessions.listByNode('home'), [])
  })

  t.test('a session that is touched lives longer, and one that is not there does not come to life', async t => {
    const box = await open(t)
    await box.store.sessions.save('a', FULL, 'home', Date.now() + 200)
    await box.store.sessions.touch(['a', 'b'], TOMORROW)
    await box.pause()
    await sleep(250)
    t.strictSame(await box.store.sessions.load('a'), FULL)
    t.equal(await box.store.sessions.load('b'), undefined)
    t.strictSame(await box.store.sessions.listByNode('home'), ['a'])
    await box.store.sessions.touch([], TOMORROW)
  })

  t.test('a session lives where it was last kept', async t => {
    const box = await open(t)
    await box.store.sessions.save('a', RECORD, 'one', TOMORROW)
    await box.store.sessions.save('b', RECORD, 'one', TOMORROW)
    await box.store.sessions.append('a', '0', { text: 'x', method: 'm' }, false)
    await box.store.sessions.save('a', RECORD, 'two', TOMORROW)
    await box.pause()
    const { sessions } = box.store
    t.strictSame(await sessions.listByNode('one'), ['b'])
    t.strictSame(await sessions.listByNode('two'), ['a'])
    t.strictSame(await sessions.listByNode('three'), [])
    t.match(await sessions.read('a', '0', 0), { events: [{ text: 'x' }] }, 'and its streams with it')
  })

  t.test('what changes in a session is kept while it is there', async t => {
    const box = await open(t)
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), false)
    t.equal(await box.store.sessions.load('s'), undefined, 'nothing comes to life by that')
    await box.store.sessions.save('s', RECORD, 'home', Date.now() + 1_000)
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), true)
    await box.pause()
    t.strictSame(await box.store.sessions.load('s'), FULL)
    t.strictSame(await box.store.sessions.listByNode('home'), ['s'], 'it lives where it did')
    await box.store.sessions.remove('s')
    t.equal(await box.store.sessions.update('s', CHANGE, TOMORROW), false)
  })

  t.test('a subscription comes and goes without the rest of its session', async t => {
    const box = await open(t)
    const wanted = async (...changes: Array<[uri: string, wanted: boolean]>) => await box.store.sessions.update('s', { subscriptions: new Map(changes) }, TOMORROW)
    await box.store.sessions.save('s', FULL, 'home', TOMORROW)
    t.equal(await wanted(['test://odd \ud800 \0', true], ['test://a', false], ['test://none', false]), true)
    await box.pause()
    t.strictSame((await box.store.sessions.load('s'))?.subscriptions.sort(), ['file:///ä b', 'test://odd \ud800 \0'])
    await wanted(['test://odd \ud800 \0', false], ['file:///ä b', true])
    t.strictSame(await box.store.sessions.load('s'), { ...FULL, subscriptions: ['file:///ä b'] })
    await box.store.sessions.remove('s')
    await box.store.sessions.save('s', RECORD, 'home', TOMORROW)
    t.strictSame((await box.store.sessions.load('s'))?.subscriptions, [], 'they go with the session')
  })

  t.test('a session that is there can be adopted, with its streams', async t => {
    const box = await open(t)
    t.equal(await box.store.sessions.adopt('s', 'two', TOMORROW), undefined)
    await box.store.sessions.save('s', FULL, 'one', Date.now() + 60_000)
    await box.store.sessions.append('s', '0', { text: 'x', method: 'm' }, false)
    await box.pause()
    t.strictSame(await box.store.sessions.adopt('s', 'two', TOMORROW), FULL)
    t.strictSame(await box.store.sessions.listByNode('one'), [])
    t.strictSame(await box.store.sessions.listByNode('two'), ['s'])
    t.equal(await box.store.sessions.append('s', '0', { text: 'y', method: 'm' }, false), 2)
    await box.store.sessions.touch(['s'], YESTERDAY)
    t.equal(await box.store.sessions.adopt('s', 'three', TOMORROW), undefined, 'one that has expired cannot')
    t.equal(await box.store.sessions.load('s'), undefined)
  })

  t.test('a session that is removed is gone with its streams', async t => {
    const box = await open(t)
    await box.store.sessions.save('a', RECORD, 'home', TOMORROW)
    await box.store.sessions.open('a', 'f00', 'last word')
    for (const stream of ['0', 'f00']) await box.store.sessions.append('a', stream, { text: 'x', method: 'm' }, false)
    await box.store.sessions.remove('a')
    await box.store.sessions.remove('a')
    await box.pause()
    const { sessions } = box.store
    t.equal(await sessions.load('a'), undefined)
    t.strictSame(await sessions.listByNode('home'), [])
    await sessions.finish('a')
    await sessions.save('a', RECORD, 'home', TOMORROW)
    t.same(await sessions.read('a', '0', 0), { after: 0, events: [], ended: false }, 'one of the same id has none of them')
    t.equal(await sessions.append('a', '0', { text: 'y', method: 'm' }, false), 1)
  })
}
