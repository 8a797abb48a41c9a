import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { ArgumentMap, changesOf } from '../../../../protocol/definitions/overrides/argument-map.js'
import { listedSchema } from '../../../../protocol/definitions/overrides/listed-schema.js'
import type { ToolOverride } from '../../../../protocol/definitions/overrides/override.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

type Json = Record<string, unknown>
type Arguments = NonNullable<ToolOverride['arguments']>

const text = { type: 'string' }
const closed = { type: 'object', additionalProperties: false }
const listed = (schema: Json, args: Arguments): Json => listedSchema(schema, changesOf(args)).schema

t.test('a fixed argument is gone, a renamed one has its new name, and defaults and descriptions are listed', t => {
  const schema = {
    ...closed,
    properties: { index: text, limit: { type: 'integer', description: 'How many' }, q: text },
    required: ['index', 'limit', 'q']
  }
  const args = { index: { value: 'users' }, limit: { default: 50, description: 'At most' }, q: { name: 'query' } }
  t.strictSame(listed(schema, args), {
    ...closed,
    properties: { limit: { type: 'integer', description: 'At most', default: 50 }, query: text },
    required: ['query']
  })
  t.strictSame(listed(schema, { limit: { required: false } }).required, ['index', 'q'])
  t.strictSame(listed(schema, { limit: { default: 1, required: true } }).required, ['index', 'q', 'limit'])
  t.strictSame(listed({ type: 'object', properties: { a: true } }, { a: { required: true, description: 'A' } }), {
    type: 'object', properties: { a: { description: 'A' } }, required: ['a']
  })
  t.end()
})

t.test('a schema that the root refers to is written with the new names, and is no definition any more', t => {
  const schema = {
    $ref: '#/definitions/Arguments',
    definitions: {
      Arguments: { type: 'object', properties: { a: { $ref: '#/definitions/Name' }, hidden: text }, required: ['a'] },
      Name: text
    }
  }
  const result = listed(schema, { a: { name: 'b' }, hidden: { value: 'x' } })
  t.strictSame(result, {
    type: 'object',
    properties: { b: { $ref: '#/definitions/Name' } },
    required: ['b'],
    definitions: { Name: text }
  })
  t.notMatch(JSON.stringify(result), 'hidden')
  t.end()
})

t.test('references to arguments and to the whole schema stay right', t => {
  const schema = {
    type: 'object',
    properties: {
      from: { type: 'object', properties: { city: text } },
      to: { $ref: '#/properties/from' },
      stop: { $ref: '#/properties/from/properties/city' },
      next: { $ref: '#' },
      default: { $ref: '#/properties/from' }
    }
  }
  t.strictSame(listed(schema, { from: { name: 'start' } }).properties, {
    start: schema.properties.from,
    to: { $ref: '#/properties/start' },
    stop: { $ref: '#/properties/start/properties/city' },
    next: { $ref: '#/$defs/original1' },
    default: { $ref: '#/properties/start' }
  })
  const fixed = listed(schema, { from: { value: {} } })
  t.doesNotThrow(() => new Ajv2020({ strict: false }).compile(fixed), 'no reference leads nowhere')
  t.notOk('from' in (fixed.properties as Json))
  t.end()
})

t.test('cases that a fixed value decides are decided', t => {
  const cases = {
    type: 'object',
    properties: { mode: { enum: ['read', 'write'] }, path: text, body: text },
    if: { properties: { mode: { const: 'write' } }, required: ['mode'] },
    then: { required: ['body'] },
    else: { required: ['path'] }
  }
  t.match(listed(cases, { mode: { value: 'write' } }), { required: ['body'], if: undefined, then: undefined })
  t.match(listed(cases, { mode: { value: 'read' } }), { required: ['path'], if: undefined, else: undefined })
  t.match(listed(cases, { mode: { name: 'how' } }).if, { properties: { how: { const: 'write' } }, required: ['how'] })
  const union = {
    type: 'object',
    anyOf: [
      { properties: { kind: { const: 'a' }, x: text }, required: ['kind', 'x'] },
      { properties: { kind: { const: 'b' }, y: text }, required: ['kind', 'y'] }
    ]
  }
  t.strictSame(listed(union, { kind: { value: 'b' } }).anyOf, [{ properties: { y: text }, required: ['y'] }])
  const { schema, misfits } = listedSchema(union, changesOf({ kind: { value: 'c' } }))
  t.strictSame([schema, [...misfits]], [{ type: 'object' }, ['kind']], 'a value that no case allows is told')
  t.end()
})

/** Schemas and overrides of their arguments `a`, `b` and `c`. */
const SCHEMAS: Json[] = [
  { ...closed, properties: { a: text, b: { type: 'integer' }, c: {} }, required: ['a', 'b'] },
  { type: 'object', properties: { a: text }, dependentRequired: { a: ['b'], b: ['c'] } },
  { type: 'object', dependentSchemas: { a: { required: ['c'], properties: { b: { type: 'integer' } } } } },
  { type: 'object', allOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: { type: 'integer' } } }] },
  { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }] },
  { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
  { type: 'object', not: { required: ['a', 'b'] } },
  { type: 'object', if: { properties: { a: { const: 'x' } }, required: ['a'] }, then: { required: ['b'] } },
  { type: 'object', if: { required: ['b'] }, then: { required: ['c'] }, else: { properties: { a: text } } },
  { type: 'object', minProperties: 2, maxProperties: 2 },
  { type: 'object', propertyNames: { enum: ['a', 'b', 'c'] } },
  { ...closed, $ref: '#/$defs/A', properties: { a: true, b: true, c: true }, $defs: { A: { required: ['a', 'c'] } } },
  {
    allOf: [{ $ref: '#/$defs/A' }],
    $defs: { A: { type: 'object', properties: { a: { $ref: '#/$defs/B' } } }, B: text }
  },
  {
    type: 'object',
    properties: { a: text, b: { $ref: '#/properties/a' }, c: { items: { $ref: '#' } } },
    required: ['a']
  }
]

