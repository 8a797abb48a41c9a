import t from 'tap'
import { cutTo, oneLine, visible } from '../../lib/one-line.js'

t.test('what a terminal might obey, or a reader not see, is written out', async t => {
  t.equal(
    visible('a\u001b[31m\u0007\r\t\u009b\u202e\u200b\u2028\ud800b'),
    'a\\u{1b}[31m\\u{7}\\u{d}\\u{9}\\u{9b}\\u{202e}\\u{200b}\\u{2028}\\u{d800}b'
  )
})

t.test('line breaks and other letters stay', async t => {
  t.equal(visible('é λ 日本 😀\n…'), 'é λ 日本 😀\n…')
})

t.test('the beginning of a text is what a slice of it is, in any letters', async t => {
  for (const text of ['plain', '', 'é λ 日本 😀', '\ud800 half', '😀'.repeat(5), '\u0000\n"']) {
    for (let max = 0; max <= text.length + 1; max++) t.equal(cutTo(text, max), text.slice(0, max))
  }
})

t.test('a line that is cut within a letter ends with a mark', async t => {
  t.equal(oneLine('ab😀', 3), 'ab?')
  t.equal(oneLine('ab😀', 4), 'ab😀')
})
