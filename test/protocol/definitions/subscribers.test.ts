import t from 'tap'
import { WatchCount } from '../../../protocol/definitions/subscriptions/watch-count.js'
import { Peer } from '../../../protocol/peer/peer.js'
import { Subscribers } from '../../../protocol/definitions/subscriptions/subscribers.js'

interface Starting { start: (stop?: (() => void) | null) => void, fail: (why: Error) => void }

/** Subscribers of URIs whose watches start, or fail, when the test decides. */
function setUp () {
  const starting: Starting[] = []
  const counts = { begun: 0, stopped: 0 }
  const subscribers = new Subscribers(new WatchCount(async () => await new Promise((resolve, reject) => {
    counts.begun++
    starting.push({ start: (stop = () => { counts.stopped++ }) => resolve(stop ?? undefined), fail: reject })
  })))
  const next = (): Starting => starting.shift() as Starting
  return { subscribers, next, counts, of: (uri = 'a') => [...subscribers.of(uri)] }
}

const settled = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))
const gone = new Error('gone')

t.test('a peer is a subscriber until it is taken back', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  next().start()
  t.equal(await added, true)
  t.strictSame([of(), of('b')], [[peer], []])
  t.ok(peer.subscriptions.has('a') && peer.hasUnsavedChanges)
  t.strictSame([...peer.takeChanges()], [['a', true]])
  subscribers.remove('a', peer)
  t.strictSame(of(), [])
  t.ok(!peer.subscriptions.has('a') && peer.hasUnsavedChanges)
  await settled()
  t.strictSame(counts, { begun: 1, stopped: 1 })
})

t.test('twice is once, and what is not there can be taken back', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  subscribers.remove('a', peer)
  const added = subscribers.add('a', peer)
  next().start()
  await added
  t.equal(await subscribers.add('a', peer), true)
  t.equal(of().length, 1)
  subscribers.remove('a', peer)
  subscribers.remove('a', peer)
  await settled()
  t.strictSame(counts, { begun: 1, stopped: 1 })
})

t.test('two peers share a watch, and the last one ends it', async t => {
  const { subscribers, next, of, counts } = setUp()
  const [one, two] = [new Peer(), new Peer()]
  const added = [subscribers.add('a', one), subscribers.add('a', two)]
  next().start()
  t.strictSame(await Promise.all(added), [true, true])
  subscribers.remove('a', one)
  await settled()
  t.strictSame([of(), counts], [[two], { begun: 1, stopped: 0 }])
  two.close(gone)
  await settled()
  t.strictSame([of(), counts], [[], { begun: 1, stopped: 1 }])
})

t.test('a URI that cannot be watched has no subscribers', async t => {
  const { subscribers, next, of } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  next().start(null)
  t.equal(await added, false)
  t.strictSame([of(), peer.subscriptions.size], [[], 0])
})

t.test('two requests for what turns out not to exist get two errors', async t => {
  const { subscribers, next, of } = setUp()
  const peer = new Peer()
  const added = [subscribers.add('a', peer), subscribers.add('a', peer)]
  next().start(null)
  t.strictSame(await Promise.all(added), [false, false])
  t.strictSame(of(), [])
})

t.test('a watch that fails rejects with its error, and leaves no subscriber', async t => {
  const { subscribers, next, of } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  next().fail(new Error('too many files'))
  await t.rejects(added, { message: 'too many files' })
  t.strictSame([of(), peer.subscriptions.size], [[], 0])
  const again = subscribers.add('a', peer)
  next().start()
  t.equal(await again, true)
})

t.test('a peer that is taken back while the watch starts is no subscriber, and the watch ends', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  subscribers.remove('a', peer)
  next().start()
  await added
  await settled()
  t.strictSame([of(), peer.subscriptions.size, counts], [[], 0, { begun: 1, stopped: 1 }])
})

t.test('a peer that is taken back and comes again while the watch starts is a subscriber once', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  const first = subscribers.add('a', peer)
  subscribers.remove('a', peer)
  const second = subscribers.add('a', peer)
  for (let watch = next(); watch !== undefined; watch = next()) watch.start()
  await Promise.all([first, second])
  t.strictSame(of(), [peer])
  t.ok(peer.subscriptions.has('a'))
  await settled()
  t.equal(counts.begun - counts.stopped, 1, 'one watch is left')
  subscribers.remove('a', peer)
  await settled()
  t.equal(counts.begun - counts.stopped, 0)
})

t.test('a peer that ends while the watch starts is no subscriber, and the watch ends', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  peer.close(gone)
  t.strictSame(of(), [])
  next().start()
  await added
  await settled()
  t.strictSame([of(), counts], [[], { begun: 1, stopped: 1 }])
})

t.test('a peer that ends while a watch starts that fails leaves nothing behind', async t => {
  const { subscribers, next, of } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  peer.close(gone)
  next().fail(new Error('late'))
  await t.rejects(added, { message: 'late' })
  t.strictSame(of(), [])
})

t.test('a peer that has ended before is no subscriber, and nothing is watched for it', async t => {
  const { subscribers, next, of, counts } = setUp()
  const peer = new Peer()
  peer.close(gone)
  const added = subscribers.add('a', peer)
  next()?.start()
  await added
  await settled()
  t.strictSame(of(), [])
  t.equal(counts.begun, counts.stopped)
})

t.test('the session remembers the subscriptions that its peer had at its end', async t => {
  const { subscribers, next } = setUp()
  const peer = new Peer()
  const added = subscribers.add('a', peer)
  next().start()
  await added
  peer.dirty = false
  peer.close(gone)
  t.strictSame([[...peer.subscriptions], peer.dirty], [['a'], false])
})

t.test('a subscriber that ends does not end another, in either order', async t => {
  for (const order of [[0, 1], [1, 0]] as const) {
    const { subscribers, next, of, counts } = setUp()
    const peers = [new Peer(), new Peer()] as const
    const added = peers.map(async peer => await subscribers.add('a', peer))
    peers[order[0]].close(gone)
    next().start()
    await Promise.all(added)
    await settled()
    t.strictSame([of(), counts], [[peers[order[1]]], { begun: 1, stopped: 0 }])
    peers[order[1]].close(gone)
    await settled()
    t.strictSame([of(), counts], [[], { begun: 1, stopped: 1 }])
  }
})
