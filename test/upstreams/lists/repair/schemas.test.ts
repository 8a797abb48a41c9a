import t from 'tap'
import { repairEntry } from '../../../../upstreams/lists/repair/entry.js'
import { mirrorsOf } from '../../../../protocol/http/mirrored-headers.js'
import { bestTime, cpuTime } from '../../../support/timing.js'

type Json = Record<string, unknown>

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const by = (count: number, make: (index: number) => [string, unknown]): Json => Object.fromEntries(times(count, make))

/** Definitions that refer to each other without end. */
const ring = (count: number): Json =>
  by(count, index => [
    `d${index}`,
    { anyOf: [{ $ref: `#/$defs/d${(index + 1) % count}` }, { $ref: `#/$defs/d${(index + 7) % count}` }] }
  ])

function inputOf (inputSchema: Json): { schema: Json, changes: readonly string[] } {
  const repaired = repairEntry('tools', { name: 'a', inputSchema }, 'safe')
  if (typeof repaired === 'string') throw new Error(repaired)
  return { schema: repaired.entry.inputSchema as Json, changes: repaired.changes }
}

t.test('an entry that every client takes is the very one that was sent', async t => {
  const entry = {
    name: 'a',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' }, type: { type: ['string', 'null'], default: { type: 'Object' } } },
      required: ['a'],
      $defs: { x: { oneOf: [{ const: null }, { type: 'string' }] } }
    },
    outputSchema: { type: 'object', definitions: { y: {} }, properties: { b: { $ref: '#/definitions/y' } } },
    execution: { taskSupport: 'forbidden' },
    annotations: { readOnlyHint: true },
    vendor: null
  }
  t.equal((repairEntry('tools', entry, 'safe') as { entry: unknown }).entry, entry)
})

t.test('what was changed is named with JSON pointers', async t => {
  const repaired = repairEntry(
    'tools',
    {
      name: 'a',
      title: null,
      _meta: { mine: 1 },
      inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', properties: { 'x/y': true } }
    },
    'safe'
  )
  t.strictSame(repaired, {
    entry: {
      name: 'a',
      _meta: {
        mine: 1,
        'patchbay/changed': [
          '/title: null dropped',
          '/inputSchema/$schema: dropped',
          '/inputSchema/properties/x~1y: true written as an object',
          '/inputSchema/type: "object" added'
        ]
      },
      inputSchema: { type: 'object', properties: { 'x/y': {} } }
    },
    changes: [
      '/title: null dropped',
      '/inputSchema/$schema: dropped',
      '/inputSchema/properties/x~1y: true written as an object',
      '/inputSchema/type: "object" added'
    ]
  })
})

t.test('a union at the root becomes one list of properties', async t => {
  const { schema } = inputOf({
    anyOf: [
      {
        type: 'object',
        properties: { kind: { const: 'file' }, path: { type: 'string' } },
        required: ['kind', 'path'],
        additionalProperties: false
      },
      {
        type: 'object',
        properties: { kind: { const: 'url' }, path: { type: 'number' }, url: { type: 'string' } },
        required: ['kind', 'url'],
        additionalProperties: false
      }
    ]
  })
  t.strictSame(schema, {
    type: 'object',
    properties: {
      kind: { enum: ['file', 'url'] },
      path: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      url: { type: 'string' }
    },
    required: ['kind'],
    additionalProperties: false
  })
})

t.test('not, enum and const at the root are dropped, and stay in its parts', async t => {
  const parts = { a: { type: 'string', not: { const: 'x' } } }
  const { schema, changes } = inputOf({
    type: 'object',
    properties: parts,
    not: { required: ['z'] },
    enum: [{ a: 'y' }],
    const: { a: 'y' }
  })
  t.strictSame(schema, { type: 'object', properties: parts })
  t.strictSame(changes, ['/inputSchema: not, enum, const at the root dropped'])
})

