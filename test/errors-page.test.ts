import { readFileSync } from 'node:fs'
import t from 'tap'
import { httpErrors } from '../protocol/http/http-errors.js'
import { errorsPage, nameOf, PAGE, sampleErrors, sampleHttpErrors } from './support/errors-page.js'

t.test('docs/errors.md is what the tables of errors make', async t => {
  const [made, kept] = [errorsPage(), readFileSync(PAGE, 'utf8')].map(page => page.split('\n'))
  t.strictSame(kept, made, 'run `npm run errors-page` and commit docs/errors.md')
})

t.test('every JSON-RPC error of ours has a name, and those of one name have one remedy', async t => {
  const remedies = new Map<string, string>()
  for (const { error, remedy } of sampleErrors()) {
    const name = nameOf(error)
    t.match(name, /^PATCHBAY_[A-Z_]+$/, error.message)
    // A request and a subscription have the same limit, and end it in different ways.
    if (name !== 'PATCHBAY_TOO_MANY_SUBSCRIPTIONS') t.equal(remedies.get(name) ?? remedy, remedy, name)
    remedies.set(name, remedy)
  }
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
