import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { readDraft, newDraft, withText, withValue, type Draft } from '../../../console/forms/draft.js'
import { blankValue } from '../../../console/forms/model/initial.js'
import { itemSchema, membersOf, withField } from '../../../console/forms/model/members.js'
import { numberFrom } from '../../../console/forms/model/number-text.js'
import { shapeOf } from '../../../console/forms/model/shape.js'
import { fromJson, namesOf, type Value } from '../../../console/forms/model/value.js'
import { pickVariant } from '../../../console/forms/model/variants.js'

type Edit = (schema: Json | undefined, root: Json, value: Value | undefined) => Value | undefined

const type = (text: string): Edit => (schema, root) => shapeOf(schema, root).kind === 'number' ? numberFrom(text) : text
const leaveOut: Edit = () => undefined
const setNull: Edit = () => null
const begin: Edit = (schema, root) => blankValue(schema, root)
const choose =
  (label: string): Edit =>
    (schema, root) =>
      fromJson(shapeOf(schema, root).choices.find(choice => choice.label === label)?.value as Json)
const check =
  (...labels: string[]): Edit =>
    (schema, root) =>
      shapeOf(schema, root)
        .choices.filter(({ label }) => labels.includes(label))
        .map(({ value }) => fromJson(value))
const variant =
  (name: string): Edit =>
    (schema, root) =>
      blankValue(shapeOf(schema, root).variants.find(one => one.name === name)?.schema, root)
const add: Edit = (schema, root, value) =>
  Array.isArray(value) ? [...value, blankValue(itemSchema(shapeOf(schema, root).schema, value.length), root)] : value

/** Edits one field as its control does. */
function edit (draft: Draft, at: string, change: Edit): Draft {
  const inside = (schema: Json | undefined, value: Value | undefined, [name, ...rest]: string[]): Value | undefined => {
    if (name === undefined) return change(schema, draft.schema, value)
    const shape = shapeOf(schema, draft.schema)
    if (shape.kind === 'variants') {
      const schemas = shape.variants.map(one => one.schema)
      return inside(schemas[pickVariant(schemas, value, draft.schema)], value, [name, ...rest])
    }
    if (Array.isArray(value)) {
      return value.with(Number(name), inside(itemSchema(shape.schema, Number(name)), value[Number(name)], rest) ?? null)
    }
    if (!(value instanceof Map)) throw new Error(`${at}: there is no ${name} in this form`)
    const member = membersOf(shape.schema, value).find(one => one.name === name)
    return withField(
      value,
      shape.schema,
      name,
      inside(member?.schema ?? shape.schema.additionalProperties, value.get(name), rest)
    )
  }
  return withValue(draft, inside(draft.schema, draft.value, namesOf(at)))
}

interface Row { schema: Json | undefined, edits: Array<[string, Edit]>, sent: string }

const node: Json = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    next: { $ref: '#/$defs/node' },
    all: { type: 'array', items: { $ref: '#/$defs/node' } }
  }
}
const shapes: Json = {
  oneOf: [
    {
      title: 'Circle',
      type: 'object',
      required: ['kind', 'radius'],
      properties: { kind: { const: 'circle' }, radius: { type: 'number' } }
    },
    { type: 'object', required: ['kind', 'side'], properties: { kind: { const: 'square' }, side: { type: 'number' } } }
  ]
}
const optional: Json = { type: 'object', properties: { a: { type: ['string', 'null'] } } }
const one = (a: Json): Json => ({ type: 'object', properties: { a } })

