import t from 'tap'
import { beginningOf, hiddenCount, pieces, webUrl } from '../../../console/parts/text.js'

const drawn = (text: string) =>
  pieces(text)
    .map(piece =>
      typeof piece === 'string' ? piece : `⟨${piece.codes.join(' ')}${piece.more === 0 ? '' : ` +${piece.more}`}⟩`
    )
    .join('')

t.test('hidden characters are named, what can be seen stays', async t => {
  t.equal(drawn('a\u202Eb'), 'a⟨U+202E⟩b')
  t.equal(drawn('\u001B[31mred'), '⟨U+001B⟩[31mred')
  t.equal(drawn('zero\u200B\u200Dwidth'), 'zero⟨U+200B U+200D⟩width')
  t.equal(drawn('\u{E0041}\u{E0042}'), '⟨U+E0041 U+E0042⟩')
  t.equal(drawn('\u3164\uFEFF'), '⟨U+3164 U+FEFF⟩')
  t.equal(drawn('\uD800'), '⟨U+D800⟩')
})

t.test('newlines, tabs and emoji are not hidden', async t => {
  for (const text of ['one\ntwo\r\nthree\tfour', '❤️ 🎉 ünï', '<b>&amp;</b>', '']) {
    t.equal(drawn(text), text)
    t.equal(hiddenCount(text), 0)
  }
  t.equal(hiddenCount('a\rb'), 1)
})

t.test('hidden characters are counted, however many they are', async t => {
  t.equal(hiddenCount('\u{E0041}'.repeat(300)), 300)
  t.equal(drawn('\u200B'.repeat(20)), `⟨${Array(16).fill('U+200B').join(' ')} +4⟩`)
})

t.test('after a thousand runs the rest is one text, in which each run is a mark', async t => {
  const many = pieces('a\u200B'.repeat(1_000) + 'b\u200B\u200Dc\u202E')
  t.equal(many.length, 2_001)
  t.equal(many.at(-1), 'b⟨2 hidden⟩c⟨1 hidden⟩')
  t.ok(pieces('a\u200B'.repeat(100_000)).length <= 2_002)
  t.equal(pieces('a\u200B'.repeat(1_000)).length, 2_000)
})

t.test('a text that is too long is cut, and never inside a character', async t => {
  t.strictSame(
    [beginningOf('abc', 3), beginningOf('abcd', 3), beginningOf('ab🎉', 3), beginningOf('ab🎉', 4)],
    ['abc', 'abc', 'ab', 'ab🎉']
  )
})

t.test('only http and https without a name before the host are opened', async t => {
  for (const url of ['https://example.com/a?b', 'http://127.0.0.1:1']) t.equal(webUrl(url)?.href, new URL(url).href)
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///a',
    'https://trusted.example@evil.example',
    'x',
    '//a',
    ' \u0001javascript:x'
  ]) {
    t.equal(webUrl(url), undefined, url)
  }
})