const OVERRIDES: Arguments[] = [
  { a: { value: 'x' } },
  { a: { name: 'z' } },
  { a: { name: 'b' }, b: { name: 'a' } },
  { a: { value: 'x' }, b: { name: 'a' } },
  { a: { default: 'x' }, b: { name: 'y' } },
  { b: { value: 3 }, c: { name: 'd', description: 'D' } }
]

const VALUES = [undefined, 'x', 'y', 3]

/** Every object with some of these names. */
function objectsOf (names: string[]): Json[] {
  const [first, ...rest] = names
  if (first === undefined) return [{}]
  return objectsOf(rest).flatMap(object =>
    VALUES.map(value => (value === undefined ? object : { ...object, [first]: value })))
}

t.test('a schema whose references lead to ever more others takes no longer than its size allows', async t => {
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, index) => {
    const $ref = `#/$defs/d${index + 1}`
    return [`d${index}`, { allOf: [{ $ref }, { $ref }] }]
  }))
  const last = { properties: { index: text } }
  const schema = { type: 'object', properties: { index: text }, if: { $ref: '#/$defs/d0' }, $defs: { ...$defs, d40: last } }
  const took = await bestTime(2_000, async () => cpuTime(() => listed(schema, { index: { value: 'users' } })))
  t.ok(took < 2_000, `${took} ms`)
})

t.test('whatever its references, a schema becomes no longer than several times its length', async t => {
  const doubled = (levels: number, length: number): Json => {
    const $defs: Json = { d0: { properties: { index: text, big: { description: 'x'.repeat(length) } } } }
    for (let level = 1; level <= levels; level++) {
      $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] }
    }
    return { properties: { index: text, q: text }, $defs, dependentSchemas: { q: { $ref: `#/$defs/d${levels}` } } }
  }
  const chained = (length: number): Json => {
    const step = (at: number): Json => ({ allOf: [{ allOf: [{ allOf: [{ $ref: `#/$defs/d${at + 1}` }] }] }] })
    const $defs: Json = { [`d${length}`]: { properties: { index: text } } }
    for (let at = 0; at < length; at++) $defs[`d${at}`] = step(at)
    return { properties: { index: text, q: text }, $defs, dependentSchemas: { q: { $ref: '#/$defs/d0' } } }
  }
  for (const schema of [doubled(13, 2_000), doubled(13, 70_000), chained(400), chained(20_000)]) {
    const args = { index: { value: 'users' }, q: { name: 'query' } }
    const { schema: { properties, dependentSchemas }, isCut } = listedSchema(schema, changesOf(args))
    t.strictSame([properties, dependentSchemas, isCut], [{ query: text }, undefined, true])
  }
  const small = listedSchema(doubled(3, 10), changesOf({ index: { value: 'users' } }))
  t.strictSame([small.isCut, small.misfits.size], [false, 0])
  t.notMatch(JSON.stringify(small.schema), /index/)
  const unused = { ...chained(20_000), if: { $ref: '#/$defs/d20000' } }
  t.doesNotThrow(() => listedSchema({ ...unused, dependentSchemas: { q: true } }, changesOf({ q: { name: 'query' } })))
})

t.test('what no values fit, and references of odd characters, cost no more than their parts', async t => {
  const properties = { index: text, q: text }
  t.strictSame(listed({ type: 'object', properties, dependentRequired: { index: false } }, { index: { value: 'a' } }), {
    type: 'object'
  })
  t.doesNotThrow(() => listed(
    { type: 'object', properties: { ...properties, '\ud800': text, b: { $ref: '#/properties/\ud800' } } },
    { index: { value: 'a' } }
  ))
})

t.test('arguments fit the listed schema if, taken back, they fit the original', t => {
  const ajv = new Ajv2020({ strict: false, logger: false })
  let compared = 0
  for (const schema of SCHEMAS) {
    const original = ajv.compile(schema)
    for (const args of OVERRIDES) {
      const changes = changesOf(args)
      const { schema: rewritten, misfits } = listedSchema(schema, changes)
      // A default counts as a member, whether a caller sends it or not.
      if (misfits.size > 0 || ('minProperties' in schema && changes.defaults.size > 0)) continue
      const check = ajv.compile(rewritten)
      const map = new ArgumentMap(changes)
      const names = ['a', 'b', 'c'].flatMap(name => changes.fixed.has(name) ? [] : [changes.renamed.get(name) ?? name])
      for (const given of objectsOf(names)) {
        compared++
        const [here, there] = [check(given), original(map.toOwn(given))]
        if (here !== there) t.equal(here, there, JSON.stringify({ schema, args, given }))
      }
    }
  }
  t.ok(compared > 2_000, `${compared} compared`)
  t.end()
})
