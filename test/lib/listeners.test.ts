import t from 'tap'
import { Collection } from '../../protocol/definitions/collection.js'
import { Listeners, callEach } from '../../lib/listeners.js'
import { Peer } from '../../protocol/peer/peer.js'

const broken = () => { throw new Error('broken') }

t.test('each listener is called, in order, whatever the others do', async t => {
  const reported: unknown[] = []
  const received: string[] = []
  const listeners = new Listeners<[what: string]>(error => { reported.push(error) })
  listeners.add(broken)
  listeners.add(what => { received.push(`a ${what}`) })
  listeners.add(async () => { throw new Error('later') })
  listeners.add(what => { received.push(`b ${what}`) })
  listeners.notify('x')
  listeners.notify('y')
  t.strictSame(received, ['a x', 'b x', 'a y', 'b y'])
  await new Promise(resolve => setImmediate(resolve))
  t.match(reported, [{ message: 'broken' }, { message: 'later' }], 'each failure is reported once')
  t.equal(reported.length, 2)
})

t.test('a listener is removed once, and only itself', async t => {
  const received: number[] = []
  const listeners = new Listeners<[n: number]>()
  const listen = (n: number) => { received.push(n) }
  const [remove] = [listeners.add(listen), listeners.add(listen)]
  remove()
  remove()
  listeners.notify(1)
  t.strictSame(received, [1])
  listeners.clear()
  listeners.notify(2)
  t.strictSame(received, [1])
})

t.test('listeners may be added and removed while they are called', async t => {
  const received: string[] = []
  const listeners = new Listeners<[]>()
  const remove = listeners.add(() => { received.push('a'); remove(); listeners.add(() => { received.push('c') }) })
  listeners.add(() => { received.push('b') })
  listeners.notify()
  t.strictSame(received, ['a', 'b'])
  listeners.notify()
  t.strictSame(received, ['a', 'b', 'b', 'c'])
})

t.test('all listeners of a collection are called for a change, and what was added is in it', async t => {
  const reported: unknown[] = []
  let changes = 0
  const collection = new Collection<number>('number', error => { reported.push(error) })
  collection.onChange(broken)
  const off = collection.onChange(() => { changes++ })
  collection.add('one', 1)
  off()
  collection.add('two', 2)
  t.strictSame([changes, collection.keys(), reported.length], [1, ['one', 'two'], 1])
})

t.test('all listeners are called when a peer ends', async t => {
  const reported: unknown[] = []
  const received: string[] = []
  const peer = new Peer()
  for (const how of ['onDrain', 'onClose'] as const) {
    peer[how](broken)
    peer[how](() => { received.push(how) })
  }
  await peer.drain(0, error => { reported.push(error) })
  peer.close(new Error('gone'), error => { reported.push(error) })
  t.strictSame(received, ['onDrain', 'onClose'])
  t.match(reported, [{ message: 'broken' }, { message: 'broken' }])
  t.ok(peer.closed)
})

t.test('callEach reports an error and calls the next listener', async t => {
  let calls = 0
  const reported: unknown[] = []
  callEach([broken, () => { calls++ }], error => { reported.push(error) })
  t.strictSame([calls, reported.length], [1, 1])
})
