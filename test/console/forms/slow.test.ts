import t from 'tap'
import { format } from '@cfworker/json-schema'
import type { Json } from '../../../console/client/contract.js'
import { schemaErrors, type FieldError } from '../../../console/forms/check.js'
import { checkDraft, newDraft } from '../../../console/forms/draft.js'
import { bestTime, cpuTime } from '../../support/timing.js'

const check = (value: Json, schema: Json): FieldError[] | undefined => schemaErrors(value, schema, { patterns: false })

/** The least time of several attempts, in milliseconds; three seconds are enough of them. */
const least = async (work: () => void): Promise<number> => await bestTime(3_000, async () => cpuTime(work), 3)

const slowUrl = `http://${'a'.repeat(45)}!`

t.test('a URL is checked in the time of its length', async t => {
  for (const schema of [{ format: 'url' }, { format: ['url'] }, { dependencies: { format: 'url' }, additionalProperties: { $ref: '#/dependencies' } }] as Json[]) {
    t.ok(await least(() => check({ a: slowUrl }, { ...schema as object, additionalProperties: schema })) < 3_000, JSON.stringify(schema))
    t.ok(await least(() => check({ a: slowUrl }, schema)) < 3_000)
    t.ok(await least(() => check(slowUrl, schema)) < 3_000)
  }
  t.ok(await least(() => checkDraft(newDraft({ type: 'object', properties: { a: { type: 'string', format: 'url', default: slowUrl } } }))) < 3_000, 'a default')
  for (const url of ['https://example.com/', 'http://localhost:8080/a?b=c#d', 'https://127.0.0.1/']) t.same(check(url, { format: 'url' }), [], url)
  for (const url of ['example.com', 'http://a b', '']) t.same(check(url, { format: 'url' }), [{ at: '', message: 'This must be a whole URL such as https://example.com/.' }], url)
})

t.test('a format is one of those that are known, and no other member of an object', async t => {
  for (const name of ['hasOwnProperty', 'isPrototypeOf', '__proto__', 'constructor', 'propertyIsEnumerable', 7, null, ['email'], {}] as Json[]) t.same(check('x', { format: name }), [], JSON.stringify(name))
  t.equal(check('x', { format: 'email' })?.length, 1)
})

const fragments = ['a', '1', '.', '-', ':', '/', '%41', '@', '0', 'f:', '::', '{a', '{a,', 'a.', 'a,', '~0', '~', '#', '?', 'P', 'T', '1D', '1M', '"', '\\a', '[', '!', 'é', ' ', '(?:a', '1.']
const beginnings = ['', 'http://', 'a:', 'a://', 'P', 'PT', '0', '#', '/', '"', 'a@', '{', '[', 'a@[IPv6:']
const ends = ['', '!', '\n', '@', '%']

/** Texts of 1,000 characters that begin like something of a format, and may end otherwise. */
const texts = beginnings.flatMap(begin => fragments.flatMap(one => ['', ...fragments].flatMap(other => ends.map(end => (begin + (one + other).repeat(1_000)).slice(0, 1_000 - end.length) + end))))

t.test('every format is checked in the time of the text', async t => {
  for (const name of Object.keys(format)) {
    const few = texts.filter((_, index) => index % 7 === name.length % 7)
    const time = await least(() => { for (const text of few) check(text, { format: name }) })
    t.ok(time < 3_000, `${name}: ${few.length} texts in ${Math.round(time)} ms`)
  }
})

t.test('no reference leads to a pattern that was not looked at', async t => {
  const slow = '^(a+)+$'
  const inside: Json[] = [{ pattern: slow }, { pattern: [slow] }, { patternProperties: { [slow]: false } }, { properties: { const: { pattern: slow } } }, { $ref: '#/dependencies/a', a: { pattern: slow } }]
  const text = `${'a'.repeat(45)}!`
  for (const dependencies of inside) {
    for (const value of [text, { [text]: 1 }, { const: text }]) {
      t.ok(await least(() => check({ a: value }, { dependencies, additionalProperties: { $ref: '#/dependencies' } })) < 3_000, JSON.stringify(dependencies))
    }
  }
})

t.test('dependencies of older drafts are checked', async t => {
  const schema: Json = { dependencies: { a: ['b', 'pattern'], c: { properties: { d: { minimum: 3 } } }, e: false }, dependentSchemas: { c: { required: ['f'] } } }
  t.same(check({ a: 1, b: 1 }, schema), [{ at: '/pattern', message: 'This is required.' }])
  t.same(check({ c: 1, d: 1 }, schema), [{ at: '/f', message: 'This is required.' }, { at: '/d', message: 'This must be 3 or more.' }])
  t.equal(check({ e: 1 }, schema)?.length, 1)
  t.same(check({ b: 1 }, schema), [])
})

t.test('a field is not called unknown by a pattern that did not run', async t => {
  const schema: Json = { patternProperties: { '^x-': { type: 'integer' } }, properties: { a: true }, additionalProperties: false }
  t.same(check({ 'x-a': 1 }, schema), [])
  t.same(schemaErrors({ 'x-a': 1, b: 1 }, schema, { patterns: true }), [{ at: '/b', message: 'The schema does not allow this here.' }])
})
