import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { newDraft, withText, type Draft } from '../../../console/forms/draft.js'
import { blankValue } from '../../../console/forms/model/initial.js'
import { shapeOf } from '../../../console/forms/model/shape.js'
import { fromJson } from '../../../console/forms/model/value.js'
import { pickVariant } from '../../../console/forms/model/variants.js'
import { refusalErrors } from '../../../console/forms/refusal.js'
import { bestTime, cpuTime } from '../../support/timing.js'

const itself: Json = { $ref: '#' }
const times = (count: number, schema: Json): Json[] => Array.from({ length: count }, () => schema)
const many = (count: number, schema: Json): Json =>
  Object.fromEntries(times(count, schema).map((part, index) => [`p${index}`, part]))

/** Schemas that contain themselves, each with the kind of its control. */
const circles: Array<[string, Json]> = [
  ['json', { anyOf: [itself] }],
  ['json', { oneOf: [itself, { type: 'null' }] }],
  ['array', { items: itself }],
  ['array', { type: ['array', 'null'], items: itself }],
  [
    'array',
    {
      anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }],
      $defs: { n: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } } }
    }
  ],
  ['variants', { type: 'object', anyOf: [itself, itself], default: {} }],
  ['variants', { anyOf: [itself, itself, itself] }]
]

for (const [kind, schema] of circles) {
  t.test(`a schema that contains itself has a form: ${JSON.stringify(schema).slice(0, 60)}`, async t => {
    t.equal(shapeOf(schema, schema).kind, kind)
    t.ok(blankValue(schema, schema))
    t.ok(newDraft(schema))
    t.ok(newDraft({ type: 'object', properties: { a: schema } }, { a: [[{}]] }))
  })
}

t.test('a schema is looked into as deep as schemas of people go', async t => {
  const wrapped = (depth: number): Json =>
    depth === 0 ? { type: 'string' } : { anyOf: [wrapped(depth - 1), { type: 'null' }] }
  t.match(shapeOf(wrapped(6), true), { kind: 'text', nullable: true })
  t.equal(shapeOf(wrapped(20), true).kind, 'json')
})

t.test('many variants are a box for JSON, unless each is one value', async t => {
  const variants = (count: number): Json => ({
    oneOf: Array.from({ length: count }, (_, index) => ({ type: 'object', title: `v${index}` }))
  })
  t.equal(shapeOf(variants(100), true).variants.length, 100)
  t.match(shapeOf(variants(101), true), { kind: 'json', variants: [] })
  t.equal(shapeOf({ type: times(200, 'integer') }, true).kind, 'json')
  t.equal(
    shapeOf({ oneOf: Array.from({ length: 5_000 }, (_, value) => ({ const: value })) }, true).choices.length,
    5_000
  )
})

/** Schemas whose parts, all written out, would fill the memory. */
const bombs: Record<string, Json> = {
  '5,000 variants with 5,000 fields': {
    oneOf: times(5_000, { $ref: '#/$defs/wide' }),
    $defs: { wide: { type: 'object', properties: many(5_000, { $ref: '#/$defs/one' }) }, one: { type: 'string' } }
  },
  '100 variants with 5,000 fields, merged 60 times': {
    oneOf: times(100, { $ref: '#/$defs/all' }),
    $defs: {
      all: { allOf: times(60, { $ref: '#/$defs/wide' }) },
      wide: { type: 'object', properties: many(5_000, true) }
    }
  },
  '100 variants that are the whole': { type: 'object', properties: many(5_000, true), anyOf: times(100, itself) },
  'required fields that are the whole': {
    type: 'object',
    properties: many(1_000, itself),
    required: times(1_000, 0).map((_, index) => `p${index}`),
    anyOf: times(100, itself)
  },
  '100,000 types': { type: [...times(100_000, 'integer'), 'number'] }
}

for (const [name, schema] of Object.entries(bombs)) {
  t.test(`a form is made in a bearable time: ${name}`, async t => {
    const time = await bestTime(3_000, async () => cpuTime(() => draftsOf(structuredClone(schema))), 3)
    t.ok(time < 3_000, `${Math.round(time)} ms`)
  })
}

function draftsOf (schema: Json): Draft[] {
  return [
    newDraft(schema),
    newDraft({ type: 'object', required: ['a'], properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: schema } })
  ]
}

const least = async (work: () => void): Promise<number> => await bestTime(3_000, async () => cpuTime(work), 3)

const variantsOfItself = (count: number): Json => ({
  type: 'object',
  properties: { a: { anyOf: times(count, itself) } },
  anyOf: times(count, itself),
  default: {}
})

t.test('a variant is picked in a bearable time, also among those that contain themselves', async t => {
  for (const count of [2, 4, 50]) {
    const schema = variantsOfItself(count)
    const time = await least(() => pickVariant(times(count, schema), fromJson({ a: { a: { a: {} } } }), schema))
    t.ok(time < 3_000, `${count} variants: ${Math.round(time)} ms`)
  }
  const large = fromJson(Array.from({ length: 50_000 }, (_, index) => ({ index })))
  const value: Json = { enum: [Array.from({ length: 50_000 }, (_, index) => ({ index })), 1] }
  const time = await least(() => pickVariant(times(1_000, { anyOf: [value, value, value] }), large, true))
  t.ok(time < 3_000, `large choices: ${Math.round(time)} ms`)
})

t.test('a variant is picked by a choice that is an object', async t => {
  const schemas: Json[] = [{ const: { a: [2] } }, { enum: [null, { a: [1] }] }, { type: 'object' }]
  t.equal(pickVariant(schemas, fromJson({ a: [1] }), true), 1)
  t.equal(pickVariant(schemas, fromJson({ a: [3] }), true), 2)
  t.equal(pickVariant([{ enum: ['1'] }, { enum: [1] }], 1, true), 1)
})

t.test('a refusal is read in a bearable time', async t => {
  const refused = async (draft: Draft, message: string, data?: Json): Promise<number> =>
    await least(() => refusalErrors(draft, message, data))
  for (const count of [3, 50]) {
    t.ok((await refused(newDraft(variantsOfItself(count)), 'a must be number')) < 3_000, `${count} variants`)
  }
  const wide = newDraft({ type: 'object', properties: many(2_000, { type: 'string' }) })
  t.ok(await refused(wide, '; '.repeat(10_000)) < 3_000, 'many sentences')
  const long = withText(
    newDraft({
      type: 'object',
      properties: { ['n'.repeat(1_000_000)]: { type: 'object', properties: many(2_000, true) } }
    }),
    '{}'
  )
  t.ok(await refused(long, 'a must be number') < 3_000, 'a long name')
  t.equal(
    refusalErrors(wide, 'bad', times(100_000, { path: ['p1'], message: 'no' })).length,
    50,
    'a few errors are enough'
  )
})
