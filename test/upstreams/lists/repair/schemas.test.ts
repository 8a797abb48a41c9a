import t from 'tap'
import { repairEntry } from '../../../../upstreams/lists/repair/entry.js'
import { mirrorsOf } from '../../../../protocol/http/mirrored-headers.js'
import { cpuTime } from '../../../support/timing.js'

type Json = Record<string, unknown>

function inputOf (inputSchema: Json): { schema: Json, changes: readonly string[] } {
  const repaired = repairEntry('tools', { name: 'a', inputSchema }, 'safe')
  if (typeof repaired === 'string') throw new Error(repaired)
  return { schema: repaired.entry.inputSchema as Json, changes: repaired.changes }
}

t.test('an entry that every client takes is the very one that was sent', async t => {
  const entry = {
    name: 'a',
    inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { a: { $ref: '#/$defs/x' }, type: { type: ['string', 'null'], default: { type: 'Object' } } }, required: ['a'], $defs: { x: { oneOf: [{ const: null }, { type: 'string' }] } } },
    outputSchema: { type: 'object', definitions: { y: {} }, properties: { b: { $ref: '#/definitions/y' } } },
    execution: { taskSupport: 'forbidden' },
    annotations: { readOnlyHint: true },
    vendor: null
  }
  t.equal((repairEntry('tools', entry, 'safe') as { entry: unknown }).entry, entry)
})

t.test('what was changed is named with JSON pointers', async t => {
  const repaired = repairEntry('tools', { name: 'a', title: null, _meta: { mine: 1 }, inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', properties: { 'x/y': true } } }, 'safe')
  t.strictSame(repaired, {
    entry: {
      name: 'a',
      _meta: { mine: 1, 'patchbay/changed': ['/title: null dropped', '/inputSchema/$schema: dropped', '/inputSchema/properties/x~1y: true written as an object', '/inputSchema/type: "object" added'] },
      inputSchema: { type: 'object', properties: { 'x/y': {} } }
    },
    changes: ['/title: null dropped', '/inputSchema/$schema: dropped', '/inputSchema/properties/x~1y: true written as an object', '/inputSchema/type: "object" added']
  })
})

t.test('a union at the root becomes one list of properties', async t => {
  const { schema } = inputOf({
    anyOf: [
      { type: 'object', properties: { kind: { const: 'file' }, path: { type: 'string' } }, required: ['kind', 'path'], additionalProperties: false },
      { type: 'object', properties: { kind: { const: 'url' }, path: { type: 'number' }, url: { type: 'string' } }, required: ['kind', 'url'], additionalProperties: false }
    ]
  })
  t.strictSame(schema, {
    type: 'object',
    properties: { kind: { enum: ['file', 'url'] }, path: { anyOf: [{ type: 'string' }, { type: 'number' }] }, url: { type: 'string' } },
    required: ['kind'],
    additionalProperties: false
  })
})

t.test('a reference at the root is followed, and references to the former root stay right', async t => {
  const { schema } = inputOf({ $schema: 'http://json-schema.org/draft-07/schema#', $ref: '#/definitions/A', definitions: { A: { type: 'object', properties: { next: { $ref: '#/definitions/A' }, root: { $ref: '#' } } } } })
  t.match(schema, { type: 'object', properties: { next: { $ref: '#/$defs/A' }, root: { $ref: /^#\/\$defs\/part1$/ } }, $defs: { A: { properties: {} }, part1: { $ref: '#/$defs/A' } } })
})

t.test('words of older dialects are rewritten, names and values that look like them are not', async t => {
  const { schema } = inputOf({
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: {
      required: { type: 'number', minimum: 1, exclusiveMinimum: true },
      definitions: { type: 'array', items: [{ type: 'string' }] },
      id: { default: { id: 1, $schema: 'x', type: 'Object' }, enum: [{ nullable: true }] },
      ref: { $ref: '#/definitions/x', minLength: 3, description: 'kept' }
    },
    definitions: { x: { type: 'string' } },
    dependencies: { a: ['b'], c: { minProperties: 2 } }
  })
  t.strictSame(schema, {
    type: 'object',
    properties: {
      required: { type: 'number', exclusiveMinimum: 1 },
      definitions: { type: 'array', prefixItems: [{ type: 'string' }] },
      id: { default: { id: 1, $schema: 'x', type: 'Object' }, enum: [{ nullable: true }] },
      ref: { $ref: '#/$defs/x', description: 'kept' }
    },
    $defs: { x: { type: 'string' } },
    dependentRequired: { a: ['b'] },
    dependentSchemas: { c: { minProperties: 2 } }
  })
})

t.test('where a part allows more than before, nothing around it allows less', async t => {
  const { schema } = inputOf({ type: 'object', properties: { a: { not: { $ref: '#/none' } }, b: { oneOf: [{ type: 'any' }, { type: 'string' }] }, c: { if: { enum: null }, then: { type: 'string' } } } })
  t.strictSame(schema, { type: 'object', properties: { a: {}, b: { anyOf: [{}, { type: 'string' }] }, c: {} } })
})

t.test('arguments that are mirrored in headers stay so', async t => {
  const { schema } = inputOf({ allOf: [{ properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, at: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone' } } } } }] })
  t.strictSame(mirrorsOf(schema), [{ header: 'Mcp-Param-Region', path: ['region'] }, { header: 'Mcp-Param-Zone', path: ['at', 'zone'] }])
})

t.test('a schema of 10,000 values, a deep one and one full of references are repaired in one short turn', async t => {
  const wide = { properties: Object.fromEntries(Array.from({ length: 4_900 }, (_, index) => [`p${index}`, { type: 'String' }])) }
  let deep: Json = { type: 'Object' }
  for (let depth = 0; depth < 28; depth++) deep = { properties: { a: deep } }
  const links: Json = { $ref: '#/$defs/d0', $defs: Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`d${index}`, { anyOf: [{ $ref: `#/$defs/d${(index + 1) % 700}` }, { $ref: `#/$defs/d${(index + 7) % 700}` }] }])) }
  for (const schema of [wide, deep, links]) {
    const best = Math.min(...[1, 2, 3, 4, 5, 6].map(() => cpuTime(() => { inputOf(schema) })))
    t.ok(best < 60, `${best} ms of CPU time`)
    t.equal(inputOf(schema).schema.type, 'object')
  }
})

t.test('a schema that is too large to look into is listed as one of any arguments', async t => {
  const properties = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
  t.strictSame(inputOf({ type: 'object', properties }), { schema: { type: 'object', properties: {} }, changes: ['/inputSchema: too large to look into: any arguments are listed'] })
  const { entry } = repairEntry('tools', { name: 'a', inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties } }, 'safe') as { entry: Json }
  t.notOk('outputSchema' in entry)
})
