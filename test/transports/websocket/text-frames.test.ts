import type { Writable } from 'node:stream'
import t from 'tap'
import * as ws from 'ws'
import { textFrames } from '../../../transports/websocket/text-frames.js'

// Its types do not tell of it.
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable }

/** What ws makes of the bytes, in parts of that size. */
function read (bytes: Buffer, size = bytes.length): string[] {
  const texts: string[] = []
  const receiver = new Receiver({ isServer: false })
  receiver.on('error', error => { throw error })
  receiver.on('message', (data: Buffer, isBinary: boolean) => { texts.push(isBinary ? 'binary' : data.toString()) })
  for (let at = 0; at < bytes.length; at += size) receiver.write(bytes.subarray(at, at + size))
  return texts
}

const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 200_000]

for (const size of SIZES) {
  t.test(`a text of ${size} bytes is a frame that ws reads`, async t => {
    t.ok(read(textFrames(['x'.repeat(size)])).join() === 'x'.repeat(size))
    t.equal(read(textFrames(['x'.repeat(size), 'after'])).at(-1), 'after', 'and ends where it says')
  })
}

for (const [at, text] of [
  'é'.repeat(63),
  'é'.repeat(62),
  '😀'.repeat(16_384),
  '😀'.repeat(16_383) + '€',
  'ü\n€😀 "'
].entries()) {
  t.test(`text ${at} of more than one byte a character is as long as its bytes`, async t =>
    t.ok(read(textFrames([text])).join() === text)
  )
}

t.test('many texts are as many frames, in their order', async t => {
  const texts = [...SIZES, ...SIZES.toReversed()].map((size, index) => `${index} é`.padEnd(size, '€x'))
  t.ok(texts.some(text => Buffer.byteLength(text) > text.length))
  for (const size of [undefined, 1_000]) t.ok(JSON.stringify(read(textFrames(texts), size)) === JSON.stringify(texts))
  t.equal(textFrames([]).length, 0)
})
