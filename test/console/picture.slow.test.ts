import { readFileSync, statSync } from 'node:fs'
import t from 'tap'
import { withBrowser } from './support/browser.js'
import { pictureOf, SCHEMES, showPicture, WORDS, wordsOf } from './support/picture.js'

const MOST_BYTES = 200 * 1024

t.test(
  'the pictures of the README show the page as it is; if not, "npm run pictures" makes them anew',
  withBrowser,
  async t => {
    t.equal(await wordsOf(await showPicture(t, 'light')), readFileSync(WORDS, 'utf8'))
  }
)

t.test('there is a picture for light and for dark, each small and described in words', async t => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  for (const scheme of SCHEMES) {
    t.ok(statSync(pictureOf(scheme)).size <= MOST_BYTES, scheme)
    t.match(readme, `docs/images/console-${scheme}.png`)
  }
  t.match(readme, /<picture>[^]*<img alt="[^"]{40,}"[^]*<\/picture>/)
})
