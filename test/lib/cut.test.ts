import t from 'tap'
import { cutTo } from '../../lib/cut.js'
import { oneLine } from '../../lib/one-line.js'

t.test('the beginning of a text is what a slice of it is, in any letters', async t => {
  for (const text of ['plain', '', 'é λ 日本 😀', '\ud800 half', '😀'.repeat(5), '\u0000\n"']) {
    for (let max = 0; max <= text.length + 1; max++) t.equal(cutTo(text, max), text.slice(0, max))
  }
})

t.test('a line that is cut within a letter ends with a mark', async t => {
  t.equal(oneLine('ab😀', 3), 'ab?')
  t.equal(oneLine('ab😀', 4), 'ab😀')
})
