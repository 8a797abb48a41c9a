import t from 'tap'
import { ResumableStream, type Sink, type StreamEvent } from '../../protocol/resumable-stream.js'

class Listener implements Sink {
  readonly events: StreamEvent[] = []
  ended = false
  write (event: StreamEvent): void { this.events.push(event) }
  end (): void { this.ended = true }
  get texts (): string[] { return this.events.map(({ text }) => text) }
  get ids (): Array<string | undefined> { return this.events.map(({ id }) => id) }
}

function stream (texts: string[], primed = false): ResumableStream {
  const made = new ResumableStream('7', primed)
  for (const text of texts) made.emit(text, 'm')
  return made
}

function listen (to: ResumableStream, after?: number): Listener {
  const listener = new Listener()
  to.attach(listener, after)
  return listener
}

t.test('what is sent while nobody listens waits for somebody', async t => {
  t.strictSame(listen(stream(['a', 'b', 'c'])).texts, ['a', 'b', 'c'])
})

t.test('a client that listens gets each event as it comes, with the place to resume after it', async t => {
  const source = stream([])
  const listener = listen(source)
  source.emit('a', 'notifications/progress')
  source.respond('b')
  t.match(listener.events, [{ id: '7-1', text: 'a', method: 'notifications/progress' }, { id: '7-2', text: 'b' }])
})

t.test('a client that names its last event gets what followed, once and in order, wherever it broke off', async t => {
  const texts = Array.from({ length: 20 }, (_, index) => `event ${index + 1}`)
  for (let last = 0; last <= texts.length; last++) t.strictSame(listen(stream(texts), last).texts, texts.slice(last))
})

t.test('a client that comes back again and again gets everything once', async t => {
  const source = stream([])
  const seen: string[] = []
  for (let round = 0; round < 10; round++) {
    const listener = listen(source, seen.length)
    source.emit(`while listening ${round}`, 'm')
    source.detach(listener)
    source.emit(`while away ${round}`, 'm')
    seen.push(...listener.texts)
  }
  seen.push(...listen(source, seen.length).texts)
  t.strictSame(seen, Array.from({ length: 10 }, (_, round) => [`while listening ${round}`, `while away ${round}`]).flat())
})

t.test('whoever is not there learns once that a list has changed, and again when it changes after that', async t => {
  const source = stream([])
  const [tools, prompts] = ['notifications/tools/list_changed', 'notifications/prompts/list_changed']
  for (let count = 0; count < 3; count++) {
    source.emit('tools', tools)
    source.emit('prompts', prompts)
    source.emit('progress', 'notifications/progress')
  }
  const first = listen(source)
  t.strictSame(first.texts, ['tools', 'prompts', 'progress', 'progress', 'progress'])
  source.emit('tools', tools)
  source.emit('tools', tools)
  t.equal(first.texts.length, 7, 'whoever is there learns each time')
  source.detach(first)
  source.emit('tools', tools)
  source.emit('tools', tools)
  t.strictSame(listen(source).texts, ['tools'])
})

t.test('a client that names nothing gets what nobody had yet', async t => {
  const source = stream(['a'])
  const first = listen(source)
  source.detach(first)
  source.emit('b', 'm')
  t.strictSame(listen(source).texts, ['b'])
})

t.test('an older client that goes does not take the newer one along', async t => {
  const source = stream([])
  const [older, newer] = [new Listener(), new Listener()]
  source.attach(older)
  source.attach(newer)
  source.detach(older)
  source.emit('a', 'm')
  t.strictSame(newer.texts, ['a'])
  t.strictSame(older.texts, [])
  t.equal(source.connected, true)
})

t.test('a primed stream opens with an event to resume from, and without data', async t => {
  t.strictSame(listen(stream([], true)).events, [{ id: '7-0', text: '', retry: 1000 }])
  t.strictSame(listen(stream(['a', 'b'], true), 1).ids, ['7-1', '7-2'])
})

t.test('a released stream says when to come back, hangs up, and goes on for whoever does', async t => {
  const source = stream(['a'], true)
  const listener = listen(source)
  source.release(250)
  t.match(listener.events.at(-1), { text: '', retry: 250 })
  t.equal(listener.ended, true)
  t.equal(source.connected, false)
  source.respond('the answer')
  source.end()
  const back = listen(source, 1)
  t.strictSame(back.texts, ['', 'the answer'])
  t.equal(back.ended, true)
})

t.test('an ended stream takes nothing more, and hangs up on whoever comes for the rest', async t => {
  const source = stream(['a', 'b'])
  const listener = listen(source)
  source.end()
  t.equal(listener.ended, true)
  source.emit('late', 'm')
  t.strictSame(listener.texts, ['a', 'b'])
  const back = listen(source, 1)
  t.strictSame(back.texts, ['b'])
  t.equal(back.ended, true)
  t.equal(source.connected, false)
})

t.test('a place is reached while everything after it is still here', async t => {
  const source = stream(['a', 'b'])
  t.strictSame([-1, 0, 1, 2, 3, 0.5, NaN, Infinity].map(place => source.reaches(place)), [false, true, true, true, false, false, false, false])
  t.equal(stream([]).reaches(0), true)
})

t.test('the oldest events are given up beyond a thousand, and a place among them is reached no more', async t => {
  const source = stream(Array.from({ length: 1_200 }, (_, index) => String(index + 1)))
  t.equal(source.reaches(199), false)
  t.equal(source.reaches(200), true)
  const { texts } = listen(source, 200)
  t.equal(texts.length, 1_000)
  t.strictSame([texts[0], texts.at(-1)], ['201', '1200'])
})

t.test('the oldest events are given up beyond a mebibyte of text', async t => {
  const large = 'x'.repeat(300_000)
  const source = stream([large, large, large, large, 'last'])
  t.equal(source.reaches(0), false)
  t.strictSame(listen(source, 1).texts.map(text => text.length), [300_000, 300_000, 300_000, 4])
})

t.test('one event larger than the bound is kept until it is delivered', async t => {
  const source = stream(['small', 'x'.repeat(2_000_000)])
  t.strictSame(listen(source, 1).texts.map(text => text.length), [2_000_000])
})
