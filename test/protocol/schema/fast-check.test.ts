import { Ajv2020 } from 'ajv/dist/2020.js'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { fastCheck } from '../../../protocol/schema/fast-check.js'

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

// Each of them judges at least one of the values differently from the others.
const SCHEMAS: object[] = [
  {},
  { type: 'string' },
  { type: 'number' },
  { type: 'integer' },
  { type: 'boolean' },
  { type: 'null' },
  { type: 'array' },
  { type: 'object' },
  { type: ['string', 'null'] },
  { const: 1 },
  { const: null },
  { enum: ['a', 1, null, true] },
  { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 1 }] },
  { anyOf: [{ const: 'a' }, true] },
  { minLength: 1 },
  { minLength: 2 },
  { maxLength: 1 },
  { maxLength: 2, minLength: 2 },
  { pattern: '^a' },
  { pattern: '^.$' },
  { minimum: 1 },
  { maximum: 1.5 },
  { exclusiveMinimum: 1 },
  { exclusiveMaximum: 1 },
  { minItems: 1 },
  { maxItems: 1 },
  { items: { type: 'string' } },
  { items: true, minItems: 2 },
  { uniqueItems: true },
  { uniqueItems: false },
  { required: ['a'] },
  { required: [] },
  { required: ['toString'] },
  { properties: { a: { type: 'string' } } },
  { properties: { toString: { type: 'string' } } },
  { properties: { a: { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] } } },
  { properties: { a: true }, additionalProperties: false },
  { additionalProperties: false },
  { additionalProperties: true },
  { additionalProperties: { type: 'string' } },
  { patternProperties: { '^a': { type: 'string' } } },
  { patternProperties: { '^(.*)$': {} } },
  { patternProperties: { '^a$': {} }, additionalProperties: false },
  {
    properties: { b: {} },
    patternProperties: { '^a$': { type: 'string' } },
    additionalProperties: { type: 'integer' }
  },
  {
    title: 't',
    description: 'd',
    default: 3,
    examples: [1],
    deprecated: true,
    readOnly: true,
    writeOnly: false,
    format: 'email',
    $comment: 'c',
    'x-mcp-header': 'A',
    type: 'string'
  },
  Type.Object({
    when: Type.Union([Type.Literal('now'), Type.Integer({ minimum: 1 })]),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 2 }))
  }),
  Type.Record(Type.String(), Type.Integer())
]

const VALUES: unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  1,
  1.5,
  2,
  -3,
  1e300,
  NaN,
  Infinity,
  '',
  'a',
  'ab',
  'ba',
  '\u{1f600}',
  '\u{1f600}\u{1f600}',
  '\n',
  [],
  ['a'],
  ['a', 'b'],
  [1, 'a'],
  ['a', 'a'],
  [[]],
  [{}, {}],
  [{}, { a: 1 }],
  {},
  { a: 'x' },
  { a: 1 },
  { a: undefined },
  { a: { b: 1 } },
  { a: { b: 'x' } },
  { a: {} },
  { b: 1 },
  { b: 'x' },
  { a: 'x', b: 1 },
  { a: 'x', c: 'y' },
  { ab: 1 },
  { toString: 'x' },
  { when: 'now' },
  { when: 0 },
  { when: 1, tags: ['x'] },
  { when: 1, tags: [''] },
  { when: 1, tags: ['x', 'y', 'z'] }
]

t.test('a value that the fast check of a plain schema accepts is accepted by Ajv', async t => {
  for (const schema of SCHEMAS) {
    const [fits, judge] = [fastCheck(schema), ajv.compile(schema)]
    t.ok(fits, JSON.stringify(schema))
    const lax = VALUES.filter(value => fits?.(value) === true && !judge(value))
    t.strictSame(lax, [], `nothing is taken that ${JSON.stringify(schema)} refuses`)
  }
})

t.test('nearly everything that Ajv lets through is let through without it', async t => {
  for (const schema of SCHEMAS) {
    const [fits, judge] = [fastCheck(schema), ajv.compile(schema)]
    const strict = VALUES.filter(value => fits?.(value) === false && judge(value))
    t.ok(strict.every(isLeftToAjv), `${JSON.stringify(schema)} takes ${JSON.stringify(strict)}`)
  }
})

const OTHERS: unknown[] = [
  { $ref: '#' },
  { $id: 'urn:x' },
  { $defs: {} },
  { if: {} },
  { allOf: [{}] },
  { not: {} },
  { dependentRequired: {} },
  { prefixItems: [] },
  { propertyNames: {} },
  { type: 'objekt' },
  { type: 'constructor' },
  { type: [] },
  { type: ['string', 'string'] },
  { type: 1 },
  { constructor: 1 },
  { toString: 1 },
  { properties: [] },
  { properties: { a: 1 } },
  { properties: JSON.parse('{ "__proto__": {} }') },
  { required: 'a' },
  { required: ['a', 'a'] },
  { required: [1] },
  { enum: [] },
  { enum: 'a' },
  { enum: [{}] },
  { const: {} },
  { const: undefined },
  { anyOf: [] },
  { anyOf: {} },
  { minLength: -1 },
  { minLength: '1' },
  { maximum: '1' },
  { minimum: NaN },
  { pattern: '(' },
  { pattern: 1 },
  { patternProperties: { '(': {} } },
  { items: [] },
  { items: false },
  { uniqueItems: 1 },
  { title: 1 },
  { description: undefined },
  { examples: 'a' },
  { unknown: true },
  { properties: { a: { $schema: 'x' } } },
  false,
  null,
  'string',
  []
]

t.test('an uncommon or wrong schema is left to Ajv', async t => {
  for (const schema of OTHERS) t.equal(fastCheck(schema), undefined, JSON.stringify(schema))
})

t.test('a schema that contains itself is left to Ajv', async t => {
  const schema: Record<string, unknown> = {}
  schema.properties = { schema }
  t.equal(fastCheck(schema), undefined)
})

// Characters of two units are counted and objects are compared by Ajv, and numbers that JSON cannot write are its own
// affair.
function isLeftToAjv (value: unknown): boolean {
  if (Array.isArray(value)) return value.some(one => typeof one === 'object')
  return typeof value === 'string' ? /^\p{Emoji}+$/u.test(value) : typeof value === 'number' && !Number.isFinite(value)
}
