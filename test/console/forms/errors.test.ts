import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { schemaErrors } from '../../../console/forms/check.js'
import { checkDraft, newDraft, withText } from '../../../console/forms/draft.js'
import { refusalErrors } from '../../../console/forms/refusal.js'

const errorsOf = (schema: Json, value: Json) => checkDraft(newDraft(schema, value)).errors
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
  ['a field too many', { type: 'object', additionalProperties: false }, { a: 1 }, '/a', 'The schema does not allow this here.'],
  ['through a reference', { ...of({ $ref: '#/$defs/x' }) as object, $defs: { x: { minimum: 3 } } }, { a: 1 }, '/a', 'This must be 3 or more.'],
  ['a name with a slash', { properties: { 'a/b %': { type: 'string' } } }, { 'a/b %': 1 }, '/a~1b %', 'This must be: text.'],
  ['the variant that is meant', { oneOf: [{ properties: { k: { const: 1 }, a: { type: 'string' } }, required: ['k', 'a'] }, { properties: { k: { const: 2 }, b: { type: 'string' } }, required: ['k', 'b'] }] }, { k: 2, b: 3 }, '/b', 'This must be: text.'],
  ['two equal items', of({ uniqueItems: true }), { a: [1, 2, 1] }, '/a', 'No two items may be the same: items 1 and 3 are.']
]

for (const [name, schema, value, at, message] of rows) {
  t.test(`an error is told in words at its field: ${name}`, async t => {
    t.same(errorsOf(schema, value), [{ at, message }])
  })
}

t.test('all errors are told, not only the first', async t => {
  t.same(errorsOf({ required: ['x', 'y'], properties: { z: { type: 'string' } } }, { z: 1 }).map(({ at }) => at).sort(), ['/x', '/y', '/z'])
})

t.test('patterns run neither on long texts nor without end', async t => {
  t.same(errorsOf(of({ pattern: '^x' }), { a: 'y'.repeat(1_001) }), [])
  t.equal(errorsOf(of({ pattern: '^x' }), { a: 'y'.repeat(1_000) }).length, 1)
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^((a+)x?)+$', '^(?:[a-z]+)*$', '(', '^(a{1,9}){9,}$']) t.same(errorsOf(of({ pattern }), { a: `${'a'.repeat(60)}!` }), [], pattern)
  t.equal(errorsOf(of({ pattern: '^(ab)+[c+*]$' }), { a: 'x' }).length, 1)
})

t.test('patterns with many ways to match do not run', async t => {
  const runs = (pattern: string) => errorsOf(of({ pattern }), { a: '!' }).length === 1
  const slow = ['^(aa?)+$', '^(a?){30}a{30}$', '^a*a*a*a*a*$', '^a*a*$', '^(a|b)?$', `^${'(a|a)'.repeat(30)}$`, `^${'a?'.repeat(30)}$`, '^(a{1,9}){2}$', '^(?:a+)?$', '^(a*)\\1$', '^(?<x>a*)\\k<x>$', '^a{1,500}a{1,500}a{1,500}$', '^a{5000}$', '^a{2,}b+$', 'a+|b+']
  for (const pattern of slow) t.notOk(runs(pattern), pattern)
  const quick = ['^[a-z]+$', '[a-z]+', '^\\d{4}-\\d{2}$', '^[A-Za-z0-9_-]{1,64}$', '^(GET|POST|PUT)$', '^v?\\d+$', '^(?:ab)+$', '^\\p{L}{2,}$', '^[(+*?]{2}$', '^\\(\\+\\)+$', '^\\\\1$', '^https?://x']
  for (const pattern of quick) t.ok(runs(pattern), pattern)
})

t.test('a slow pattern runs nowhere, whatever the members around it are called', async t => {
  const slow = { pattern: '^(a+)+$' }
  for (const name of ['const', 'enum', 'default', 'examples', 'pattern', 'format', '$ref']) {
    const schemas: Json[] = [
      { properties: { [name]: slow } },
      { patternProperties: { [name.replace('$', '')]: slow } },
      { $defs: { [name]: slow }, additionalProperties: { $ref: `#/$defs/${name}` } },
      { definitions: { [name]: slow }, additionalProperties: { $ref: `#/definitions/${name}` } },
      { dependentSchemas: { [name]: { additionalProperties: slow } } },
      { dependencies: { [name]: { additionalProperties: slow } } }
    ]
    for (const schema of schemas) t.same(errorsOf(schema, { [name]: 'b' }), [], JSON.stringify(schema))
    t.same(errorsOf({ dependentRequired: { [name]: ['other'] } }, { [name]: 'b' }).map(({ at }) => at), ['/other'])
  }
  for (const keyword of ['default', 'examples']) t.same(errorsOf({ [keyword]: slow, additionalProperties: { $ref: `#/${keyword}` } }, { a: 'b' }), [], keyword)
})

t.test('a schema that stands for billions of schemas is not checked', async t => {
  const names = Array.from({ length: 40 }, (_, level) => `a${level}`)
  const chain = (keyword: string, refer: (name: string) => Json) => Object.fromEntries(names.map((name, level) => [name, { $anchor: name, [keyword]: [refer(`a${level + 1}`), refer(`a${level + 1}`)] }]))
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    for (const to of ['#/$defs/', '#']) {
      const schema: Json = { $ref: `${to}a0`, $defs: { ...chain(keyword, name => ({ $ref: to + name })), a40: { type: 'string' } } }
      t.equal(schemaErrors(1, schema, { patterns: true }), undefined, `${keyword} ${to}`)
      t.same(errorsOf(schema, 1), [])
    }
  }
  const nested = names.reduce<Json>((inner, name) => ({ $id: `https://example.com/${name}`, not: inner }), true)
  t.equal(schemaErrors(1, { not: nested }, { patterns: true }), undefined)
})

