import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { compile, lazily, type Schema } from '../../../protocol/schema/schema.js'

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema'
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'

const KEYWORDS: Array<[keyword: string, schema: Schema, good: unknown, bad: unknown, expected: RegExp]> = [
  [
    '$defs and $ref',
    { $defs: { port: { type: 'integer' } }, properties: { port: { $ref: '#/$defs/port' } } },
    { port: 80 },
    { port: 'x' },
    /port must be integer/
  ],
  [
    '$anchor',
    { $defs: { p: { $anchor: 'port', type: 'integer' } }, properties: { port: { $ref: '#port' } } },
    { port: 80 },
    { port: 'x' },
    /port must be integer/
  ],
  [
    '$id and a reference to it',
    {
      $id: 'https://example.org/tool',
      $defs: { p: { type: 'integer' } },
      properties: { port: { $ref: 'https://example.org/tool#/$defs/p' } }
    },
    { port: 80 },
    { port: 'x' },
    /port/
  ],
  [
    'a schema that refers to itself',
    { properties: { child: { $ref: '#' }, n: { type: 'integer' } } },
    { child: { child: { n: 1 } } },
    { child: { child: { n: 'x' } } },
    /child\.child\.n must be integer/
  ],
  [
    'if, then and else',
    { if: { properties: { kind: { const: 'a' } } }, then: { required: ['forA'] }, else: { required: ['forB'] } },
    { kind: 'a', forA: 1 },
    { kind: 'b', forA: 1 },
    /forB/
  ],
  [
    'unevaluatedProperties',
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    { a: 1 },
    { a: 1, extra: 2 },
    /extra/
  ],
  [
    'prefixItems',
    { properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } } },
    { pair: ['a', 1] },
    { pair: ['a', 'b'] },
    /pair\.1 must be number/
  ],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }, /\bb\b/],
  [
    'additionalProperties',
    { properties: { a: {} }, additionalProperties: false },
    { a: 1 },
    { a: 1, extra: 1 },
    /"extra"/
  ],
  [
    'required',
    { properties: { o: { type: 'object', required: ['a'] } } },
    { o: { a: 1 } },
    { o: {} },
    /^o: "a" is missing/
  ],
  [
    'enum',
    { properties: { a: { enum: ['x', 'y'] } } },
    { a: 'x' },
    { a: 'z' },
    /a must be equal to one of the allowed values: "x", "y"/
  ],
  ['const', { properties: { a: { const: 3 } } }, { a: 3 }, { a: 4 }, /a must be equal to constant: 3/],
  [
    'a nested field',
    { properties: { a: { properties: { list: { items: { type: 'string' } } } } } },
    { a: { list: ['x'] } },
    { a: { list: ['x', 1] } },
    /a\.list\.1 must be string/
  ]
]

for (const [keyword, schema, good, bad, expected] of KEYWORDS) {
  t.test(`${keyword}: good values fit and the message about a bad one names the field`, async t => {
    const check = compile({ $schema: DRAFT_2020, type: 'object', ...schema })
    t.equal(check(good), undefined)
    t.match(check(bad), expected)
  })
}

t.test('a schema without a dialect is draft 2020-12', async t => {
  const check = compile({ prefixItems: [{ type: 'string' }] })
  t.equal(check(['a']), undefined)
  t.type(check([1]), 'string')
})

t.test('draft-07 is read by its own rules', async t => {
  const tuple = compile({ $schema: DRAFT_7, items: [{ type: 'string' }, { type: 'number' }], additionalItems: false })
  t.equal(tuple(['a', 1]), undefined)
  t.type(tuple(['a', 1, 2]), 'string', 'a tuple, as 2020-12 does not write it')
  const definitions = compile({
    $schema: DRAFT_7,
    definitions: { n: { type: 'integer' } },
    properties: { a: { $ref: '#/definitions/n' } }
  })
  t.match(definitions({ a: 'x' }), /a must be integer/)
})

