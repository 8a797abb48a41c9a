import t from 'tap'
import { headAndTail, outsideOfPair } from '../../../../plugins/curation/results/head-and-tail.js'

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

t.test('head and tail are parts of the text, and together no longer than there is room', async t => {
  const text = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n')
  for (const room of [0, 1, 2, 10, 100, 999, 1_000]) {
    const { head, tail } = headAndTail(text, room)
    t.ok(head.length + tail.length <= room, `${room}`)
    t.ok(text.startsWith(head) && text.endsWith(tail))
  }
})

t.test('they end and begin with a line where one is near', async t => {
  const text = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n')
  const { head, tail } = headAndTail(text, 1_000)
  t.match(head, /\nline \d+\n$/)
  t.match(tail, /^line \d+\n/)
  t.ok(head.length > 500 && tail.length > 250)
  const long = headAndTail('x'.repeat(5_000), 900)
  t.strictSame([long.head.length, long.tail.length], [600, 300], 'one long line is cut anywhere')
})

t.test('no surrogate pair is split', async t => {
  for (const start of ['', 'x']) {
    const text = start + '😀'.repeat(1_000)
    for (let room = 100; room < 110; room++) {
      const { head, tail } = headAndTail(text, room)
      t.ok(isWellFormed(head) && isWellFormed(tail), `${start} ${room}`)
    }
    for (let index = 0; index <= 10; index++) t.ok(isWellFormed(text.slice(outsideOfPair(text, index))))
  }
  t.equal(outsideOfPair('a\udc00b', 1), 1, 'half of a pair alone is a character')
})
