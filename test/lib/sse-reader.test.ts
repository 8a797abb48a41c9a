import t from 'tap'
import { SseReader, type SseEvent } from '../../lib/sse-reader.js'
import { cpuTime } from '../support/timing.js'

const TEXT = [
  ': a comment', 'retry: 1500', 'id: 1', 'data: {"a":"ä€😀"}', '',
  'event: endpoint', 'data:/message?x=1', '',
  'data: one', 'data:  two', 'data', 'data: three', '',
  'id: 2', '',
  'id', 'unknown: x', 'retry: soon', 'id: with\0zero', 'data:', '',
  'data: never finished'
]
const EVENTS = [
  ['message', '{"a":"ä€😀"}'],
  ['endpoint', '/message?x=1'],
  ['message', 'one\n two\n\nthree'],
  ['message', '']
]

for (const [name, end] of [['LF', '\n'], ['CR', '\r'], ['CRLF', '\r\n']] as const) {
  t.test(`reads lines that end with ${name}, split at every place`, async t => {
    const bytes = Buffer.from(`\ufeff${TEXT.join(end)}`)
    for (let at = 0; at <= bytes.length; at++) {
      const { events, reader } = read([bytes.subarray(0, at), bytes.subarray(at)])
      if (JSON.stringify(events) !== JSON.stringify(EVENTS)) return t.same(events, EVENTS, `split at ${at}`)
      if (reader.retry !== 1_500 || reader.lastEventId !== undefined) {
        return t.fail(`split at ${at}: retry ${reader.retry}, id ${reader.lastEventId}`)
      }
    }
    t.same(read([...bytes].map(byte => Buffer.from([byte]))).events, EVENTS, 'byte by byte')
  })
}

t.test('keeps the id of an event without data, and forgets it at an empty one', async t => {
  t.equal(read([Buffer.from('id: 7\ndata: x\n\n')]).reader.lastEventId, '7')
  t.equal(read([Buffer.from('id: 7\n\n')]).reader.lastEventId, '7')
  t.equal(read([Buffer.from('id: 7\ndata: x\n\nid\n\n')]).reader.lastEventId, undefined)
})

t.test('skips an event that is too long, and reads the next', async t => {
  for (const long of [
    `data: ${'x'.repeat(200)}\n`,
    'data: 1234567890\n'.repeat(20),
    `:${'x'.repeat(200)}\n`,
    'data\n'.repeat(200)
  ]) {
    const text = Buffer.from(`data: before\n\n${long}data: end\n\ndata: after\n\n`)
    for (const size of [1, 7, 64, 10_000]) {
      const { events, tooLong, skipped } = read(cut(text, size), 100)
      // A comment that came in one piece takes no memory.
      const isHarmless = long.startsWith(':') && tooLong === 0
      t.same(
        events.map(([, data]) => data),
        isHarmless ? ['before', 'end', 'after'] : ['before', 'after'],
        `pieces of ${size}`
      )
      if (!isHarmless) t.same([tooLong, skipped.length], [1, 1], 'it is reported once, and its end once')
    }
  }
})

t.test('gives both ends of an event that was skipped', async t => {
  const { skipped } = read(cut(Buffer.from(`data: {"result":"${'x'.repeat(100_000)}","id":5}\n\n`), 1_000), 50_000)
  t.equal(skipped[0]?.[0].toString().slice(0, 11), '{"result":"')
  t.equal(skipped[0]?.[1].toString().slice(-10), 'xx","id":5}'.slice(-10))
})

t.test('takes an event of exactly the largest size, in one piece or many', async t => {
  const text = Buffer.from(`data: ${'x'.repeat(100)}\n\n`)
  for (const size of [1, 50, 1_000]) t.equal(read(cut(text, size), 100).events.length, 1, `pieces of ${size}`)
})

t.test('needs time in proportion to the length, however it is cut', async t => {
  const short = cost(20_000)
  const long = cost(200_000)
  t.ok(long < 60 * Math.max(short, 1), `ten times the length took ${(long / short).toFixed(1)} times as long`)

  function cost (length: number): number {
    const pieces = cut(Buffer.from(`data: ${'x'.repeat(length)}\n\n`), 1)
    return cpuTime(() => { read(pieces, 1_000_000) })
  }
})

function read (
  pieces: Buffer[],
  max = 1_000
): { events: string[][], reader: SseReader, tooLong: number, skipped: Array<[Buffer, Buffer]> } {
  const events: string[][] = []
  const skipped: Array<[Buffer, Buffer]> = []
  let tooLong = 0
  const reader = new SseReader(max, {
    event: ({ type, data }: SseEvent) => {
      events.push([type, data.toString()])
    },
    tooLong: () => {
      tooLong++
    },
    skipped: (...ends) => {
      skipped.push(ends)
    }
  })
  for (const piece of pieces) reader.push(piece)
  return { events, reader, tooLong, skipped }
}

function cut (bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size)
  )
}
