import { readFileSync } from 'node:fs'
import t from 'tap'
import { httpErrors } from '../protocol/http/http-errors.js'
import { errorsPage, PAGE, sampleHttpErrors } from './support/errors-page.js'

t.test('docs/errors.md is what the tables of errors make', async t => {
  const [made, kept] = [errorsPage(), readFileSync(PAGE, 'utf8')].map(page => page.split('\n'))
  t.strictSame(kept, made, 'run `npm run errors-page` and commit docs/errors.md')
})

t.test('every HTTP error has a code of its own and the headers of its status', async t => {
  const errors = sampleHttpErrors().map(({ error }) => error)
  t.equal(errors.length, Object.keys(httpErrors).length, 'each is on the page')
  t.equal(new Set(errors.map(({ code }) => code)).size, errors.length)
  for (const { code, statusCode, headers } of errors) {
    t.match(code, /^PATCHBAY_[A-Z_]+$/)
    t.equal('retry-after' in headers, [429, 503].includes(statusCode), code)
    if (statusCode === 401) t.ok(headers['www-authenticate'], code)
  }
})
