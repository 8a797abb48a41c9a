import { mkdirSync, writeFileSync } from 'node:fs'
import { owner } from '../support/owner.js'
import { pictureOf, SCHEMES, showPicture, WORDS, wordsOf } from './support/picture.js'

/** Makes the pictures of the README anew, and stores what they show: `npm run pictures`. */
const end = owner()
try {
  mkdirSync(new URL('.', pictureOf('light')), { recursive: true })
  for (const scheme of SCHEMES) {
    const page = await showPicture(end, scheme)
    writeFileSync(WORDS, await wordsOf(page))
    await page.screenshot({ path: pictureOf(scheme).pathname, animations: 'disabled', caret: 'hide' })
  }
} finally {
  await end.end()
}