const rows: Record<string, Row> = {
  'nothing typed': { schema: { type: 'object', properties: { a: { type: 'string' } } }, edits: [], sent: '{}' },
  flat: {
    schema: {
      type: 'object',
      required: ['s', 'n'],
      properties: { s: { type: 'string' }, n: { type: 'number' }, i: { type: 'integer' }, b: { type: 'boolean' } }
    },
    edits: [
      ['/b', choose('false')],
      ['/s', type('x')],
      ['/n', type('1.50')],
      ['/i', type('-7')]
    ],
    sent: '{"s":"x","n":1.5,"i":-7,"b":false}'
  },
  absent: {
    schema: optional,
    edits: [
      ['/a', type('x')],
      ['/a', leaveOut]
    ],
    sent: '{}'
  },
  null: { schema: optional, edits: [['/a', setNull]], sent: '{"a":null}' },
  'empty text': { schema: optional, edits: [['/a', begin]], sent: '{"a":""}' },
  'empty text after a value': {
    schema: optional,
    edits: [
      ['/a', type('x')],
      ['/a', type('')]
    ],
    sent: '{"a":""}'
  },
  'nullable by anyOf, null by default': {
    schema: one({ anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }),
    edits: [],
    sent: '{"a":null}'
  },
  'nullable by anyOf, a value': {
    schema: one({ anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }),
    edits: [['/a', type('4')]],
    sent: '{"a":4}'
  },
  nested: {
    schema: {
      type: 'object',
      required: ['o'],
      properties: {
        o: {
          type: 'object',
          required: ['p'],
          properties: {
            p: { type: 'object', properties: { q: { type: 'string' } } },
            r: { type: 'object', properties: { s: { type: 'number' } } }
          }
        }
      }
    },
    edits: [
      ['/o/p/q', type('deep')],
      ['/o/r', begin],
      ['/o/r/s', type('0')]
    ],
    sent: '{"o":{"p":{"q":"deep"},"r":{"s":0}}}'
  },
  'a required list': {
    schema: { type: 'object', required: ['a'], properties: { a: { type: 'array', items: { type: 'string' } } } },
    edits: [],
    sent: '{"a":[]}'
  },
  'a list of objects': {
    schema: one({ type: 'array', items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } }),
    edits: [
      ['/a', begin],
      ['/a', add],
      ['/a', add],
      ['/a/0/n', type('1')],
      ['/a/1/n', type('2')]
    ],
    sent: '{"a":[{"n":1},{"n":2}]}'
  },
  'a list in a list': {
    schema: one({ type: 'array', items: { type: 'array', items: { type: 'number' } } }),
    edits: [
      ['/a', begin],
      ['/a', add],
      ['/a/0', add],
      ['/a/0/0', type('5')]
    ],
    sent: '{"a":[[5]]}'
  },
  tuple: {
    schema: one({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }),
    edits: [
      ['/a', begin],
      ['/a', add],
      ['/a', add],
      ['/a/0', type('x')],
      ['/a/1', type('2')]
    ],
    sent: '{"a":["x",2]}'
  },
  'enum, untitled': {
    schema: one({ type: 'string', enum: ['red', 'blue'] }),
    edits: [['/a', choose('blue')]],
    sent: '{"a":"blue"}'
  },
  'enum, titled': {
    schema: one({
      type: 'string',
      oneOf: [
        { const: '#f00', title: 'Red' },
        { const: '#00f', title: 'Blue' }
      ]
    }),
    edits: [['/a', choose('Blue')]],
    sent: '{"a":"#00f"}'
  },
  'enum, enumNames': {
    schema: one({ type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] }),
    edits: [['/a', choose('Blue')]],
    sent: '{"a":"b"}'
  },
  'enum, several untitled': {
    schema: one({ type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } }),
    edits: [['/a', check('c', 'a')]],
    sent: '{"a":["a","c"]}'
  },
  'enum, several titled': {
    schema: one({
      type: 'array',
      items: {
        anyOf: [
          { const: '1', title: 'One' },
          { const: '2', title: 'Two' }
        ]
      }
    }),
    edits: [['/a', check('Two')]],
    sent: '{"a":["2"]}'
  },
  'enum of numbers, null and objects': {
    schema: one({ enum: [1, null, { x: [1] }] }),
    edits: [['/a', choose('{"x":[1]}')]],
    sent: '{"a":{"x":[1]}}'
  },
  'oneOf at the root, first': { schema: shapes, edits: [['/radius', type('2')]], sent: '{"kind":"circle","radius":2}' },
  'oneOf at the root, second': {
    schema: shapes,
    edits: [
      ['', variant('kind: square')],
      ['/side', type('3')]
    ],
    sent: '{"kind":"square","side":3}'
  },
  'anyOf of required fields': {
    schema: {
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['name'] }]
    },
    edits: [
      ['', variant('with name')],
      ['/name', type('n')]
    ],
    sent: '{"name":"n"}'
  },
  'two types': {
    schema: one({ type: ['string', 'integer'] }),
    edits: [
      ['/a', variant('whole number')],
      ['/a', () => numberFrom('12')]
    ],
    sent: '{"a":12}'
  },
  '$ref that goes in circles': {
    schema: { $ref: '#/$defs/node', $defs: { node } },
    edits: [
      ['/name', type('1')],
      ['/next', begin],
      ['/next/name', type('2')],
      ['/next/all', begin],
      ['/next/all', add],
      ['/next/all/0/name', type('3')]
    ],
    sent: '{"name":"1","next":{"name":"2","all":[{"name":"3"}]}}'
  },
  '$ref to itself': { schema: one({ $ref: '#/properties/a' }), edits: [['/a', () => 'x']], sent: '{"a":"x"}' },
  'a circle of required fields': {
    schema: { type: 'object', required: ['a'], properties: { a: { $ref: '#' } } },
    edits: [['/a', leaveOut]],
    sent: '{}'
  },
  allOf: {
    schema: {
      allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/b' }],
      $defs: { b: { properties: { b: { type: 'boolean' } } } }
    },
    edits: [
      ['/a', type('x')],
      ['/b', choose('true')]
    ],
    sent: '{"a":"x","b":true}'
  },
  'a remote $ref': {
    schema: one({ $ref: 'https://example.com/never-fetched.json' }),
    edits: [['/a', () => new Map([['any', 1]])]],
    sent: '{"a":{"any":1}}'
  },
  additionalProperties: {
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    edits: [
      ['/x', type('1')],
      ['/y', type('2')]
    ],
    sent: '{"x":1,"y":2}'
  },
  'names of prototypes': {
    schema: {
      type: 'object',
      properties: JSON.parse(
        '{"__proto__":{"type":"string"},"constructor":{"type":"number"},"toString":{"type":"string"}}'
      )
    },
    edits: [
      ['/__proto__', type('p')],
      ['/constructor', type('1')]
    ],
    sent: '{"__proto__":"p","constructor":1}'
  },
  'names with slashes and dots': {
    schema: { type: 'object', properties: { 'a/b~c.d e%': { type: 'string' } } },
    edits: [['/a~1b~0c.d e%', type('x')]],
    sent: '{"a/b~c.d e%":"x"}'
  },
  defaults: {
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string', default: 'x' },
        b: { type: 'object', default: { c: [1, null] } },
        d: { type: 'boolean', default: false }
      }
    },
    edits: [],
    sent: '{"a":"x","b":{"c":[1,null]},"d":false}'
  },
  'what is fixed': {
    schema: { type: 'object', required: ['v'], properties: { v: { const: 2 }, w: { const: 'w' } } },
    edits: [],
    sent: '{"v":2}'
  },
  'a number that cannot be kept': {
    schema: one({ type: 'integer' }),
    edits: [['/a', type('12345678901234567890')]],
    sent: 'nothing'
  },
  'no fields': { schema: { type: 'object' }, edits: [], sent: '{}' },
  'true as a schema': { schema: true, edits: [['', () => fromJson([1])]], sent: '[1]' },
  'false as a schema': { schema: false, edits: [], sent: 'nothing' },
  'no schema': { schema: undefined, edits: [['', () => fromJson({ a: 1 })]], sent: '{"a":1}' },
  'no schema, nothing typed': { schema: undefined, edits: [], sent: 'nothing' },
  'a schema that is none': {
    schema: { type: 7, properties: 3, required: 'x', enum: 'y', oneOf: {}, allOf: 5 },
    edits: [['', () => fromJson({ a: 1 })]],
    sent: '{"a":1}'
  }
}

