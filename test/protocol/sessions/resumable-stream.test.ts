import { mock } from 'node:test'
import t from 'tap'
import { ResumableStream } from '../../../protocol/sessions/streams/resumable-stream.js'
import type { StreamEvent } from '../../../protocol/sessions/streams/sink.js'
import type { Sink, StreamLog } from '../../../protocol/sessions/streams/sink.js'
import { memoryLog } from '../../support/stream-log.js'

class Listener implements Sink {
  readonly events: StreamEvent[] = []
  ended = false
  write (event: StreamEvent): void { this.events.push(event) }
  end (): void { this.ended = true }
  close (): void { this.end() }
  get texts (): string[] { return this.events.map(({ text }) => text) }
  get ids (): Array<string | undefined> { return this.events.map(({ id }) => id) }
}

function stream (texts: string[], primed = false, log = memoryLog('7')): ResumableStream {
  const made = new ResumableStream('7', log, { primed })
  for (const text of texts) made.emit(text, 'm')
  return made
}

/** A client that has been sent what was there. */
async function listen (to: ResumableStream, after?: number): Promise<Listener> {
  const listener = new Listener()
  to.attach(listener, after)
  await to.flush()
  return listener
}

async function reaches (log: StreamLog, place: number): Promise<boolean> {
  return await log.read(place) !== undefined
}

t.test('events sent without a connection wait for one', async t => {
  t.strictSame((await listen(stream(['a', 'b', 'c']))).texts, ['a', 'b', 'c'])
})

t.test('a client that listens gets each event as it comes, with the place to resume after it', async t => {
  const source = stream([])
  const listener = await listen(source)
  source.emit('a', 'notifications/progress')
  source.respond('b')
  await source.flush()
  t.match(listener.events, [{ id: '7-1', text: 'a', method: 'notifications/progress' }, { id: '7-2', text: 'b' }])
})

t.test('a client that names its last event gets what followed, once and in order', async t => {
  const texts = Array.from({ length: 20 }, (_, index) => `event ${index + 1}`)
  for (let last = 0; last <= texts.length; last++) {
    t.strictSame((await listen(stream(texts), last)).texts, texts.slice(last))
  }
})

t.test('a client that comes back again and again gets everything once', async t => {
  const source = stream([])
  const seen: string[] = []
  for (let round = 0; round < 10; round++) {
    const listener = await listen(source, seen.length)
    source.emit(`while listening ${round}`, 'm')
    await source.flush()
    source.detach(listener)
    source.emit(`while away ${round}`, 'm')
    seen.push(...listener.texts)
  }
  seen.push(...(await listen(source, seen.length)).texts)
  t.strictSame(
    seen,
    Array.from({ length: 10 }, (_, round) => [`while listening ${round}`, `while away ${round}`]).flat()
  )
})

t.test('a client that names no event gets what was not delivered yet', async t => {
  const source = stream(['a'])
  const first = await listen(source)
  source.detach(first)
  source.emit('b', 'm')
  t.strictSame((await listen(source)).texts, ['b'])
})

t.test('an older client that goes does not take the newer one along', async t => {
  const source = stream([])
  const [older, newer] = [new Listener(), new Listener()]
  source.attach(older)
  source.attach(newer)
  source.detach(older)
  source.emit('a', 'm')
  await source.flush()
  t.strictSame(newer.texts, ['a'])
  t.strictSame(older.texts, [])
  t.equal(source.connected, true)
})

t.test('each event goes to the newest connection, and the older ones stay open and silent', async t => {
  const source = stream([])
  const [first, second, third] = [await listen(source), await listen(source), await listen(source)]
  for (let number = 1; number <= 3; number++) source.emit(`event ${number}`, 'm')
  await source.flush()
  t.strictSame([first, second, third].map(({ texts }) => texts), [[], [], ['event 1', 'event 2', 'event 3']])
  t.strictSame([first, second, third].map(({ ended }) => ended), [false, false, false])
})