t.test('large values and schemas that contain themselves are checked', async t => {
  const tree: Json = { type: 'object', properties: { n: { type: 'integer' }, all: { type: 'array', items: { $ref: '#' } } } }
  const value: Json = { all: Array.from({ length: 5_000 }, () => ({ n: 1, all: [{ n: 2 }] })) }
  t.same(schemaErrors(value, tree, { patterns: true }), [])
  t.same(schemaErrors({ all: [{ all: [{ n: 'x' }] }] }, tree, { patterns: true })?.map(({ at }) => at), ['/all/0/all/0/n'])
  const wide: Json = { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string' }])) }
  t.equal(schemaErrors({ p19999: 1 }, wide, { patterns: true })?.length, 1)
})

t.test('a schema that cannot be followed says nothing', async t => {
  t.equal(schemaErrors(1, { $ref: 'https://example.com/x.json' }, { patterns: true }), undefined)
  t.equal(schemaErrors({ a: 1 }, { $ref: '#' }, { patterns: true }), undefined)
})

t.test('a check leaves the schema as it was', async t => {
  const schema = Object.freeze({ type: 'object', properties: Object.freeze({ a: Object.freeze({ $ref: '#/$defs/b' }) }), $defs: { b: { pattern: '^x' } } })
  t.equal(schemaErrors({ a: 'y' }, schema, { patterns: true })?.length, 1)
  t.equal(JSON.stringify(schema), '{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"pattern":"^x"}}}')
})

t.test('a refusal is shown at the field it names', async t => {
  const schema: Json = { type: 'object', required: ['op', 'list'], properties: { op: { type: 'string' }, list: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } } } }, 'a.b': { type: 'string' }, where: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } } } }
  const draft = withText(newDraft(schema), '{"list":[{"n":"x"}],"where":{}}')
  const refused = (message: string, data?: Json) => refusalErrors(draft, message, data).map(({ at }) => at)
  t.same(refused('Invalid params: arguments of t: list.0.n must be number', { details: 'arguments of t: list.0.n must be number' }), ['/list/0/n'])
  t.same(refused('Invalid params: arguments of t: "op" is missing; where: "city" is missing'), ['/op', '/where/city'])
  t.same(refused('Invalid params: arguments of t: a.b must be string'), ['/a.b'])
  t.same(refused('it must NOT have additional properties: "z"'), [])
  t.same(refused('Unknown tool: x'), [])
  t.same(refused('MCP error -32602: Invalid arguments for tool t: [\n {"code":"invalid_type","path":["list",0,"n"],"message":"Expected number"}\n]'), ['/list/0/n'])
  t.same(refused('bad', { errors: [{ instancePath: '/op', message: 'is odd' }] }), ['/op'])
  t.same(refused('bad', [{ loc: ['where', 'city'], msg: 'Field required' }]), ['/where/city'])
  t.match(refusalErrors(draft, 'op must be one of: "a"'), [{ at: '/op', message: 'op must be one of: "a"' }])
})
