import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { schemaErrors } from '../../../console/forms/check.js'
import { newDraft, withText } from '../../../console/forms/draft.js'
import { refusalErrors } from '../../../console/forms/refusal.js'

const errorsOf = (schema: Json, value: Json) => schemaErrors(value, structuredClone(schema))
const of = (member: Json): Json => ({ type: 'object', properties: { a: member } })

const rows: Array<[string, Json, Json, string, string]> = [
  ['a type', of({ type: 'integer' }), { a: 'x' }, '/a', 'This must be: whole number.'],
  ['a required field', { type: 'object', required: ['a'] }, {}, '/a', 'This is required.'],
  ['a required field with quotes in its name', { type: 'object', required: ['a"b'] }, {}, '/a"b', 'This is required.'],
  ['a minimum', of({ minimum: 3 }), { a: 1 }, '/a', 'This must be 3 or more.'],
  ['a length', of({ minLength: 1 }), { a: '' }, '/a', 'This needs at least 1 character.'],
  ['a number of items', of({ maxItems: 2 }), { a: [1, 2, 3] }, '/a', 'This may have at most 2 items.'],
  ['an item', of({ items: { type: 'string' } }), { a: ['x', 1] }, '/a/1', 'This must be: text.'],
  ['a choice', of({ enum: ['x', 'y'] }), { a: 'z' }, '/a', 'This must be one of "x", "y".'],
  ['a pattern', of({ pattern: '^x' }), { a: 'y' }, '/a', 'This must match the pattern ^x.'],
  ['a format', of({ type: 'string', format: 'email' }), { a: 'y' }, '/a', 'This must be an email address.'],
  [
    'a field too many',
    { type: 'object', additionalProperties: false },
    { a: 1 },
    '/a',
    'The schema does not allow this here.'
  ],
  [
    'through a reference',
    { ...(of({ $ref: '#/$defs/x' }) as object), $defs: { x: { minimum: 3 } } },
    { a: 1 },
    '/a',
    'This must be 3 or more.'
  ],
  [
    'a name with a slash',
    { properties: { 'a/b %': { type: 'string' } } },
    { 'a/b %': 1 },
    '/a~1b %',
    'This must be: text.'
  ],
  [
    'the variant that is meant',
    {
      oneOf: [
        { properties: { k: { const: 1 }, a: { type: 'string' } }, required: ['k', 'a'] },
        { properties: { k: { const: 2 }, b: { type: 'string' } }, required: ['k', 'b'] }
      ]
    },
    { k: 2, b: 3 },
    '/b',
    'This must be: text.'
  ],
  [
    'two equal items',
    of({ uniqueItems: true }),
    { a: [1, 2, 1] },
    '/a',
    'No two items may be the same: items 1 and 3 are.'
  ]
]

for (const [name, schema, value, at, message] of rows) {
  t.test(`an error is told in words at its field: ${name}`, async t => {
    t.same(errorsOf(schema, value), [{ at, message }])
  })
}

t.test('all errors are told, not only the first', async t => {
  t.same(
    errorsOf({ required: ['x', 'y'], properties: { z: { type: 'string' } } }, { z: 1 })
      ?.map(({ at }) => at)
      .sort(),
    ['/x', '/y', '/z']
  )
})

t.test('large values and schemas that contain themselves are checked', async t => {
  const tree: Json = {
    type: 'object',
    properties: { n: { type: 'integer' }, all: { type: 'array', items: { $ref: '#' } } }
  }
  const value: Json = { all: Array.from({ length: 5_000 }, () => ({ n: 1, all: [{ n: 2 }] })) }
  t.same(schemaErrors(value, tree), [])
  t.same(schemaErrors({ all: [{ all: [{ n: 'x' }] }] }, tree)?.map(({ at }) => at), ['/all/0/all/0/n'])
  const wide: Json = {
    properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
  }
  t.equal(schemaErrors({ p19999: 1 }, wide)?.length, 1)
})

t.test('a schema that cannot be followed says nothing', async t => {
  t.equal(schemaErrors(1, { $ref: 'https://example.com/x.json' }), undefined)
  t.equal(schemaErrors({ a: 1 }, { $ref: '#' }), undefined)
})

t.test('a refusal is shown at the field it names', async t => {
  const schema: Json = {
    type: 'object',
    required: ['op', 'list'],
    properties: {
      op: { type: 'string' },
      list: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } } } },
      'a.b': { type: 'string' },
      where: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    }
  }
  const draft = withText(newDraft(schema), '{"list":[{"n":"x"}],"where":{}}')
  const refused = (message: string, data?: Json) => refusalErrors(draft, message, data).map(({ at }) => at)
  t.same(
    refused('Invalid params: arguments of t: list.0.n must be number', {
      details: 'arguments of t: list.0.n must be number'
    }),
    ['/list/0/n']
  )
  t.same(refused('Invalid params: arguments of t: "op" is missing; where: "city" is missing'), ['/op', '/where/city'])
  t.same(refused('Invalid params: arguments of t: a.b must be string'), ['/a.b'])
  t.same(refused('it must NOT have additional properties: "z"'), [])
  t.same(refused('Unknown tool: x'), [])
  t.same(
    refused(
      'MCP error -32602: Invalid arguments for tool t: [\n {"code":"invalid_type","path":["list",0,"n"],"message":"Expected number"}\n]'
    ),
    ['/list/0/n']
  )
  t.same(refused('bad', { errors: [{ instancePath: '/op', message: 'is odd' }] }), ['/op'])
  t.same(refused('bad', [{ loc: ['where', 'city'], msg: 'Field required' }]), ['/where/city'])
  t.match(refusalErrors(draft, 'op must be one of: "a"'), [{ at: '/op', message: 'op must be one of: "a"' }])
})