t.test('a client that returns with its last event gets what was written to the connection it has lost', async t => {
  const source = stream([])
  const lost = await listen(source)
  for (const text of ['a', 'b', 'c']) source.emit(text, 'm')
  await source.flush()
  t.strictSame(lost.texts, ['a', 'b', 'c'])
  const back = await listen(source, 1)
  source.emit('d', 'm')
  await source.flush()
  t.strictSame(back.texts, ['b', 'c', 'd'])
  t.strictSame(lost.texts, ['a', 'b', 'c'])
})

t.test('an event that is sent while a newer connection is being opened goes to that one, once', async t => {
  for (const after of [undefined, 1]) {
    const source = stream([])
    const older = await listen(source)
    source.emit('a', 'm')
    await source.flush()
    const newer = new Listener()
    source.attach(newer, after)
    source.emit('b', 'm')
    source.emit('c', 'm')
    await source.flush()
    t.strictSame([older.texts, newer.texts], [['a'], ['b', 'c']])
  }
})

t.test('beyond four connections the oldest is closed', async t => {
  const source = stream([])
  const listeners = []
  for (let count = 0; count < 6; count++) listeners.push(await listen(source))
  t.strictSame(listeners.map(({ ended }) => ended), [true, true, false, false, false, false])
})

t.test('when the newest connection goes, the one before gets the events, which do not count as seen', async t => {
  const source = stream([])
  const [older, newer] = [await listen(source), await listen(source)]
  source.emit('a', 'm')
  await source.flush()
  source.detach(newer)
  t.strictSame([source.connected, source.attended], [true, false])
  source.emit('b', 'm')
  await source.flush()
  t.strictSame([older.texts, newer.texts], [['b'], ['a']])
  const fresh = await listen(source)
  t.strictSame(
    fresh.texts,
    ['b'],
    'a client that does not say what it saw gets it, because the older connection may have been dead'
  )
  t.equal(source.attended, true)
  t.strictSame((await listen(source, 2)).texts, [], 'one that says so does not')
})

t.test('an older connection that goes before the newer one is served takes nothing with it', async t => {
  const source = stream([])
  const older = await listen(source)
  const newer = new Listener()
  source.attach(newer, 0)
  source.detach(older)
  source.emit('a', 'm')
  await source.flush()
  t.strictSame(newer.texts, ['a'])
})

t.test('a newer connection that goes before it is served leaves the older one as it was', async t => {
  const source = stream([])
  const older = await listen(source)
  const newer = new Listener()
  source.attach(newer)
  source.emit('a', 'm')
  source.detach(newer)
  source.emit('b', 'm')
  await source.flush()
  t.strictSame([older.texts, newer.texts], [['a', 'b'], []])
})

t.test('the end of a stream, a release and a hang-up end every connection', async t => {
  for (const leave of [
    (source: ResumableStream) => source.end(),
    (source: ResumableStream) => source.release(250),
    (source: ResumableStream) => source.disconnect()
  ]) {
    const source = stream(['a'], true)
    const listeners = [await listen(source), await listen(source), await listen(source)]
    leave(source)
    await source.flush()
    t.strictSame(
      listeners.map(({ ended }) => ended),
      [true, true, true]
    )
    t.equal(source.connected, false)
  }
})

t.test('two that come for the rest of an ended stream both get it', async t => {
  const source = stream(['a', 'b'])
  source.end()
  const [one, other] = [new Listener(), new Listener()]
  source.attach(one, 0)
  source.attach(other, 1)
  await source.flush()
  t.strictSame([one.texts, other.texts, one.ended, other.ended], [['a', 'b'], ['b'], true, true])
})

t.test('a primed stream opens with an event to resume from, and without data', async t => {
  t.strictSame((await listen(stream([], true))).events, [{ id: '7-0', text: '', retry: 1000 }])
  t.strictSame((await listen(stream(['a', 'b'], true), 1)).ids, ['7-1', '7-2'])
})

