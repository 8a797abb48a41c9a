import t from 'tap'
import { Collection } from '../../protocol/definitions/collection.js'
import { Listeners, callEach } from '../../lib/listeners.js'
import { Peer } from '../../protocol/peer/peer.js'

const broken = () => { throw new Error('broken') }

t.test('each listener is called, in order, whatever the others do', async t => {
  const reported: unknown[] = []
  const heard: string[] = []
  const listeners = new Listeners<[what: string]>(error => { reported.push(error) })
  listeners.add(broken)
  listeners.add(what => { heard.push(`a ${what}`) })
  listeners.add(async () => { throw new Error('later') })
  listeners.add(what => { heard.push(`b ${what}`) })
  listeners.notify('x')
  listeners.notify('y')
  t.strictSame(heard, ['a x', 'b x', 'a y', 'b y'])
  await new Promise(resolve => setImmediate(resolve))
  t.match(reported, [{ message: 'broken' }, { message: 'later' }], 'each failure is reported once')
  t.equal(reported.length, 2)
})

t.test('a listener is removed once, and only itself', async t => {
  const heard: number[] = []
  const listeners = new Listeners<[n: number]>()
  const listen = (n: number) => { heard.push(n) }
  const [remove] = [listeners.add(listen), listeners.add(listen)]
  remove()
  remove()
  listeners.notify(1)
  t.strictSame(heard, [1])
  listeners.clear()
  listeners.notify(2)
  t.strictSame(heard, [1])
})

t.test('listeners may be added and removed while they are called', async t => {
  const heard: string[] = []
  const listeners = new Listeners<[]>()
  const remove = listeners.add(() => { heard.push('a'); remove(); listeners.add(() => { heard.push('c') }) })
  listeners.add(() => { heard.push('b') })
  listeners.notify()
  t.strictSame(heard, ['a', 'b'])
  listeners.notify()
  t.strictSame(heard, ['a', 'b', 'b', 'c'])
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
  const heard: string[] = []
  const peer = new Peer()
  for (const how of ['onDrain', 'onClose'] as const) {
    peer[how](broken)
    peer[how](() => { heard.push(how) })
  }
  await peer.drain(0, error => { reported.push(error) })
  peer.close(new Error('gone'), error => { reported.push(error) })
  t.strictSame(heard, ['onDrain', 'onClose'])
  t.match(reported, [{ message: 'broken' }, { message: 'broken' }])
  t.ok(peer.closed)
})

t.test('tellEach reports and goes on', async t => {
  let told = 0
  const reported: unknown[] = []
  callEach([broken, () => { told++ }], error => { reported.push(error) })
  t.strictSame([told, reported.length], [1, 1])
})
