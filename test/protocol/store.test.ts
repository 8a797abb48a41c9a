import t from 'tap'
import { STREAM_LIMITS, prefixSpaces, surplusStreams, type StreamSummary } from '../../protocol/store.js'
import { memoryStore } from '../../stores/memory/store.js'

const reply = (stream: string, size = 1, ended = true, seen = true): StreamSummary => ({ stream, size, ended, seen })

t.test('values in spaces of their own do not meet others', async t => {
  const { values } = memoryStore()
  const [ours, theirs] = [prefixSpaces(values, 'ours/'), prefixSpaces(values, 'theirs/')]
  const received: string[] = []
  ours.onChange((space, key) => { received.push(`${space}/${key}`) })
  await ours.put('space', 'key', 'our')
  await theirs.put('space', 'key', 'their')
  await values.put('space', 'key', 'plain')
  await ours.increment('numbers', 'sum', 2)
  t.strictSame(await Promise.all([ours, theirs, values].map(async all => await all.get('space', 'key'))), [
    'our',
    'their',
    'plain'
  ])
  t.strictSame(await ours.list('space'), [{ key: 'key', value: 'our' }])
  t.strictSame(await ours.keys('space', { descending: true, limit: 1 }), ['key'])
  t.equal(await ours.delete('space', 'key'), true)
  t.equal(await theirs.get('space', 'key'), 'their')
  t.strictSame(received, ['space/key', 'numbers/sum', 'space/key'], 'and only of these it is heard')
  await t.rejects(ours.put('space', 'a', 1, { max: 0 }))
  await theirs.put('space', 'key', 'another', { ifAbsent: true })
  t.equal(await theirs.get('space', 'key'), 'their')
})

t.test('no stream is given up below the limits', async t => {
  t.strictSame(surplusStreams([]), [])
  t.strictSame(
    surplusStreams(Array.from({ length: STREAM_LIMITS.streams }, (_, index) => reply(String(index + 1)))),
    []
  )
  t.strictSame(surplusStreams([reply('a', STREAM_LIMITS.text / 2), reply('b', STREAM_LIMITS.text / 2)]), [])
})

t.test('no more is given up than has to be, and the oldest first', async t => {
  t.strictSame(surplusStreams(Array.from({ length: STREAM_LIMITS.streams + 2 }, (_, index) => reply(`f${index}`))), [
    'f0',
    'f1'
  ])
  t.strictSame(surplusStreams([reply('a', 10), reply('b', STREAM_LIMITS.text), reply('c', 10)]), ['a', 'b'])
})

t.test('fetched replies go first, then others; running ones, the newest and the standalone stream stay', async t => {
  const all = [
    reply('0', STREAM_LIMITS.text * 9),
    reply('unseen', 5, true, false),
    reply('open', STREAM_LIMITS.text * 2, false),
    reply('seen', 5),
    reply('newest', 5)
  ]
  t.strictSame(surplusStreams(all), ['seen', 'unseen'])
})