t.test('a released stream sends retry, closes, and can be resumed', async t => {
  const source = stream(['a'], true)
  const listener = await listen(source)
  source.release(250)
  await source.flush()
  t.match(listener.events.at(-1), { text: '', retry: 250 })
  t.equal(listener.ended, true)
  t.equal(source.connected, false)
  source.respond('the answer')
  source.end()
  const back = await listen(source, 1)
  t.strictSame(back.texts, ['', 'the answer'])
  t.equal(back.ended, true)
})

t.test('an ended stream takes nothing more, and closes after its rest was read', async t => {
  const source = stream(['a', 'b'])
  const listener = await listen(source)
  source.end()
  await source.flush()
  t.equal(listener.ended, true)
  source.emit('late', 'm')
  await source.flush()
  t.strictSame(listener.texts, ['a', 'b'])
  const back = await listen(source, 1)
  t.strictSame(back.texts, ['b'])
  t.equal(back.ended, true)
  t.equal(source.connected, false)
})

t.test('a place is reached while everything after it is still here', async t => {
  const log = memoryLog('7')
  await stream(['a', 'b'], false, log).flush()
  t.strictSame(await Promise.all([-1, 0, 1, 2, 3, Infinity].map(async place => await reaches(log, place))), [
    false,
    true,
    true,
    true,
    false,
    false
  ])
})

t.test('the oldest events are given up beyond a thousand, and a place among them is reached no more', async t => {
  const log = memoryLog('7')
  const source = stream(Array.from({ length: 1_200 }, (_, index) => String(index + 1)), false, log)
  await source.flush()
  t.equal(await reaches(log, 199), false)
  t.equal(await reaches(log, 200), true)
  const { texts } = await listen(source, 200)
  t.equal(texts.length, 1_000)
  t.strictSame([texts[0], texts.at(-1)], ['201', '1200'])
})

t.test('the oldest events are given up beyond a mebibyte of text', async t => {
  const large = 'x'.repeat(300_000)
  const log = memoryLog('7')
  const source = stream([large, large, large, large, 'last'], false, log)
  await source.flush()
  t.equal(await reaches(log, 0), false)
  t.strictSame((await listen(source, 1)).texts.map(text => text.length), [300_000, 300_000, 300_000, 4])
})

t.test('one event larger than the bound is kept until it is delivered', async t => {
  const source = stream(['small', 'x'.repeat(2_000_000)])
  t.strictSame((await listen(source, 1)).texts.map(text => text.length), [2_000_000])
})

t.test('an event that could not be kept is sent all the same, without a place to resume from', async t => {
  const source = stream([], false, { ...memoryLog('7'), append: async () => undefined })
  const listener = await listen(source)
  source.emit('a', 'm')
  await source.flush()
  t.strictSame(listener.events, [{ text: 'a', method: 'm' }])
})

t.test('an event is kept before it is sent', async t => {
  const log = memoryLog('7')
  const source = stream([], false, log)
  const kept: Array<Promise<unknown>> = []
  source.attach({ write: () => { kept.push(log.read(0)) }, end: () => {}, close: () => {} })
  source.emit('a', 'm')
  await source.flush()
  t.match(await Promise.all(kept), [{ events: [{ number: 1, text: 'a' }] }])
})

t.test('a client that connects while events are on their way gets each once and in order', async t => {
  const source = stream(['a', 'b'])
  const listener = new Listener()
  source.attach(listener, 1)
  source.emit('c', 'm')
  source.emit('d', 'm')
  await source.flush()
  t.strictSame(listener.texts, ['b', 'c', 'd'])
})

t.test('a node that was taken for dead sends what another has written instead, and hangs up', async t => {
  for (const isReader of [true, false]) {
    const log = memoryLog('0')
    const source = stream([], false, { ...log, append: async () => 'ended', isReader: async () => isReader })
    const listener = await listen(source)
    await log.append({ text: 'interrupted', method: '' }, false, {})
    await log.end()
    source.emit('too late', 'm')
    await source.flush()
    t.strictSame(listener.texts, isReader ? ['interrupted'] : [])
    t.strictSame([listener.ended, source.connected, source.ended], [true, false, true])
  }
})