for (const [name, { schema, edits, sent }] of Object.entries(rows)) {
  t.test(`the form sends exactly what was meant: ${name}`, async t => {
    const draft = edits.reduce((before, [at, change]) => edit(before, at, change), newDraft(schema))
    const { value } = readDraft(draft)
    t.equal(JSON.stringify(value) ?? 'nothing', sent)
    if (value === undefined) return
    const raw = withText(newDraft(schema), draft.text)
    t.same(JSON.stringify(readDraft(raw).value), sent, 'the JSON beside it says the same')
    t.same(raw.value, draft.value, 'and makes the same form')
  })
}

t.test('what is right has no errors', async t => {
  const without = new Set([
    'a circle of required fields',
    'a schema that is none',
    '$ref to itself',
    'false as a schema'
  ])
  for (const [name, { schema, edits }] of Object.entries(rows)) {
    const draft = edits.reduce((before, [at, change]) => edit(before, at, change), newDraft(schema))
    const { value, errors } = readDraft(draft)
    if (value !== undefined && !without.has(name)) t.same(errors, [], name)
  }
})

t.test('a list of 10,000 choices and a schema of 50 levels are shapes, too', async t => {
  t.equal(shapeOf({ enum: Array.from({ length: 10_000 }, (_, index) => index) }, true).choices.length, 10_000)
  let deep: Json = { type: 'string' }
  for (let level = 0; level < 50; level++) deep = { type: 'object', required: ['a'], properties: { a: deep } }
  const { text } = newDraft(deep)
  t.equal(text.match(/\{/g)?.length, 9, 'no more than 8 levels are opened by themselves')
})

t.test('a bomb of references ends', async t => {
  const $defs: Record<string, Json> = { n0: { type: 'string' } }
  for (let level = 1; level < 40; level++) {
    $defs[`n${level}`] = { allOf: [{ $ref: `#/$defs/n${level - 1}` }, { $ref: `#/$defs/n${level - 1}` }] }
  }
  t.ok(shapeOf({ $ref: '#/$defs/n39' }, { $defs }))
})
