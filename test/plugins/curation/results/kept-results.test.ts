import t, { type Test } from 'tap'
import { KeptResults, type NewResult, type Reader } from '../../../../plugins/curation/results/kept-results.js'
import { memoryStore } from '../../../../stores/memory/store.js'
import { settable, stopTime } from '../../../support/clocks.js'
import { onDisk } from '../../../support/environment/on-disk.js'
import type { Store } from '../../../../protocol/store.js'

const LIMITS = { maxResultBytes: 4_000_000, maxAllResultBytes: 8_000_000 }
const ada: Reader = { identity: { principal: 'ada', scopes: new Set(['mcp']) }, view: undefined }
const bob: Reader = { identity: { principal: 'bob', scopes: 'all' }, view: undefined }
const anonymous: Reader = { identity: { principal: undefined, scopes: 'all' }, view: undefined }
const LONG = Array.from({ length: 60_000 }, (_, index) => `${index} größer 😀\n`).join('')

const result = (text: string, more: Partial<NewResult> = {}): NewResult =>
  ({ text, mimeType: 'text/plain', scopes: ['mcp'], part: 50_000, keep: 60_000, view: undefined, ...more })

async function idOf (kept: KeptResults, owner: string | undefined, given: NewResult): Promise<string> {
  const added = await kept.add(owner, given)
  if (typeof added === 'string') throw new Error(added)
  return added.id
}

const stores: Record<string, (t: Test) => Promise<Store>> = {
  memory: async () => memoryStore(),
  disk: async t => (await onDisk(t)).store
}

for (const [name, open] of Object.entries(stores)) {
  t.test(`${name}: parts of a result join to the whole, whatever their length`, async t => {
    const kept = new KeptResults(await open(t), LIMITS)
    t.teardown(() => kept.close())
    const id = await idOf(kept, 'ada', result(LONG, { keep: 3_600_000 }))
    t.equal((await kept.read(id, ada, { isWhole: true }))?.text, LONG)
    for (const length of [9_973, 50_000, 262_144, 300_001]) {
      const parts: string[] = []
      for (let offset = 0; offset < LONG.length; offset += length) {
        const part = await kept.read(id, ada, { offset, length })
        t.notMatch(part?.text ?? '\ud800', /\p{Surrogate}/u)
        parts.push(part?.text ?? '')
      }
      t.equal(parts.join(''), LONG, `parts of ${length}`)
    }
    const parts: string[] = []
    for (let offset = 0; offset < LONG.length;) {
      const part = await kept.read(id, ada, { offset })
      parts.push(part?.text ?? '')
      offset = part?.to ?? Infinity
    }
    t.equal(parts.join(''), LONG, 'from the end of one to the next')
    t.match(await kept.read(id, ada, { offset: LONG.length + 5, length: 1 }), { text: '', total: LONG.length })
  })

  t.test(`${name}: only the owner of a result finds it, with the scopes of the tool`, async t => {
    const kept = new KeptResults(await open(t), LIMITS)
    t.teardown(() => kept.close())
    const id = await idOf(kept, 'ada', result('hers', { scopes: ['notes'] }))
    const shared = await idOf(kept, undefined, result('shared'))
    const reads = async (reader: Reader, which = id): Promise<string | undefined> =>
      (await kept.read(which, reader, {}))?.text
    t.equal(await reads({ ...ada, identity: { principal: 'ada', scopes: new Set(['notes']) } }), 'hers')
    t.equal(await reads(ada), undefined, 'without the scope')
    t.equal(await reads(bob), undefined)
    t.equal(await reads(anonymous), undefined)
    t.equal(await reads({ identity: { principal: '', scopes: 'all' }, view: undefined }), undefined)
    t.equal(await reads(anonymous, shared), 'shared')
    t.equal(await reads(bob, shared), undefined)
    const inside = await idOf(kept, 'ada', result('inside', { view: 'one' }))
    t.equal(await reads({ ...ada, view: 'one' }, inside), 'inside')
    t.equal(await reads(ada, inside), 'inside', 'outside of all views')
    t.equal(await reads({ ...ada, view: 'other' }, inside), undefined)
    t.equal(await reads({ ...ada, view: 'one' }, shared), undefined)
    for (const odd of ['', id.slice(1), `${id}/000000`, '../x', '__proto__']) {
      t.equal(await reads(ada, odd), undefined, odd)
    }
  })

  t.test(`${name}: a result is gone when its time is over, and its bytes are free again`, async t => {
    const kept = new KeptResults(await open(t), { maxResultBytes: 1_000, maxAllResultBytes: 1_500 })
    t.teardown(() => kept.close())
    const clock = settable(t)
    const id = await idOf(kept, 'ada', result('x'.repeat(900)))
    t.match(
      await kept.add('ada', result('x'.repeat(200))),
      /what is kept for this caller would have more than 1000 bytes \(limit maxResultBytes\)/
    )
    t.match(
      await kept.add('bob', result('x'.repeat(700))),
      /all callers would have more than 1500 bytes \(limit maxAllResultBytes\)/
    )
    t.match(await kept.add('bob', result('x'.repeat(1_001))), /it has 1001 bytes, and at most 1000 are kept/)
    t.match(
      await kept.add('bob', result('\u0001'.repeat(200))),
      /it has 1200 bytes, and at most 1000 are kept/,
      'as the store has it'
    )
    t.match(await kept.add('bob', result('x'.repeat(600))), { bytes: 600 }, 'what was refused does not count')
    clock.later = 60_001
    t.equal(await kept.read(id, ada, {}), undefined)
    clock.later = 65_000
    t.match(await kept.add('ada', result('x'.repeat(1_000))), { bytes: 1_000 })
  })
}

t.test('another process on the same file, and one that starts later, serve the result', async t => {
  const subject = await onDisk(t, true)
  const id = await idOf(new KeptResults(subject.store, LIMITS), 'ada', result(LONG))
  const other = await subject.another?.()
  t.equal(other && (await new KeptResults(other, LIMITS).read(id, ada, { isWhole: true }))?.text, LONG)
  await subject.pause()
  t.equal((await new KeptResults(subject.store, LIMITS).read(id, ada, { isWhole: true }))?.text, LONG)
})

t.test('a store that fails keeps nothing, and counts nothing', async t => {
  const store = memoryStore()
  const kept = new KeptResults(store, { maxResultBytes: 1_000, maxAllResultBytes: 1_000 })
  t.teardown(() => kept.close())
  const { put } = store.values
  let fails = true
  t.intercept(store.values, 'put', {
    value: async (...given: Parameters<typeof put>) => {
      if (fails && given[0] === 'results') throw new Error('disk full')
      await put.apply(store.values, given)
    }
  })
  await t.rejects(kept.add('ada', result('x'.repeat(900))), /disk full/)
  fails = false
  t.match(await kept.add('ada', result('x'.repeat(900))), { bytes: 900 })
})

t.test('memory of results that have expired is freed without another call', async t => {
  const store = memoryStore()
  const time = stopTime(t)
  const kept = new KeptResults(store, LIMITS)
  t.teardown(() => kept.close())
  const deleted: string[] = []
  store.values.onChange((space, key) => { if (space === 'results') deleted.push(key) })
  await idOf(kept, 'ada', result(LONG, { keep: 1_000 }))
  const written = deleted.splice(0)
  const { delete: remove } = store.values
  t.intercept(store.values, 'delete', {
    value: async (space: string, key: string) => {
      deleted.push(key)
      return await remove.call(store.values, space, key)
    }
  })
  await time.pass(1_500, 100)
  t.strictSame(deleted.sort(), written.sort())
})