t.test('an event that is not stored in time is sent without an id, which follows when it is', async t => {
  const log = memoryLog('7')
  const late: Array<() => Promise<void>> = []
  const source = stream([], true, {
    ...log,
    append: async (event, seen, options) => {
      if (event.text !== 'late') return await log.append(event, seen, options)
      late.push(async () => options.onLate?.(await log.append(event, seen, options)))
      return 'late'
    }
  })
  const listener = await listen(source)
  source.emit('a', 'm')
  source.emit('late', 'm')
  await source.flush()
  for (const store of late) await store()
  source.emit('b', 'm')
  await source.flush()
  t.match(listener.events.slice(1), [
    { id: '7-1', text: 'a' },
    { text: 'late' },
    { id: '7-2', text: '' },
    { id: '7-3', text: 'b' }
  ])
  t.equal(listener.events[2]?.id, undefined)
})

t.test('a reader to which other nodes send writes each event once and in order, and reads what is missing', async t => {
  const log = memoryLog('0')
  const source = stream([], false, log)
  const listener = await listen(source)
  const place = async (text: string) => ({
    text,
    method: 'm',
    ...((await log.append({ text, method: 'm' }, false, {})) as { number: number, after: number })
  })
  const events = []
  for (let number = 1; number <= 300; number++) events.push(await place(String(number)))
  for (const event of events) if (event.number % 7 !== 0) source.receive(event)
  await source.flush()
  source.receive('more')
  source.receive('more')
  await source.flush()
  t.strictSame(listener.texts, events.map(({ text }) => text))
})

t.test('what could not be read is read again by itself', async t => {
  const log = memoryLog('0')
  let fails = true
  const source = stream([], false, { ...log, read: async after => fails ? 'unavailable' : await log.read(after) })
  const listener = await listen(source)
  await log.append({ text: 'a', method: 'm' }, false, {})
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  for (let time = 0; time < 3; time++) source.receive('more')
  await source.flush()
  t.strictSame(listener.texts, [])
  fails = false
  mock.timers.tick(10_000)
  await source.flush()
  t.strictSame(listener.texts, ['a'])
})

t.test(
  'a reader that could not read goes on when it can, and leaves the stream to another node that has become the reader',
  async t => {
    const log = memoryLog('0')
    let isReader = true
    let fails = true
    const source = stream([], false, {
      ...log,
      isReader: async () => isReader,
      attach: async after => (fails ? 'unavailable' : await log.attach(after))
    })
    const listener = await listen(source)
    await log.append({ text: 'a', method: 'm' }, false, {})
    source.receive('more')
    await source.flush()
    t.strictSame(listener.texts, [])
    fails = false
    source.receive('more')
    await source.flush()
    t.strictSame(listener.texts, ['a'])
    isReader = false
    await log.append({ text: 'b', method: 'm' }, false, {})
    source.receive('more')
    await source.flush()
    t.strictSame([listener.texts, listener.ended, source.attended], [['a'], false, false])
  }
)

t.test(
  'a connection that cannot be written to ends no stream: later events are stored, and reach the next connection',
  async t => {
    const troubles: unknown[] = []
    const log = memoryLog('7')
    const source = new ResumableStream('7', log, { primed: false }, error => {
      troubles.push(error)
    })
    const broken = new Listener()
    broken.write = () => {
      throw new Error('it is broken')
    }
    source.attach(broken)
    source.emit('a', 'm')
    await source.flush()
    t.match(troubles[0], { message: 'it is broken' })
    source.detach(broken)
    source.emit('b', 'm')
    t.strictSame((await listen(source, 0)).texts, ['a', 'b'])
  }
)
