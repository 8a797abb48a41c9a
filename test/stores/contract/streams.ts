import type { Test } from 'tap'
import { STREAM_LIMITS, type SessionStore } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import type { Open } from '../contract.js'

const TEXTS = ['', '{"a":1}', 'ä😀', 'a\nb', "'", 'x'.repeat(100_000)]

export function streams (t: Test, open: Open): void {
  t.test('the events of a reply are numbered from 1 without gaps, in the order of the appends', async t => {
    const box = await session(t, open)
    const names = ['c', 'a', 'b']
    const numbers = await Promise.all(
      Array.from(
        { length: 600 },
        async (_, index) => await append(box.store.sessions, names[index % 3] as string, String(index))
      )
    )
    t.strictSame(numbers, Array.from({ length: 600 }, (_, index) => Math.floor(index / 3) + 1))
    await box.pause()
    const replay = await box.store.sessions.read('s', 'b', 0)
    t.strictSame(
      replay?.events.map(({ text }) => text),
      Array.from({ length: 200 }, (_, index) => String(index * 3 + 2))
    )
  })

  t.test('the events of the standalone stream have rising numbers, and each names the one before it', async t => {
    const box = await session(t, open)
    const numbers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => await append(box.store.sessions, '0', String(index)))
    )
    await box.pause()
    numbers.push(await append(box.store.sessions, '0', '200'))
    const { events = [] } = await box.store.sessions.read('s', '0', 0) ?? {}
    t.strictSame(events.map(({ number }) => number), numbers)
    t.strictSame(events.map(({ after }) => after), [0, ...numbers.slice(0, -1)])
    t.strictSame(numbers.toSorted((a = 0, b = 0) => a - b), numbers)
    t.strictSame(events.map(({ text }) => text), Array.from({ length: 201 }, (_, index) => String(index)))
  })

  t.test('what follows can be read after every event', async t => {
    const box = await session(t, open)
    for (const text of TEXTS) await append(box.store.sessions, 'a', text)
    await box.pause()
    const { sessions } = box.store
    const events = TEXTS.map((text, index) => ({ number: index + 1, after: index, text, method: `m${text.length}` }))
    for (let after = 0; after <= TEXTS.length; after++) {
      t.same(
        await sessions.read('s', 'a', after),
        { after, events: events.slice(after), ended: false },
        `after ${after}`
      )
    }
    t.equal(await sessions.read('s', 'a', TEXTS.length + 1), undefined)
    t.equal(await sessions.read('s', 'a', -1), undefined)
    t.equal(await sessions.read('s', 'other', 0), undefined)
    t.equal(await sessions.read('other', 'a', 0), undefined)
  })

  t.test('a reader that names no event gets what was not seen', async t => {
    const box = await session(t, open)
    const unseen = async () => {
      await box.pause()
      return (await box.store.sessions.read('s', '0', undefined))?.events.map(({ text }) => text)
    }
    const a = await append(box.store.sessions, '0', 'a') ?? 0
    const b = await append(box.store.sessions, '0', 'b') ?? 0
    t.strictSame(await unseen(), ['a', 'b'])
    t.strictSame(await unseen(), ['a', 'b'], 'reading is not seeing')
    await box.store.sessions.markSeen('s', '0', a)
    t.strictSame(await unseen(), ['b'])
    const c = await append(box.store.sessions, '0', 'c', true) ?? 0
    t.strictSame(await unseen(), [])
    const d = await append(box.store.sessions, '0', 'd')
    await box.store.sessions.markSeen('s', '0', b)
    t.strictSame(await unseen(), ['d'], 'what was seen stays seen')
    t.same(await box.store.sessions.read('s', '0', undefined), {
      after: c,
      events: [{ number: d, after: c, text: 'd', method: 'm1' }],
      ended: false
    })
  })

  t.test('streams of one name in two sessions are two', async t => {
    const { store: { sessions } } = await session(t, open)
    await sessions.save('s2', RECORD, TOMORROW)
    await append(sessions, 'a', 'one')
    t.match(await sessions.append('s2', 'a', { text: 'two', method: 'm' }, false), { number: 1 })
    t.match(await sessions.read('s2', 'a', 0), { events: [{ text: 'two' }] })
  })

  t.test('nothing is kept for a session that is not there', async t => {
    const { store: { sessions } } = await open(t)
    await sessions.open('s', 'a', 'last word')
    t.equal(await append(sessions, 'a', 'x'), undefined)
    await sessions.markSeen('s', 'a', 1)
    await sessions.end('s', 'a')
    await sessions.finish('s')
    await sessions.save('s', RECORD, TOMORROW)
    t.equal(await sessions.read('s', 'a', 0), undefined)
  })

  t.test('a stream that was begun has nothing yet and can be read', async t => {
    const box = await session(t, open)
    await box.store.sessions.open('s', 'a', 'last word')
    await box.pause()
    t.same(await box.store.sessions.read('s', 'a', 0), { after: 0, events: [], ended: false })
    t.same(await box.store.sessions.read('s', 'a', undefined), { after: 0, events: [], ended: false })
    t.equal(await box.store.sessions.read('s', 'a', 1), undefined)
  })

  t.test('the standalone stream can be read as soon as there is a session, before any event', async t => {
    const box = await session(t, open)
    const { sessions } = box.store
    t.same(await sessions.read('s', '0', 0), { after: 0, events: [], ended: false })
    t.same(await sessions.read('s', '0', undefined), { after: 0, events: [], ended: false })
    t.equal(await sessions.read('s', '0', 1), undefined)
    t.equal(await sessions.read('other', '0', 0), undefined)
    const number = await append(sessions, '0', 'x')
    t.match(await sessions.read('s', '0', 0), { after: 0, events: [{ number, text: 'x' }], ended: false })
  })

  t.test('replies without an answer get a last event and end, once; answered ones just end', async t => {
    const box = await session(t, open)
    for (const stream of ['c', 'a', 'd', 'b']) await box.store.sessions.open('s', stream, `last word of ${stream}`)
    await box.store.sessions.open('s', 'a', 'another')
    await append(box.store.sessions, '0', 'x')
    await append(box.store.sessions, 'a', 'x')
    await box.store.sessions.append('s', 'b', { text: 'answer', method: '' }, false)
    await box.store.sessions.end('s', 'd')
    for (let time = 0; time < 2; time++) {
      await box.pause()
      await box.store.sessions.finish('s')
    }
    if (box.restarts !== true) {
      return t.match(
        await box.store.sessions.read('s', 'a', 0),
        { events: [{ text: 'x' }], ended: false },
        'not while their writer lives'
      )
    }
    const texts = async (stream: string) =>
      (await box.store.sessions.read('s', stream, 0))?.events.map(({ text }) => text)
    t.strictSame(await Promise.all(['a', 'b', 'c', 'd', '0'].map(texts)), [
      ['x', 'last word of a'],
      ['answer'],
      ['last word of c'],
      [],
      ['x']
    ])
    for (const stream of ['a', 'b', 'c', 'd']) {
      t.match(await box.store.sessions.read('s', stream, 0), { ended: true }, stream)
    }
    t.match(await box.store.sessions.read('s', '0', 0), { ended: false }, 'what belongs to no call goes on')
  })

  t.test('a stream that has ended is marked as ended, and can still be read', async t => {
    const box = await session(t, open)
    await append(box.store.sessions, 'a', 'x')
    await box.store.sessions.end('s', 'a')
    await box.store.sessions.end('s', 'a')
    await box.pause()
    t.match(await box.store.sessions.read('s', 'a', 0), { events: [{ text: 'x' }], ended: true })
    t.match(await box.store.sessions.read('s', 'a', 1), { events: [], ended: true })
  })

  t.test(`the oldest events are given up beyond ${STREAM_LIMITS.events}`, async t => {
    const box = await session(t, open)
    const numbers = await Promise.all(
      Array.from(
        { length: STREAM_LIMITS.events + 200 },
        async (_, index) => await append(box.store.sessions, '0', String(index + 1))
      )
    )
    await box.pause()
    const { sessions } = box.store
    t.equal(await sessions.read('s', '0', numbers[198]), undefined)
    const { events = [] } = await sessions.read('s', '0', numbers[199]) ?? {}
    t.equal(events.length, STREAM_LIMITS.events)
    t.match(
      [events[0], events.at(-1)],
      [
        { number: numbers[200], text: '201' },
        { number: numbers[1_199], text: '1200' }
      ]
    )
    t.equal(
      (await sessions.read('s', '0', undefined))?.after,
      numbers[199],
      'what was never seen and is given up is passed over'
    )
    t.ok((await append(sessions, '0', 'more') ?? 0) > (numbers[1_199] ?? 0))
    t.equal(await sessions.read('s', '0', numbers[199]), undefined)
  })

  t.test(`the oldest events are given up beyond ${STREAM_LIMITS.text} characters`, async t => {
    const box = await session(t, open)
    const large = '😀'.repeat(150_000)
    const [first] = [await append(box.store.sessions, '0', large)]
    for (const text of [large, large, large, 'last']) await append(box.store.sessions, '0', text)
    await box.pause()
    t.equal(await box.store.sessions.read('s', '0', 0), undefined)
    t.strictSame(
      (await box.store.sessions.read('s', '0', first))?.events.map(({ text }) => text.length),
      [300_000, 300_000, 300_000, 4]
    )
  })

  t.test('one event larger than all that may be kept is kept until another comes', async t => {
    const box = await session(t, open)
    const small = await append(box.store.sessions, '0', 'small')
    const enormous = await append(box.store.sessions, '0', 'x'.repeat(2_000_000))
    await box.pause()
    t.equal(await box.store.sessions.read('s', '0', 0), undefined)
    t.strictSame((await box.store.sessions.read('s', '0', small))?.events.map(({ text }) => text.length), [2_000_000])
    const next = await append(box.store.sessions, '0', 'next')
    t.equal(await box.store.sessions.read('s', '0', small), undefined)
    t.match(await box.store.sessions.read('s', '0', enormous), { events: [{ number: next, text: 'next' }] })
  })
}

async function session (t: Test, open: Open) {
  const box = await open(t)
  await box.store.sessions.save('s', RECORD, TOMORROW)
  return box
}

async function append (
  sessions: SessionStore,
  stream: string,
  text: string,
  seen = false
): Promise<number | undefined> {
  const appended = await sessions.append('s', stream, { text, method: `m${text.length}` }, seen)
  return typeof appended === 'object' ? appended.number : undefined
}
