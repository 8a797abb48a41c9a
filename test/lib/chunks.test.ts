import t from 'tap'
import { Chunks } from '../../lib/chunks.js'

const TEXT = 'abc€😀'.repeat(500)

t.test('a body in pieces is read as it was sent, with a right, a wrong or no announced size', async t => {
  const sent = Buffer.from(TEXT)
  for (const expected of [0, 1, sent.length, 10 * sent.length]) {
    for (const size of [1, 7, 1_000, sent.length]) {
      const bytes = new Chunks(expected)
      for (let at = 0; at < sent.length; at += size) bytes.add(sent.subarray(at, at + size))
      t.equal(bytes.size, sent.length)
      t.ok(bytes.take().equals(sent), `${expected} announced, in parts of ${size}`)
      t.equal(bytes.size, 0)
    }
  }
})

t.test('a long announced body that does not come gets little memory', async t => {
  const made: number[] = []
  const { allocUnsafe } = Buffer
  t.intercept(Buffer, 'allocUnsafe', { value: (size: number) => { made.push(size); return allocUnsafe(size) } })
  const bytes = new Chunks(4 * 1024 * 1024)
  for (let part = 0; part < 10; part++) bytes.add(Buffer.from('0123456789'))
  t.equal(bytes.take().length, 100)
  t.ok(made.length > 0 && Math.max(...made) <= 16 * 100, made.join(' '))
})

t.test('a body of the announced length gets its memory at once', async t => {
  const made: number[] = []
  const { allocUnsafe } = Buffer
  t.intercept(Buffer, 'allocUnsafe', { value: (size: number) => { made.push(size); return allocUnsafe(size) } })
  const bytes = new Chunks(100_000)
  for (let part = 0; part < 4; part++) bytes.add(Buffer.alloc(25_000))
  bytes.take()
  t.strictSame(made, [100_000])
})
