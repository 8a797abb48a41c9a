import type { Test } from 'tap'
import type { NodeMessage } from '../../../protocol/nodes/message.js'
import type { SessionStore, Store } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { until } from '../../support/wait.js'
import type { Open } from '../contract.js'

const event = (text: string, method = 'm') => ({ text, method })
const message = (number: number): NodeMessage => ({ kind: 'done', number, again: false })

/** What two nodes see of each other that share a store. */
export function nodes (t: Test, open: Open): void {
  t.test('a node knows which others live', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('a', RECORD, TOMORROW)
    await two.sessions.save('b', RECORD, TOMORROW)
    t.not(one.nodes.self, two.nodes.self)
    t.strictSame(await Promise.all([one, two].map(async ({ nodes }) => await two.nodes.isAlive(nodes.self ?? ''))), [
      true,
      true
    ])
    t.equal(await one.nodes.isAlive('0123456789ab'), false)
    await two.close()
    t.equal(await one.nodes.isAlive(two.nodes.self ?? ''), false)
  })

  t.test('a node that joins lives', async t => {
    const { one, two } = await pair(t, open)
    await one.nodes.join()
    t.equal(await two.nodes.isAlive(one.nodes.self ?? ''), true)
  })

  t.test('of many that swap one value at two nodes, one gets it', async t => {
    const { one, two } = await pair(t, open)
    await one.values.put('space', 'key', { round: 0 })
    for (let round = 0; round < 20; round++) {
      const swapped = await Promise.all(Array.from({ length: 10 }, async (_, index) =>
        await [one, two][index % 2]?.values.swap('space', 'key', { round }, { round: round + 1 })
      ))
      t.equal(swapped.filter(Boolean).length, 1)
    }
    t.strictSame(await two.values.get('space', 'key'), { round: 20 })
  })

  t.test('messages reach the node they are for, in order', async t => {
    const { one, two } = await pair(t, open)
    await two.sessions.save('b', RECORD, TOMORROW)
    await one.sessions.save('a', RECORD, TOMORROW)
    const received: Array<[message: NodeMessage, from: string]> = []
    two.nodes.onMessage((message, from) => { received.push([message, from]) })
    one.nodes.onMessage(() => t.fail('a node does not send to itself'))
    for (let number = 0; number < 20; number++) {
      t.equal(await one.nodes.send(two.nodes.self ?? '', message(number)), true)
    }
    await one.nodes.broadcast(message(20))
    t.equal(await one.nodes.send('0123456789ab', message(21)), false)
    await until(() => received.length >= 21, 'all messages')
    t.strictSame(received, Array.from({ length: 21 }, (_, number) => [message(number), one.nodes.self]))
  })

  t.test('the sessions of a principal are counted at all nodes', async t => {
    const { one, two } = await pair(t, open)
    const save = async ({ sessions }: Store, id: string) =>
      await sessions.save(id, { ...RECORD, principal: 'ada' }, TOMORROW, 3)
    const saved = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => await save(index % 2 === 0 ? one : two, `s${index}`))
    )
    t.equal(saved.filter(Boolean).length, 3)
    await two.sessions.remove(`s${saved.indexOf(true)}`)
    t.strictSame([await save(one, 'more'), await save(two, 'too many')], [true, false])
  })

  t.test('two nodes change one session, and hear of each other', async t => {
    const { one, two } = await pair(t, open)
    const heard = { one: [] as unknown[], two: [] as unknown[] }
    one.sessions.onChange(id => { heard.one.push(id) })
    two.sessions.onChange(id => { heard.two.push(id) })
    await one.sessions.save('s', RECORD, TOMORROW)
    t.match(await two.sessions.load('s'), { home: one.nodes.self })
    await Promise.all([
      one.sessions.update(
        's',
        { agreement: { logLevel: 'debug' }, subscriptions: new Map([['test://a', true]]) },
        TOMORROW
      ),
      two.sessions.update(
        's',
        { agreement: { capabilities: { roots: {} } }, subscriptions: new Map([['test://b', true]]) },
        TOMORROW
      )
    ])
    for (const { sessions } of [one, two]) {
      t.match((await sessions.load('s'))?.record, { logLevel: 'debug', capabilities: { roots: {} } })
      t.strictSame((await sessions.load('s'))?.record.subscriptions.sort(), ['test://a', 'test://b'])
    }
    await until(() => heard.one.includes('s') && heard.two.includes('s'), 'both changes')
    heard.one.length = 0
    await two.sessions.remove('s')
    await until(() => heard.one.includes('s'), 'the removal')
    t.equal(await one.sessions.load('s'), undefined)
    t.equal(await one.sessions.update('s', { subscriptions: new Map() }, TOMORROW), false)
  })

  t.test('a session that another node has used since is not removed as unused', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('s', RECORD, TOMORROW)
    await two.sessions.touch(['s'], TOMORROW + 60_000)
    await one.sessions.removeUnused('s', TOMORROW)
    t.ok(await one.sessions.load('s'))
    await two.sessions.removeUnused('s', TOMORROW + 60_000)
    t.equal(await one.sessions.load('s'), undefined)
  })

  t.test('each node writes its own replies in one session', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('s', RECORD, TOMORROW)
    await Promise.all([one.sessions.open('s', 'aa', 'interrupted'), two.sessions.open('s', 'bb', 'interrupted')])
    t.strictSame(await Promise.all([
      one.sessions.append('s', 'aa', event('1'), false), two.sessions.append('s', 'bb', event('1'), false),
      one.sessions.append('s', 'aa', event('2'), false), two.sessions.append('s', 'bb', event('2'), false)
    ]), [{ number: 1, after: 0 }, { number: 1, after: 0 }, { number: 2, after: 1 }, { number: 2, after: 1 }])
    t.equal(await two.sessions.append('s', 'aa', event('foreign'), false), 'elsewhere')
    await two.sessions.finish('s')
    t.match(await one.sessions.read('s', 'aa', 0), { events: [{ text: '1' }, { text: '2' }], ended: false })
  })

  t.test('events go to the node that has attached to a reply last', async t => {
    const { one, two } = await pair(t, open)
    const news = newsOf(two.sessions)
    const back = newsOf(one.sessions)
    await one.sessions.save('s', RECORD, TOMORROW)
    await one.sessions.open('s', 'aa', 'interrupted')
    await one.sessions.append('s', 'aa', event('1'), true)
    t.match(await two.sessions.attach('s', 'aa', 0), {
      after: 0,
      events: [{ number: 1, after: 0, text: '1' }],
      ended: false
    })
    t.strictSame([await one.sessions.isReader('s', 'aa'), await two.sessions.isReader('s', 'aa')], [false, true])
    await until(() => back.includes('s aa moved'), 'the reader before hears of it')
    t.equal(await one.sessions.append('s', 'aa', event('2'), true), 'elsewhere')
    await until(() => news.length > 0, 'the reader hears of the event')
    t.match(await two.sessions.read('s', 'aa', 1), { events: [{ number: 2, after: 1, text: '2' }], ended: false })
    t.match(await two.sessions.read('s', 'aa', undefined), { after: 1 }, 'it is not seen yet')
    const before = news.length
    await one.sessions.end('s', 'aa')
    await until(() => news.length > before, 'the reader hears of the end')
    t.match(await two.sessions.read('s', 'aa', 2), { events: [], ended: true })
    t.match(await one.sessions.attach('s', 'aa', 0), { events: [{ text: '1' }, { text: '2' }], ended: true })
  })

  t.test('all nodes write the standalone stream, and its reader is the home of the session', async t => {
    const { one, two } = await pair(t, open)
    const news = { one: newsOf(one.sessions), two: newsOf(two.sessions) }
    await one.sessions.save('s', RECORD, TOMORROW)
    const first = await one.sessions.append('s', '0', event('a'), false)
    t.equal(await two.sessions.append('s', '0', event('b'), true), 'elsewhere')
    await until(() => news.one.length > 0, 'the home hears of it')
    const replay = await one.sessions.read('s', '0', 0)
    t.match(replay?.events.map(({ text }) => text), ['a', 'b'])
    t.match(first, { number: replay?.events[0]?.number, after: 0 })
    t.equal(replay?.events[1]?.after, replay?.events[0]?.number, 'each names the one before it')
    t.match(await two.sessions.attach('s', '0', undefined), { events: [{ text: 'a' }, { text: 'b' }] })
    t.match(await one.sessions.load('s'), { home: two.nodes.self })
    await until(() => news.one.includes('s 0 moved'), 'the home before hears of it')
    t.equal(await one.sessions.append('s', '0', event('c'), false), 'elsewhere')
    await until(() => news.two.length > 0, 'the new home hears of what others write')
    t.match(await two.sessions.append('s', '0', event('d'), false), { number: Number })
    t.match((await two.sessions.read('s', '0', 0))?.events.map(({ text }) => text), ['a', 'b', 'c', 'd'])
  })

  t.test('an announcement of a node that is not the home is left to the home', async t => {
    const { one, two } = await pair(t, open)
    const changed = event('changed', 'notifications/tools/list_changed')
    await one.sessions.save('s', RECORD, TOMORROW)
    t.match(await one.sessions.append('s', '0', changed, false, { announces: true }), { number: Number })
    await two.sessions.attach('s', '0', undefined)
    t.equal(await one.sessions.append('s', '0', changed, false, { announces: true }), 'elsewhere')
    const { number } = await two.sessions.append('s', '0', changed, false, { announces: true }) as { number: number }
    t.match(await two.sessions.read('s', '0', number), { after: number, events: [] })
  })

  t.test('a message about a list that is no announcement reaches the client from every node', async t => {
    const { one, two } = await pair(t, open)
    const changed = event('changed', 'notifications/tools/list_changed')
    await one.sessions.save('s', RECORD, TOMORROW)
    t.equal(await two.sessions.append('s', '0', changed, false), 'elsewhere')
    t.match(await one.sessions.read('s', '0', 0), { events: [{ text: 'changed' }] })
  })

  t.test('a reply begins with its first event and ends with its last one', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('s', RECORD, TOMORROW)
    await one.sessions.append('s', 'aa', event('1'), false, { begins: 'interrupted aa' })
    await one.sessions.append('s', 'bb', event('1'), false, { begins: 'interrupted bb' })
    const news = newsOf(two.sessions)
    t.match(await two.sessions.attach('s', 'bb', 1), { events: [], ended: false })
    t.equal(await one.sessions.append('s', 'bb', event('answer', ''), false, { ends: true }), 'elsewhere')
    await until(() => news.length > 0, 'the reader hears of the end')
    t.match(await two.sessions.read('s', 'bb', 1), { events: [{ number: 2, after: 1, text: 'answer' }], ended: true })
    t.equal(await one.sessions.append('s', 'bb', event('late'), false), 'ended')
    await one.close()
    await two.sessions.finish('s')
    t.match(await two.sessions.read('s', 'aa', 0), { events: [{ text: '1' }, { text: 'interrupted aa' }], ended: true })
    t.equal((await two.sessions.read('s', 'bb', 0))?.events.length, 2)
  })

  t.test('the reader of a reply hears of it when another node finishes that', async t => {
    const { store: one, another } = await open(t)
    const [two, three] = [await another?.(), await another?.()]
    if (two === undefined || three === undefined) throw new Error('no other node can share this store')
    await one.sessions.save('s', RECORD, TOMORROW)
    await one.sessions.append('s', 'aa', event('1'), false, { begins: 'interrupted' })
    t.match(await two.sessions.attach('s', 'aa', 1), { events: [], ended: false })
    const news = newsOf(two.sessions)
    await one.close()
    t.strictSame(await three.sessions.finish('s'), [])
    await until(() => news.includes('s aa more'), 'the reader hears of the end')
    t.match(await two.sessions.read('s', 'aa', 1), { events: [{ text: 'interrupted', method: '' }], ended: true })
  })

  t.test('only the reader records what its client has seen', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('s', RECORD, TOMORROW)
    await one.sessions.append('s', 'aa', event('1'), false)
    await one.sessions.append('s', 'aa', event('2'), false)
    await two.sessions.markSeen('s', 'aa', 2)
    t.match(await one.sessions.read('s', 'aa', undefined), { after: 0 })
    await one.sessions.markSeen('s', 'aa', 1)
    t.match(await one.sessions.read('s', 'aa', undefined), { after: 1 })
  })

  t.test('what a node leaves when it dies is finished and taken over by another, once', async t => {
    const { one, two } = await pair(t, open)
    await one.sessions.save('s', RECORD, TOMORROW)
    for (const stream of ['aa', 'bb']) await one.sessions.open('s', stream, `interrupted ${stream}`)
    await one.sessions.append('s', 'aa', event('1'), false)
    await one.sessions.append('s', 'bb', event('answer', ''), false)
    const left = one.nodes.self
    t.strictSame(await two.sessions.finish('s'), [left])
    t.match(await two.sessions.read('s', 'aa', 0), { ended: false }, 'not while it lives')
    await one.close()
    for (let time = 0; time < 2; time++) await two.sessions.finish('s')
    t.match(await two.sessions.read('s', 'aa', 0), {
      events: [{ text: '1' }, { text: 'interrupted aa', method: '' }],
      ended: true
    })
    t.match(await two.sessions.read('s', 'bb', 0), { events: [{ text: 'answer' }], ended: true })
    t.equal(await two.sessions.moveHome('s', 'another'), false)
    t.equal(await two.sessions.moveHome('s', left), true)
    t.match(await two.sessions.load('s'), { home: two.nodes.self })
    t.match(await two.sessions.append('s', '0', event('x'), false), { number: Number })
  })
}

async function pair (t: Test, open: Open): Promise<{ one: Store, two: Store }> {
  const { store, another } = await open(t)
  if (another === undefined) throw new Error('no other node can share this store')
  return { one: store, two: await another() }
}

function newsOf (sessions: SessionStore): string[] {
  const heard: string[] = []
  sessions.onNews((id, stream, news) => { heard.push(`${id} ${stream} ${typeof news === 'string' ? news : 'more'}`) })
  return heard
}
