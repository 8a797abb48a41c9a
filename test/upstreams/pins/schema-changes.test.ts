import t from 'tap'
import { compareSchemas } from '../../../upstreams/pins/schema-changes.js'
import { bestTime, cpuTime } from '../../support/timing.js'

type Json = Record<string, unknown>

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const one = (schema: unknown, more: Json = {}): Json => object({ a: schema as Json }, more)

/** A schema with a shared one called x, and a reference. */
const sharing = (x: Json, $ref = '#/$defs/x'): Json => ({ ...one({ $ref }), $defs: { x } })
const nested = (z: Json): Json => ({ ...one({ $ref: '#/definitions/y~1' }), definitions: { 'y/': { items: { $ref: '#/definitions/z' } }, z } })

/** Schemas before and after: whether arguments that were valid may not be any more, and others may be. */
const CASES: Array<[name: string, before: unknown, after: unknown, verdict: 'same' | 'neither' | 'narrows' | 'widens' | 'both']> = [
  ['the order of members', { type: 'object', title: 'x' }, { title: 'x', type: 'object' }, 'same'],
  ['nothing', object({}), object({}), 'same'],
  ['a description', object({}, { description: 'a' }), object({}, { description: 'b' }), 'neither'],
  ['a title that is new', object({}), object({}, { title: 'b' }), 'neither'],
  ['a default', one({ default: 1 }), one({ default: 2 }), 'narrows'],
  ['a default that is gone', one({ default: 1 }), one({}), 'narrows'],
  ['a default that is new', one({}), one({ default: 1 }), 'neither'],
  ['examples', one({ examples: [1] }), one({ examples: [2] }), 'neither'],
  ['another dialect', object({}), object({}, { $schema: 'x' }), 'neither'],
  ['an extension', one({}), one({ 'x-header': 'a' }), 'neither'],
  ['a new argument', object({}), one({ type: 'string' }), 'neither'],
  ['a new argument where there were no others', object({}, { additionalProperties: false }), one({}), 'widens'],
  ['a new argument as others were', object({}, { additionalProperties: { type: 'string' } }), one({ type: 'string' }, { additionalProperties: { type: 'string' } }), 'neither'],
  ['a new argument unlike others', object({}, { additionalProperties: { type: 'string' } }), one({ type: 'null' }, { additionalProperties: { type: 'string' } }), 'both'],
  ['a new member of what had any', one({ type: 'object' }), one(one({ type: 'string' })), 'narrows'],
  ['a new member of what had some', one(object({ b: {} })), one(object({ a: { type: 'string' }, b: {} })), 'neither'],
  ['another dialect where references have siblings', one({ $ref: '#', minimum: 1 }), one({ $ref: '#', minimum: 1 }, { $schema: 'x' }), 'both'],
  ['a name where a reference uses one', one({ $ref: 'a:b' }, { $id: 'a:b' }), one({ $ref: 'a:b' }, { $id: 'a:c' }), 'both'],
  ['a name where none does', one({ $ref: '#' }, { $id: 'a:b' }), one({ $ref: '#' }, { $id: 'a:c' }), 'neither'],
  ['a definition that is gone, and its reference is not', sharing({}), one({ $ref: '#/$defs/x' }), 'both'],
  ['a bound of another draft', one({ exclusiveMinimum: true }), one({}), 'both'],
  ['an argument that is gone', one({ type: 'string' }), object({}), 'both'],
  ['an argument with another name', one({}), object({ b: {} }), 'both'],
  ['a new required argument', object({}), { ...one({}), required: ['a'] }, 'narrows'],
  ['an argument that is required now', one({}), { ...one({}), required: ['a'] }, 'narrows'],
  ['an argument that is optional now', { ...one({}), required: ['a'] }, one({}), 'widens'],
  ['the order of required', { required: ['a', 'b'] }, { required: ['b', 'a'] }, 'neither'],
  ['another type', one({ type: 'string' }), one({ type: 'number' }), 'both'],
  ['one type more', one({ type: 'string' }), one({ type: ['string', 'null'] }), 'widens'],
  ['one type less', one({ type: ['string', 'null'] }), one({ type: 'string' }), 'narrows'],
  ['integers of numbers', one({ type: 'number' }), one({ type: 'integer' }), 'narrows'],
  ['numbers of integers', one({ type: 'integer' }), one({ type: 'number' }), 'widens'],
  ['a type that is new', one({}), one({ type: 'string' }), 'narrows'],
  ['a type that is gone', one({ type: 'string' }), one({}), 'widens'],
  ['a value more', one({ enum: ['a'] }), one({ enum: ['a', 'b'] }), 'widens'],
  ['a value less', one({ enum: ['a', 'b'] }), one({ enum: ['a'] }), 'narrows'],
  ['other values', one({ enum: ['a'] }), one({ enum: ['b'] }), 'both'],
  ['the order of values', one({ enum: ['a', 'b'] }), one({ enum: ['b', 'a'] }), 'neither'],
  ['a list of values that is new', one({}), one({ enum: ['a'] }), 'narrows'],
  ['a list of values that is gone', one({ enum: ['a'] }), one({}), 'widens'],
  ['a constant', one({ const: 1 }), one({ const: 2 }), 'both'],
  ['a greater minimum', one({ minimum: 1 }), one({ minimum: 2 }), 'narrows'],
  ['a smaller minimum', one({ minimum: 2 }), one({ minimum: 1 }), 'widens'],
  ['a minimum that is new', one({}), one({ minimum: 2 }), 'narrows'],
  ['a minimum that is gone', one({ minimum: 2 }), one({}), 'widens'],
  ['a smaller maximum', one({ maxLength: 5 }), one({ maxLength: 4 }), 'narrows'],
  ['a greater maximum', one({ maxItems: 4 }), one({ maxItems: 5 }), 'widens'],
  ['a maximum that is new', one({}), one({ maximum: 4 }), 'narrows'],
  ['a bound that is none', one({}), one({ minimum: -9007199254740991, maximum: 9007199254740991 }), 'neither'],
  ['a pattern that is new', one({}), one({ pattern: '^a' }), 'narrows'],
  ['a pattern that is gone', one({ pattern: '^a' }), one({}), 'widens'],
  ['another pattern', one({ pattern: '^a' }), one({ pattern: '^b' }), 'both'],
  ['a format that is new', one({}), one({ format: 'uri' }), 'narrows'],
  ['no others any more', object({}), object({}, { additionalProperties: false }), 'narrows'],
  ['others, too', object({}, { additionalProperties: false }), object({}), 'widens'],
  ['others that are true in place of absent', object({}), object({}, { additionalProperties: true }), 'neither'],
  ['others of a type', object({}, { additionalProperties: true }), object({}, { additionalProperties: { type: 'string' } }), 'narrows'],
  ['items of a type', one({ items: { type: ['string', 'null'] } }), one({ items: { type: 'string' } }), 'narrows'],
  ['items with another text', one({ items: { description: 'a' } }), one({ items: { description: 'b' } }), 'neither'],
  ['items that are unique now', one({}), one({ uniqueItems: true }), 'narrows'],
  ['items that need not be unique', one({ uniqueItems: true }), one({ uniqueItems: false }), 'widens'],
  ['an alternative more', one({ anyOf: [{ type: 'string' }] }), one({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'widens'],
  ['an alternative less', one({ oneOf: [{ type: 'string' }, { type: 'null' }] }), one({ oneOf: [{ type: 'string' }] }), 'both'],
  ['an alternative with another text', one({ anyOf: [{ title: 'a' }] }), one({ anyOf: [{ title: 'b' }] }), 'neither'],
  ['a part more', one({ allOf: [] }), one({ allOf: [{ minimum: 1 }] }), 'narrows'],
  ['a part less', one({ allOf: [{ minimum: 1 }] }), one({ allOf: [] }), 'widens'],
  ['alternatives to what was allowed', one({ type: 'string' }), one({ anyOf: [{ type: 'null' }, { type: 'string' }] }), 'widens'],
  ['alternatives, of which one allows more', one({ enum: ['a'] }), one({ anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] }), 'widens'],
  ['alternatives, of which none allows as much', one({}), one({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'narrows'],
  ['alternatives of which one has to be the only one', one({ type: 'string' }), one({ oneOf: [{ type: 'string' }, {}] }), 'both'],
  ['alternatives with a condition for all', one({ type: 'string' }), one({ anyOf: [{ type: 'string' }, {}], minLength: 1 }), 'both'],
  ['an alternative that is the only one', one({ type: 'string' }), one({ anyOf: [{ type: 'string' }] }), 'same'],
  ['one alternative that is left', one({ anyOf: [{ type: 'string' }, { type: 'null' }] }), one({ type: 'string' }), 'narrows'],
  ['one alternative that is left, with more values', one({ anyOf: [{ const: 'a' }, { type: 'null' }] }), one({}), 'widens'],
  ['a definition behind a reference', sharing({ type: 'string' }), sharing({ type: 'number' }), 'both'],
  ['a definition behind a reference to a part', sharing({ a: { type: 'string' } }, '#/$defs/x/a'), sharing({ a: { type: 'number' } }, '#/$defs/x/a'), 'both'],
  ['a definition behind another one', nested({ type: 'string' }), nested({ type: 'number' }), 'both'],
  ['a definition that no reference leads to', sharing({ type: 'string' }, '#/$defs/y'), sharing({ type: 'number' }, '#/$defs/y'), 'neither'],
  ['a definition that a reference led to', sharing({ type: 'string' }), sharing({ type: 'number' }, '#/$defs/y'), 'both'],
  ['a definition beside references to the whole', sharing({ minimum: 1 }, '#'), sharing({ minimum: 2 }, '#'), 'neither'],
  ['a definition that a reference by name may lead to', sharing({ minimum: 1 }, '#x'), sharing({ minimum: 2 }, '#x'), 'narrows'],
  ['a definition that an encoded reference may lead to', sharing({ minimum: 1 }, '#/$defs/%78'), sharing({ minimum: 2 }, '#/$defs/%78'), 'narrows'],
  ['a definition under another base', { ...sharing({ minimum: 1 }, '#'), $id: 'a:b' }, { ...sharing({ minimum: 2 }, '#'), $id: 'a:b' }, 'narrows'],
  ['a definition that is new', {}, { $defs: { x: {} } }, 'neither'],
  ['another reference', one({ $ref: '#/$defs/x' }), one({ $ref: '#/$defs/y' }), 'both'],
  ['a condition that is new', {}, { if: {}, then: {} }, 'narrows'],
  ['nothing is valid any more', one(true), one(false), 'narrows'],
  ['something is valid now', one(false), one(true), 'widens'],
  ['a schema that is none', one({}), one([]), 'both'],
  ['a member called __proto__', object(JSON.parse('{"__proto__":{"type":"string"}}') as Json), object({}), 'both'],
  ['deep inside', one(one({ items: one({ maximum: 2 }) })), one(one({ items: one({ maximum: 1 }) })), 'narrows']
]

for (const [name, before, after, verdict] of CASES) {
  t.test(`a change of a schema is told: ${name}`, async t => {
    const changes = compareSchemas(before, after, 'inputSchema')
    const narrows = changes.some(change => change.narrows)
    const widens = changes.some(change => change.widens)
    const found = changes.length === 0
      ? 'same'
      : narrows ? widens ? 'both' : 'narrows' : widens ? 'widens' : 'neither'
    t.equal(found, verdict, JSON.stringify(changes))
  })
}

t.test('the place of a change is a JSON pointer, and its text says what it was and is', async t => {
  t.strictSame(
    compareSchemas(one({ maximum: 2, description: 'x' }), one({ maximum: 1, description: 'y' }), 'inputSchema'),
    [
      { path: 'inputSchema/properties/a/maximum', text: 'was 2 and is 1', narrows: true, widens: false },
      {
        path: 'inputSchema/properties/a/description',
        text: 'has another text',
        narrows: false,
        widens: false,
        isForReaders: true,
        texts: ['x', 'y']
      }
    ]
  )
  t.match(compareSchemas(object({ 'a/b~': {} }), object({}), 'in'), [{ path: 'in/properties/a~1b~0', text: 'is gone' }])
})

t.test('what became an alternative is told in a sentence, with the texts for readers', async t => {
  const before = { type: 'string', description: 'A path.', title: 'x' }
  const after = { anyOf: [{ type: 'string', description: 'A path.' }, { type: 'null' }], title: 'y' }
  t.match(compareSchemas(before, after, 'in'), [
    { path: 'in/anyOf', text: 'allows {"type":"null"}, too' },
    { path: 'in/title', text: 'has another text' }
  ])
  t.match(compareSchemas(after, before, 'in'), [
    { path: 'in/anyOf', text: 'no longer allows {"type":"null"}' },
    { path: 'in/title', text: 'has another text' }
  ])
})

t.test('what is only written in another way, or not used, is marked', async t => {
  const cases: Array<[before: Json, after: Json, text: string]> = [
    [{ required: ['a', 'b'] }, { required: ['b', 'a'] }, 'has another order'],
    [{ required: [] }, {}, 'means the same'],
    [{ enum: ['a', 'b'] }, { enum: ['b', 'a'] }, 'has another order'],
    [{}, { $schema: 'a:b' }, 'was absent and is "a:b"'],
    [{}, { maximum: 9007199254740991 }, 'was absent and is 9007199254740991'],
    [{ additionalProperties: true }, {}, 'was true and is absent'],
    [{ $defs: { x: {} } }, { $defs: { x: { type: 'string' } } }, 'was absent and is "string", where no reference leads']
  ]
  for (const [before, after, text] of cases) {
    const [change, ...more] = compareSchemas(before, after, 'in')
    t.match(change, { text, isFormal: true, texts: undefined }, text)
    t.strictSame(more, [])
  }
})

t.test('schemas of very many alternatives are compared in short time, and breaking where they are too large', async t => {
  const many = (keyword: string, count: number, wrap: (inner: Json) => Json): Json[] =>
    Array.from({ length: count }, (_, index) => wrap({ [keyword]: index }))
  const across = (count: number): [Json, Json] => [
    one({ anyOf: many('const', count, items => ({ items })) }),
    one({ items: { anyOf: many('const', count, ({ const: value }) => ({ const: -1 - Number(value) })) } })
  ]
  const lists = (count: number): Json[] =>
    many('const', 60, ({ const: first }) => ({ enum: [...Array(count).keys()].map(index => `${String(first)} ${index}`) }))
  const cases: Record<string, [Json, Json]> = {
    'few alternatives': across(60),
    'many alternatives': across(2_000),
    'long lists': [one({ anyOf: lists(60).map(items => ({ items })) }), one({ items: { anyOf: lists(61) } })],
    nested: [
      one({ anyOf: many('const', 60, a => one({ anyOf: many('const', 60, b => one({ ...a, items: b })) })) }),
      one(one(one({ anyOf: many('const', 60, a => ({ ...a, items: false })) })))
    ]
  }
  for (const [name, [before, after]] of Object.entries(cases)) {
    const ms = await bestTime(500, async () => cpuTime(() => compareSchemas(before, after, 'in')), 3)
    t.comment(`${name}: ${ms} ms`)
    t.ok(ms < 500, `${name}: ${ms} ms`)
    t.ok(compareSchemas(before, after, 'in').some(({ narrows }) => narrows), name)
  }
  const names = (prefix: string): Json =>
    Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`p${index}`, { description: prefix }]))
  t.strictSame(compareSchemas(object(names('a')), object(names('b')), 'in'), [
    { path: 'in', text: 'is too large to be compared', narrows: true, widens: true }
  ])
})
