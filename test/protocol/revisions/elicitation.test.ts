import { Type } from '@sinclair/typebox'
import t from 'tap'
import { elicitation } from '../../../protocol/revisions/elicitation.js'
import { revision, type Json } from '../../support/recorder.js'

const early = revision('2025-06-18').features
const current = revision('2025-11-25').features
const modern = revision('2026-07-28').features

const form = (properties: object, more: object = {}) => ({
  message: 'm',
  requestedSchema: { type: 'object', properties, ...more }
})
const field = (asked: Json): unknown => ((asked.requestedSchema as Json).properties as Json).f

/** A field as a client of the first revision with forms is asked for it. */
const asEarly = (given: object): unknown => field(elicitation.params(form({ f: given }), early))

t.test('2025-06-18: titled choices become an enum with names', async t => {
  t.strictSame(
    asEarly({
      type: 'string',
      title: 'Colour',
      description: 'd',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' }
      ]
    }),
    { type: 'string', title: 'Colour', description: 'd', enum: ['r', 'g'], enumNames: ['Red', 'Green'] }
  )
})

t.test('2025-06-18: plain choices stay as they are', async t => {
  t.strictSame(asEarly({ type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] }), {
    type: 'string',
    enum: ['r', 'g'],
    enumNames: ['Red', 'Green']
  })
})

t.test('2025-06-18: several choices become a text field that describes what to write', async t => {
  for (const items of [
    { type: 'string', enum: ['r', 'g'] },
    {
      anyOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' }
      ]
    }
  ]) {
    const asked = asEarly({
      type: 'array',
      title: 'Colours',
      description: 'Which ones',
      items,
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['r']
    }) as Json
    t.match(asked, { type: 'string', title: 'Colours', description: /^Which ones.*commas: r, g$/ })
    t.strictSame(
      Object.keys(asked).filter(key => !['type', 'title', 'description'].includes(key)),
      [],
      'nothing of a list is left'
    )
  }
})

t.test('2025-06-18: the text of several choices becomes a list again', async t => {
  const { requestedSchema } = form({ f: { type: 'array', items: { enum: ['r', 'g'] } }, name: { type: 'string' } })
  const back = (f: unknown) =>
    elicitation.answer({ action: 'accept', content: { f, name: 'a, b' } }, requestedSchema, early).content
  t.strictSame(back('r, g'), { f: ['r', 'g'], name: 'a, b' }, 'and other text stays text')
  t.strictSame(back('r'), { f: ['r'], name: 'a, b' })
  t.strictSame(back(' r ,, g, '), { f: ['r', 'g'], name: 'a, b' })
  t.strictSame(back(''), { f: [], name: 'a, b' })
  t.strictSame(back(['r']), { f: ['r'], name: 'a, b' }, 'a client that sent a list meant one')
})

t.test('2025-06-18: a default is dropped, except for a boolean', async t => {
  t.strictSame(asEarly({ type: 'string', default: 'x', minLength: 1 }), { type: 'string', minLength: 1 })
  t.strictSame(asEarly({ type: 'integer', default: 3, minimum: 1 }), { type: 'integer', minimum: 1 })
  t.strictSame(asEarly({ type: 'number', default: 3.5 }), { type: 'number' })
  t.strictSame(asEarly({ type: 'string', enum: ['a'], default: 'a' }), { type: 'string', enum: ['a'] })
  t.strictSame(asEarly({ type: 'boolean', default: true }), { type: 'boolean', default: true })
})

t.test('2025-06-18: the form has no mode', async t => {
  t.strictSame(elicitation.params(form({ f: { type: 'string' } }, { required: ['f'] }), early),
    { message: 'm', requestedSchema: { type: 'object', properties: { f: { type: 'string' } }, required: ['f'] } })
})

for (const [name, features] of [['2025-11-25', current], ['2026-07-28', modern]] as const) {
  t.test(`${name}: every kind of field is asked for as it was written`, async t => {
    const properties = {
      one: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }], default: 'r' },
      many: { type: 'array', items: { anyOf: [{ const: 'r', title: 'Red' }] }, minItems: 1, default: ['r'] },
      legacy: { type: 'string', enum: ['a'], enumNames: ['A'] }
    }
    t.strictSame(elicitation.params(form(properties), features), {
      mode: 'form',
      message: 'm',
      requestedSchema: { type: 'object', properties }
    })
  })

  t.test(`${name}: an answer is taken as it is`, async t => {
    const { requestedSchema } = form({ f: { type: 'array', items: { enum: ['r'] } } })
    t.strictSame(elicitation.answer({ action: 'accept', content: { f: 'r' } }, requestedSchema, features).content, {
      f: 'r'
    })
  })

  t.test(`${name}: only what a form may have is left of a schema`, async t => {
    const requestedSchema = Type.Object(
      { f: Type.String() },
      { additionalProperties: false, $id: 'x', description: 'd' }
    )
    t.strictSame(
      JSON.parse(JSON.stringify(elicitation.params({ message: 'm', requestedSchema }, features).requestedSchema)),
      { type: 'object', properties: { f: { type: 'string' } }, required: ['f'] }
    )
  })
}

t.test('a page is asked for where pages are known, with an id where there are ids', async t => {
  const page = { message: 'm', url: 'https://example.org/pay' }
  t.match(elicitation.params(page, current), { mode: 'url', ...page, elicitationId: /^[0-9a-f-]{36}$/ })
  t.strictSame(elicitation.params(page, modern), { mode: 'url', ...page })
  t.equal(elicitation.isKnown(page, early), false)
  t.equal(elicitation.isKnown(page, current), true)
  t.equal(elicitation.isKnown(page, modern), true)
})

t.test('nothing can be asked of revisions before forms', async t => {
  for (const version of ['2024-11-05', '2025-03-26']) {
    t.equal(elicitation.isKnown(form({}), revision(version).features), false)
  }
  t.equal(elicitation.isKnown(form({}), early), true)
})

t.test('a question without fields is a form without fields', async t => {
  t.strictSame(elicitation.params({ message: 'Sure?' }, early), {
    message: 'Sure?',
    requestedSchema: { type: 'object', properties: {} }
  })
})

t.test('a refusal has nothing to turn back', async t => {
  const { requestedSchema } = form({ f: { type: 'array' } })
  t.strictSame(elicitation.answer({ action: 'decline' }, requestedSchema, early), { action: 'decline' })
})