t.test('a reference at the root is followed, and references to the former root stay right', async t => {
  const { schema } = inputOf({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $ref: '#/definitions/A',
    definitions: { A: { type: 'object', properties: { next: { $ref: '#/definitions/A' }, root: { $ref: '#' } } } }
  })
  t.match(schema, {
    type: 'object',
    properties: { next: { $ref: '#/$defs/A' }, root: { $ref: /^#\/\$defs\/part1$/ } },
    $defs: { A: { properties: {} }, part1: { $ref: '#/$defs/A' } }
  })
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
  const { schema } = inputOf({
    type: 'object',
    properties: {
      a: { not: { $ref: '#/none' } },
      b: { oneOf: [{ type: 'any' }, { type: 'string' }] },
      c: { if: { enum: null }, then: { type: 'string' } }
    }
  })
  t.strictSame(schema, { type: 'object', properties: { a: {}, b: { anyOf: [{}, { type: 'string' }] }, c: {} } })
})

t.test(
  'a word that is newer than its dialect may be obeyed by the server: nothing around it allows less without it',
  async t => {
    const { schema } = inputOf({
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'object',
      properties: { a: { oneOf: [{ const: 1 }, { type: 'number' }] } }
    })
    t.strictSame(schema, { type: 'object', properties: { a: { anyOf: [{}, { type: 'number' }] } } })
  }
)

t.test('arguments that are mirrored in headers stay so', async t => {
  const { schema } = inputOf({
    allOf: [
      {
        properties: {
          region: { type: 'string', 'x-mcp-header': 'Region' },
          at: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone' } } }
        }
      }
    ]
  })
  t.strictSame(mirrorsOf(schema), [
    { header: 'Mcp-Param-Region', path: ['region'] },
    { header: 'Mcp-Param-Zone', path: ['at', 'zone'] }
  ])
})

t.test('a large schema and a deep one are repaired, not given up', async t => {
  const wide = { properties: by(2_400, index => [`p${index}`, { type: 'String' }]) }
  let deep: Json = { type: 'Object' }
  for (let depth = 0; depth < 28; depth++) deep = { properties: { a: deep } }
  for (const schema of [wide, deep, { $ref: '#/$defs/d0', $defs: ring(400) }]) {
    t.notMatch(inputOf(schema).changes.join(), /too large/)
  }
})

/**
 * The most time that a repair may take, as a multiple of reading and writing a schema of 5,000 values: it does not
 * depend on the machine.
 */
const MAX_RATIO = 15

/** The least CPU time of reading and writing the largest schema that is looked into, in milliseconds. */
async function referenceTime (): Promise<number> {
  const schema = { properties: by(2_400, index => [`p${index}`, { type: 'String' }]) }
  return await bestTime(0, async () => cpuTime(() => { JSON.parse(JSON.stringify(schema)) }), 20)
}

const LONG = 'n'.repeat(150_000)

/** Schemas in schemas, each with a long property name and a name of its own, and references to all of them. */
function nested (length: number, innermost: Json, references: number, id?: string): Json {
  let properties = innermost
  for (let level = 0; level < 28; level++) {
    properties = {
      ['n'.repeat(length)]: { ...(id === undefined ? {} : { $id: id }), $anchor: `a${level}`, properties }
    }
  }
  return {
    type: 'object',
    properties: { ...properties, ...by(references, index => [`r${index}`, { $ref: `#a${index}` }]) }
  }
}

const DRAFT = { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }

/** Schemas that are much work, made anew for each attempt: V8 remembers regular expressions. */
const HOSTILE: Record<string, (attempt: number) => Json> = {
  'as many values as are looked into': () => ({ properties: by(2_400, index => [`p${index}`, { type: 'String' }]) }),
  'old words': () => ({
    ...DRAFT,
    properties: by(1_200, index => [`p${index}`, { nullable: true, type: 'String', title: null }])
  }),
  'references in a ring': () => ({ $ref: '#/$defs/d0', $defs: ring(400) }),
  'circles of references': () => ({
    type: 'object',
    properties: by(800, index => [`p${index}`, { $ref: `#/properties/p${index ^ 1}` }])
  }),
  'references to nothing': () => ({
    type: 'object',
    properties: by(900, index => [`p${index}`, { $ref: `#/$defs/${index}` }])
  }),
  'references to what is no schema': () => ({
    type: 'object',
    properties: by(700, index => [`p${index}`, { $ref: `#/x/y${index}` }]),
    x: by(700, index => [`y${index}`, { a: 1 }])
  }),
  'references from a long name': () => ({
    type: 'object',
    $id: `https://example.com/${'x/'.repeat(60_000)}`,
    properties: by(900, index => [`p${index}`, { $ref: `o${index}` }])
  }),
  'many names': () => ({
    type: 'object',
    properties: by(900, index => [`p${index}`, { $id: `https://example.com/${index}` }])
  }),
  'branches with the same properties': () => ({
    anyOf: times(190, branch => ({ properties: by(10, index => [`p${index}`, { title: `t${branch}` }]) }))
  }),
  'branches with other properties': () => ({
    anyOf: times(190, branch => ({ properties: by(10, index => [`p${branch}_${index}`, {}]) }))
  }),
  'parts with other properties': () => ({
    allOf: times(190, part => ({ properties: by(10, index => [`p${part}_${index}`, {}]) }))
  }),
  'parts with other unknown keywords': () => ({
    allOf: times(190, part => by(20, index => [`x-${part}-${index}`, 1]))
  }),
  'parts beside many unknown keywords': () => ({
    ...by(2_000, index => [`x-${index}`, 1]),
    allOf: times(190, part => ({ properties: { [`p${part}`]: {} } }))
  }),
  'a part that is repeated beside many properties': () => ({
    properties: by(1_000, index => [`p${index}`, {}]),
    allOf: times(190, () => ({ $ref: '#/$defs/a' })),
    $defs: { a: { properties: by(1_000, index => [`q${index}`, {}]) } }
  }),
  'long lists of values': () => ({
    anyOf: times(2, branch => ({ properties: { a: { enum: times(9_000, index => index * 2 + branch) } } }))
  }),
  'long lists of names': () => ({ anyOf: times(190, () => ({ required: times(100, index => `n${index}`) })) }),
  patterns: attempt => ({ type: 'object', patternProperties: by(2_400, index => [`^(a|b)${attempt}_${index}$`, {}]) }),
  'classes of characters': attempt => ({
    type: 'object',
    properties: { a: { pattern: `${attempt}${'[\\p{L}\\P{L}]'.repeat(8_000)}` } }
  }),
  'many classes of characters': attempt => ({
    type: 'object',
    properties: by(900, index => [`p${index}`, { pattern: `${attempt}_${index}${'[\\p{L}\\P{L}]'.repeat(70)}` }])
  }),
  'long classes': attempt => ({
    type: 'object',
    properties: by(40, index => [
      `p${index}`,
      {
        pattern: `[${attempt}${String.fromCharCode(...times(900, at => 256 + 7 * ((at * 7_919 + index * 31) % 5_000)))}]`
      }
    ])
  }),
  'short patterns': attempt => ({
    type: 'object',
    properties: by(2_000, index => [`p${index}`, { pattern: `${attempt}_${index}` }])
  }),
  'references to parts below a long name': () => ({
    type: 'object',
    properties: {
      [LONG]: { properties: by(500, index => [`a${index}`, { $anchor: `a${index}` }]) },
      ...by(500, index => [`b${index}`, { $ref: `#a${index}` }])
    }
  }),
  'references to one part below a long name': () => ({
    type: 'object',
    properties: { [LONG]: { $anchor: 'a', properties: by(700, index => [`p${index}`, { $ref: '#a' }]) } }
  }),
  'references to parts in parts with long names': () =>
    nested(1_001, { a: { enum: times(20_000, index => `value${index}`) } }, 28),
  'booleans below a long name': () => ({
    type: 'object',
    properties: { [LONG]: { properties: by(1_200, index => [`a${index}`, { properties: { x: true } }]) } }
  }),
  'long names in long names': () =>
    nested(
      10,
      by(900, index => [`p${index}`, { $ref: `o${index}` }]),
      28,
      `${'x'.repeat(490)}/`
    ),
  'large unknown keywords': () => ({ type: 'object', 'x-a': by(9_000, index => [`k${index}`, {}]) }),
  'many unknown keywords': () => ({ type: 'object', ...by(4_000, index => [`x-${index}`, { a: {} }]) })
}

t.test('the worst that a server can list is repaired or given up in a short time of one turn', async t => {
  const reference = await referenceTime()
  for (const [name, make] of Object.entries(HOSTILE)) {
    let made = 0
    const attempt = async (): Promise<number> => {
      const schema = make(made++)
      return (
        cpuTime(() => {
          repairEntry('tools', { name: 'a', inputSchema: schema, outputSchema: schema }, 'safe')
        }) / reference
      )
    }
    const ratio = await bestTime(MAX_RATIO, attempt, 20)
    t.ok(ratio < MAX_RATIO, `${name}: ${ratio.toFixed(1)} times as long as the reference`)
    t.equal(inputOf(make(made)).schema.type, 'object')
  }
})

t.test('many parts of a root are joined, each of them once', async t => {
  for (const name of [
    'parts with other properties',
    'parts with other unknown keywords',
    'parts beside many unknown keywords'
  ]) {
    const { schema, changes } = inputOf(HOSTILE[name]?.(0) ?? {})
    t.notMatch(changes.join(), /too large/, name)
    t.notOk('allOf' in schema)
  }
})

t.test('more values or references than are looked into are given up', async t => {
  const many = { type: 'object', properties: by(10_000, index => [`p${index}`, {}]) }
  t.match(
    inputOf(many),
    { schema: { type: 'object', properties: {} }, changes: [/too large to look into/] },
    'ten thousand values'
  )
  const refs = { type: 'object', properties: by(3_000, index => [`p${index}`, { $ref: '#' }]) }
  t.match(
    inputOf(refs),
    { schema: { type: 'object', properties: {} }, changes: [/too large to look into/] },
    'three thousand references'
  )
})

t.test('a schema that is too large to look into is listed as one of any arguments', async t => {
  const properties = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
  t.strictSame(inputOf({ type: 'object', properties }), {
    schema: { type: 'object', properties: {} },
    changes: ['/inputSchema: too large to look into: any arguments are listed']
  })
  const { entry } = repairEntry(
    'tools',
    { name: 'a', inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties } },
    'safe'
  ) as { entry: Json }
  t.notOk('outputSchema' in entry)
})

t.test('a pattern that is too long to look into is dropped, and nothing around it allows less', async t => {
  const long = 'a'.repeat(1_001)
  const { schema, changes } = inputOf({
    type: 'object',
    properties: {
      a: { type: 'string', pattern: long },
      b: { not: { pattern: long } },
      c: { patternProperties: { [long]: {} }, additionalProperties: false, unevaluatedProperties: false },
      d: { oneOf: [{ pattern: long }, { type: 'string' }] }
    }
  })
  t.strictSame(schema, {
    type: 'object',
    properties: { a: { type: 'string' }, b: {}, c: {}, d: { anyOf: [{}, { type: 'string' }] } }
  })
  t.equal(changes[0], '/inputSchema/properties/a/pattern: dropped, because its patterns are too long to look into')
})

t.test('patterns of all schemas of an entry are looked into up to a number of characters', async t => {
  const patterns = (count: number, length: number): Json => ({
    type: 'object',
    properties: by(count, index => [`p${index}`, { pattern: `${index}${'a'.repeat(length)}` }])
  })
  t.strictSame(inputOf(patterns(18, 980)).changes, [])
  t.match(inputOf(patterns(30, 980)).changes.at(-1), /too long to look into/)
})

t.test('patterns with classes of Unicode are read as V8 does', async t => {
  const right = [
    '^[\\p{L}\\p{N} _-]+$',
    '\\P{Script=Greek}',
    '[^\\p{Lu}]',
    '\\\\p{x}'.replace('{x}', ''),
    '(?<a>\\p{ASCII})'
  ]
  const wrong = ['\\p{Nope}', '\\p', '\\p{}', '[\\p{L}-z]', '\\p{L', '\\\\p{x']
  for (const pattern of right) {
    t.strictSame(inputOf({ type: 'object', properties: { a: { pattern } } }).changes, [], pattern)
  }
  for (const pattern of wrong) {
    t.match(inputOf({ type: 'object', properties: { a: { pattern } } }).changes, [/cannot be read/], pattern)
  }
})

t.test('what is repaired is not much longer than what the server sent', async t => {
  const lengthOf = (schema: Json): number => JSON.stringify(schema).length
  const growing = [
    HOSTILE['references to parts below a long name'],
    HOSTILE['references to one part below a long name'],
    HOSTILE['references to parts in parts with long names'],
    HOSTILE['references in a ring']
  ]
  for (const make of growing) {
    const schema = make?.(0) ?? {}
    t.ok(lengthOf(inputOf(schema).schema) < 3 * lengthOf(schema) + 5_000)
  }
  const deep = by(60, index => [`r${index}`, { $ref: '#deep' }])
  let properties: Json = { a: { $anchor: 'deep' } }
  for (let level = 0; level < 15; level++) properties = { [`a property with a long name ${level}`]: { properties } }
  t.match(
    inputOf({ type: 'object', properties: { ...properties, ...deep } }).changes,
    [/too large/],
    'references that are longer than the rest'
  )
})

t.test('a part below a long name is put into $defs, once for all references to it', async t => {
  const name = 'n'.repeat(2_000)
  const { schema } = inputOf({
    type: 'object',
    properties: {
      [name]: { $anchor: 'a', type: 'string', properties: { x: { $anchor: 'b' } } },
      ...by(3, index => [`p${index}`, { $ref: '#a' }]),
      q: { $ref: '#b' }
    }
  })
  const part = { type: 'string', properties: { x: {} } }
  t.strictSame(schema, {
    type: 'object',
    properties: {
      [name]: part,
      ...by(3, index => [`p${index}`, { $ref: '#/$defs/part1' }]),
      q: { $ref: '#/$defs/part1/properties/x' }
    },
    $defs: { part1: part }
  })
})

t.test('branches whose references have the same text, but other targets, are different', async t => {
  const branch = (name: string, type: string): Json => ({
    $id: `https://example.com/${name}/`,
    properties: { x: { $ref: '#/$defs/t' } },
    $defs: { t: { type } }
  })
  const { schema } = inputOf({ type: 'object', anyOf: [branch('a', 'string'), branch('b', 'number')] })
  t.match(schema, {
    properties: { x: { anyOf: [{ $ref: '#/$defs/part1' }, { $ref: '#/$defs/part2' }] } },
    $defs: { part1: { type: 'string' }, part2: { type: 'number' } }
  })
})

t.test('branches whose references have other texts, but the same target, are the same', async t => {
  const { schema } = inputOf({
    type: 'object',
    anyOf: [{ properties: { x: { $ref: '#/$defs/t' } } }, { properties: { x: { $ref: '#t' } } }],
    $defs: { t: { $anchor: 't', type: 'string' } }
  })
  t.strictSame(schema.properties, { x: { $ref: '#/$defs/t' } })
})

t.test('names with half of a surrogate pair are left out, and what they name may be anything', async t => {
  const half = '\ud800'
  const { schema, changes } = inputOf({
    type: 'object',
    properties: {
      [half]: { type: 'string' },
      a: { $ref: `#/$defs/${half}` },
      b: {
        patternProperties: { [half]: {} },
        dependentSchemas: { [half]: false },
        [`x-${half}`]: 1,
        'x-b': { [half]: 1 }
      },
      c: { $ref: `#/properties/${half}` }
    },
    required: [half, 'a'],
    additionalProperties: false,
    $defs: { [half]: { type: 'number' } }
  })
  t.strictSame(schema, {
    type: 'object',
    properties: { a: { $ref: '#/$defs/part1' }, b: { dependentSchemas: {} }, c: { $ref: '#/$defs/part2' } },
    required: ['a'],
    $defs: { part1: { type: 'number' }, part2: { type: 'string' } }
  })
  t.ok(changes.includes('/inputSchema/properties/?: dropped, because its name is no text'))
})

t.test('an entry whose repair fails is left out alone', async t => {
  const inputSchema = { type: 'object', get properties (): Json { throw new Error('no') } }
  t.equal(repairEntry('tools', { name: 'a', inputSchema }, 'safe'), 'it cannot be put into a form that clients take')
})