t.test('a schema of TypeBox is a schema like any other', async t => {
  const check = compile(Type.Object({ when: Type.Union([Type.Literal('now'), Type.Integer({ minimum: 1 })]) }))
  t.equal(check({ when: 'now' }), undefined)
  t.equal(check({ when: 2 }), undefined)
  t.match(check({ when: 0 }), /when/)
})

for (const dialect of [
  'http://json-schema.org/draft-04/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'urn:mine',
  7
]) {
  t.test(`the dialect ${dialect} is refused by name`, async t => {
    t.throws(() => compile({ $schema: dialect, type: 'object' }), {
      message: new RegExp(`${String(dialect)} is not supported; use draft 2020-12 or draft-07`)
    })
  })
}

t.test('a schema that is not one is refused when it is compiled', async t => {
  t.throws(() => compile({ type: 'objekt' }), /type/)
  t.throws(() => compile({ properties: [] }), /properties/)
  t.throws(() => compile({ $ref: '#/$defs/missing' }), /#\/\$defs\/missing/)
})

t.test('a reference to another document is refused when compiled, without a connection', async t => {
  const connected: unknown[] = []
  t.intercept(net.Socket.prototype, 'connect', {
    value: function (...target: unknown[]) {
      connected.push(target)
      return this
    }
  })
  for (const $ref of [
    'http://127.0.0.1:9/schema.json',
    'https://example.org/a#/b',
    'file:///etc/passwd',
    'other.json'
  ]) {
    t.throws(() => compile({ properties: { a: { $ref } } }), { message: /can't resolve reference/ })
  }
  t.strictSame(connected, [])
})

t.test('two schemas may have the same $id', async t => {
  const first = compile({ $id: 'https://example.org/same', type: 'string' })
  const second = compile({ $id: 'https://example.org/same', type: 'number' })
  t.equal(first('a'), undefined)
  t.equal(second(1), undefined)
  t.type(second('a'), 'string')
})

t.test('values are judged, never changed', async t => {
  const value = { n: '1', extra: true }
  t.type(compile({ properties: { n: { type: 'number', default: 5 }, m: { default: 1 } } })(value), 'string')
  t.strictSame(value, { n: '1', extra: true })
})

t.test('formats are notes for people, not checks', async t => {
  t.equal(compile({ type: 'string', format: 'email' })('not an address'), undefined)
  t.equal(compile({ type: 'string', format: 'made-up' })('x'), undefined)
})

t.test('a field whose name has a slash or a tilde is named as it is', async t => {
  t.match(compile({ properties: { 'a/b~c': { type: 'string' } } })({ 'a/b~c': 1 }), /^a\/b~c must be string/)
})

t.test('a lazy check compiles when it is first used and when it first refuses, and then no more', async t => {
  let read = 0
  const schema = { get type () { read++; return 'string' } }
  const check = lazily(schema)
  t.equal(read, 0)
  t.equal(check('a'), undefined)
  t.type(check(1), 'string')
  const once = read
  t.equal(check('b'), undefined)
  t.type(check(2), 'string')
  t.equal(read, once)
})

t.test('an unused schema is collected', async t => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const schemas = Array.from({ length: 200 }, () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    compile(schema)({ a: 'x' })
    return new WeakRef(schema)
  })
  // A WeakRef is only cleared in a later turn than the one it was made in.
  for (let turn = 0; turn < 5; turn++) {
    await new Promise(resolve => setImmediate(resolve))
    gc()
  }
  const kept = schemas.filter(schema => schema.deref() !== undefined).length
  t.ok(kept < 100, `${kept} of 200 are still there; questions to clients make a new schema each time`)
})

t.test('a pattern is named by its format, and a long one is not repeated', async t => {
  const check = (schema: object): string | undefined =>
    compile({ type: 'object', properties: { a: { type: 'string', ...schema } } })({ a: 'x' })
  t.equal(check({ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), 'a must match format "date"')
  t.equal(check({ allOf: [{ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }] }), 'a must match format "date"')
  t.equal(check({ pattern: '^\\d+$' }), 'a must match pattern "^\\d+$"')
  t.equal(check({ pattern: `^(${'ab|'.repeat(100)}c)$` }), 'a must match the pattern of its schema')
})
