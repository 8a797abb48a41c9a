import t from 'tap'
import { InFlight, type InFlightCall } from '../../../protocol/peer/in-flight.js'
import type { Id } from '../../../protocol/wire/jsonrpc.js'

/** Of a call only its id is looked at. */
const call = (id: Id): InFlightCall => ({ id }) as InFlightCall

/** Calls in flight, and a map to compare them with. */
function both (...ids: Id[]) {
  const calls = new InFlight()
  const known = new Map<Id, InFlightCall>()
  const pair = {
    calls,
    known,
    add: (id: Id): InFlightCall => {
      const added = call(id)
      calls.add(added)
      known.set(id, added)
      return added
    },
    remove: (id: Id): void => {
      calls.remove(known.get(id) as InFlightCall)
      known.delete(id)
    },
    /** The first difference, if there is any. */
    difference: (): string | undefined => {
      if (calls.size !== known.size) return `${calls.size} instead of ${known.size}`
      const all = calls.all()
      if (all.length !== known.size || new Set(all).size !== known.size) {
        return `all gives ${all.length} of ${known.size}`
      }
      for (const [id, expected] of known) {
        if (calls.get(id) !== expected || !calls.has(id)) return `${typeof id} ${id} is not found`
      }
      return all.some(found => known.get(found.id) !== found) ? 'one is over and still there' : undefined
    }
  }
  for (const id of ids) pair.add(id)
  return pair
}

t.test('where there is none there is nothing to find', async t => {
  const calls = new InFlight()
  t.equal(calls.size, 0)
  t.strictSame(calls.all(), [])
  t.notOk(calls.has(1))
  t.equal(calls.get(1), undefined)
  calls.remove(call(1))
  t.equal(calls.size, 0)
})

for (const count of [1, 2, 3, 5]) {
  t.test(`of ${count} each is found, and each can be the first to end`, async t => {
    const ids = Array.from({ length: count }, (_, index) => index)
    for (const first of ids) {
      const { calls, difference, remove } = both(...ids)
      t.equal(difference(), undefined)
      remove(first)
      t.equal(difference(), undefined, `without ${first}`)
      t.notOk(calls.has(first))
      t.equal(calls.get(first), undefined)
      for (const id of ids.toReversed()) if (id !== first) remove(id)
      t.equal(calls.size, 0)
      t.strictSame(calls.all(), [])
    }
  })
}

t.test('an id can be used again when its call is over, whatever else goes on', async t => {
  const { calls, add, remove, difference } = both('stays', 1, 2)
  for (const id of ['stays', 1, 2, 'stays', 1]) {
    const before = calls.get(id)
    remove(id)
    t.notOk(calls.has(id))
    const again = add(id)
    t.ok(again !== before && calls.get(id) === again)
    t.equal(difference(), undefined)
  }
})

t.test('a number and the text that looks like it are different ids', async t => {
  for (const ids of [[1, '1'], ['1', 1], ['other', 1, '1'], ['other', '1', 1]]) {
    const { calls, known, difference, remove } = both(...ids)
    t.equal(difference(), undefined)
    remove(1)
    t.notOk(calls.has(1))
    t.equal(calls.get('1'), known.get('1'))
  }
  const alone = both('1').calls
  t.notOk(alone.has(1))
  t.ok(alone.has('1'))
})

t.test('removing a call that was refused does not remove another with its id', async t => {
  const { calls, known, difference } = both('first', 'second', 'third')
  for (const id of known.keys()) calls.remove(call(id))
  calls.remove(call('nobody'))
  t.equal(difference(), undefined)
  const first = known.get('first') as InFlightCall
  calls.remove(first)
  calls.remove(first)
  t.equal(calls.size, 2)
})

t.test('a call that is over twice does not take away the one that has its id now', async t => {
  for (const others of [[], ['other'], ['other', 'another']]) {
    const { calls, known, add, remove } = both(...others, 'mine')
    const old = known.get('mine') as InFlightCall
    remove('mine')
    const now = add('mine')
    calls.remove(old)
    t.equal(calls.get('mine'), now)
    t.equal(calls.size, others.length + 1)
  }
})

t.test('a call is found while thousands come and go', async t => {
  for (const staying of [0, 1, 2, 63, 64, 65, 500]) {
    const { calls, add, remove, difference } = both()
    const every = Math.max(1, Math.floor(5_000 / Math.max(1, staying)))
    let stay = 0
    for (let id = 0; id < 5_000; id++) {
      add(id)
      if (id % every === 0 && stay < staying) { add(`stays ${stay}`); stay++ }
      // A window of calls that overtake each other.
      if (id >= 10) remove(id % 2 === 0 ? id - 9 : id - 11)
      if (id % 499 === 0 && difference() !== undefined) break
    }
    t.equal(difference(), undefined)
    t.equal(calls.size, staying + 10, `${staying} stay`)
  }
})

t.test('thousands of calls can begin, end and begin again', async t => {
  const { calls, add, remove, difference } = both()
  for (let round = 0; round < 3; round++) {
    for (let id = 0; id < 3_000; id++) add(id)
    t.equal(difference(), undefined)
    for (let id = 0; id < 3_000; id += 2) remove(id)
    t.equal(difference(), undefined)
    for (let id = 2_999; id > 0; id -= 2) remove(id)
    t.equal(calls.size, 0)
    t.equal(difference(), undefined)
  }
})

t.test('no call is lost or left over when calls begin and end in any order', async t => {
  const { known, add, remove, difference } = both()
  let state = 12_345
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  let different: string | undefined
  for (let step = 0; step < 30_000 && different === undefined; step++) {
    const id: Id = random(2) === 0 ? random(150) : String(random(150))
    if (known.has(id)) remove(id)
    else add(id)
    if (step % 97 === 0) different = difference()
  }
  t.equal(different, undefined)
  t.ok(known.size > 0, `${known.size} left`)
})

t.test('all() gives the calls of that moment, though they end and others begin during the iteration', async t => {
  const { calls, add } = both('a', 'b', 'c', 'd')
  const seen: Id[] = []
  for (const one of calls.all()) {
    seen.push(one.id)
    for (const other of calls.all()) calls.remove(other)
    add(`after ${String(one.id)}`)
  }
  t.strictSame(seen.sort(), ['a', 'b', 'c', 'd'])
  t.strictSame(calls.all().map(({ id }) => id), ['after d'])
})
