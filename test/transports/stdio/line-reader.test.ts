import t from 'tap'
import { LineReader } from '../../../transports/stdio/line-reader.js'
import { cpuTime } from '../../support/timing.js'

/** Reads chunks, and gives the lines and how often one was too long. */
function read (chunks: Array<string | Buffer>, max = 1_000, { end = true } = {}): { lines: string[], tooLong: number } {
  const result = { lines: [] as string[], tooLong: 0 }
  const reader = new LineReader(max, line => { result.lines.push(String(line)) }, () => { result.tooLong++ })
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  if (end) reader.end()
  return result
}

t.test('lines are the same however the bytes arrive', async t => {
  const bytes = Buffer.from('first\nzwei ü\r\n\n  \n😀\n')
  const expected = ['first', 'zwei ü', '😀']
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size)
    )
    t.strictSame(read(chunks).lines, expected, `${size} bytes at a time`)
  }
})

t.test('blank lines are no lines', async t => t.strictSame(read(['\n \n\t\r\n\r\n']).lines, []))

t.test('what has no newline waits for the end', async t => {
  t.strictSame(read(['a\nb'], 10, { end: false }).lines, ['a'])
  t.strictSame(read(['a\nb'], 10).lines, ['a', 'b'])
  t.strictSame(read(['a\n'], 10).lines, ['a'])
})

t.test('a line of exactly the limit is taken, one byte more is not', async t => {
  t.strictSame(read(['x'.repeat(10) + '\n'], 10), { lines: ['x'.repeat(10)], tooLong: 0 })
  t.strictSame(read(['x'.repeat(11) + '\n'], 10), { lines: [], tooLong: 1 })
})

t.test('a line that is too long is reported once, at once, and the next one is read', async t => {
  const chunks = [...Array<string>(50).fill('xxxx'), '\nnext\n']
  t.strictSame(read(chunks, 10), { lines: ['next'], tooLong: 1 })
  t.strictSame(read(chunks.slice(0, 3), 10, { end: false }), { lines: [], tooLong: 1 }, 'before its end is there')
})

t.test('the limit holds for each line, not for all together', async t => {
  t.strictSame(read([Array(100).fill('12345').join('\n')], 5).lines.length, 100)
})

t.test('a line that is too long and never ends is not reported again at the end', async t => {
  t.strictSame(read(['x'.repeat(50)], 10), { lines: [], tooLong: 1 })
})

t.test('a megabyte that arrives byte by byte is read in time', async t => {
  const reader = new LineReader(2_000_000, line => t.equal(line.length, 300_000), () => t.fail('too long'))
  const byte = Buffer.from('x')
  const took = cpuTime(() => {
    for (let count = 0; count < 300_000; count++) reader.push(byte)
    reader.push(Buffer.from('\n'))
  })
  t.ok(took < 2_000, `${took} ms`)
})
