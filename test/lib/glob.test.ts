import t from 'tap'
import { fitsGlob, matcherOf } from '../../lib/glob.js'

const PATTERNS = ['', '*', 'a', 'a*', '*a', '*a*', 'a*b', 'a*a', 'ab*ba', '*a*b*', 'a**b', '*ab*ab*', 'b*a*b', 'aba']

/** All texts of up to so many characters out of `a` and `b`. */
const textsOf = (length: number): string[] =>
  length === 0 ? [''] : ['', ...['a', 'b'].flatMap(first => textsOf(length - 1).map(rest => first + rest))]

t.test('a pattern fits whole texts, with any characters in place of *', async t => {
  t.ok(fitsGlob('github__*', 'github__search'))
  t.notOk(fitsGlob('github__*', 'a github__search'))
  t.ok(fitsGlob('a?c', 'abc'))
  for (const pattern of PATTERNS) {
    const [matches, expected] = [matcherOf(pattern), new RegExp(`^${pattern.replaceAll('*', '.*')}$`)]
    const isWrong = (text: string): boolean =>
      matches(text) !== expected.test(text) || fitsGlob(pattern, text) !== matches(text)
    const wrong = textsOf(6).filter(isWrong)
    t.strictSame(wrong, [], pattern)
  }
})
